#![doc = include_str!("../links/all.md")]
#![doc = include_str!("README.md")]

pub mod words;

// A page is read here and on GitHub. Its links have names. The folder `links` says where they lead here, and the end of
// the page says where they lead on GitHub. Of two definitions of a name, the first one counts.

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("programs.md")]
pub mod programs {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("start.md")]
pub mod start {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("numbers.md")]
pub mod numbers {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("retried.md")]
pub mod retried {}

// Its examples need clients, so the package `integrations` runs them.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("clients.md"))]
pub mod clients {}

// The same.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("databases.md"))]
pub mod databases {}

// The same.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("layers.md"))]
pub mod layers {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("budgets.md")]
pub mod budgets {}

// The same: it has a server.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("deadlines.md"))]
pub mod deadlines {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("cancelling.md")]
pub mod cancelling {}

// The same.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("idempotency.md"))]
pub mod idempotency {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("waiting.md")]
pub mod waiting {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("queues.md")]
pub mod queues {}

// The same.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("messages.md"))]
pub mod messages {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("nesting.md")]
pub mod nesting {}

// The same.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("progress.md"))]
pub mod progress {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("connections.md")]
pub mod connections {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("hedging.md")]
pub mod hedging {}

// Its examples need crates of metrics, so the package `strangers` runs them.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(not(doctest), doc = include_str!("seeing.md"))]
pub mod seeing {}

// Without its feature, a page is a line, so that links to it hold. The package `integrations` runs the examples of this one.
#[doc = include_str!("../links/all.md")]
#[cfg_attr(feature = "testing", doc = include_str!("../links/testing.md"))]
#[cfg_attr(all(feature = "testing", not(doctest)), doc = include_str!("testing.md"))]
#[cfg_attr(
    not(feature = "testing"),
    doc = "How do I test code that retries? This page needs the feature `testing`."
)]
pub mod testing {}

#[doc = include_str!("../links/all.md")]
#[cfg_attr(feature = "serde", doc = include_str!("../links/serde.md"))]
#[cfg_attr(feature = "serde", doc = include_str!("configuring.md"))]
#[cfg_attr(
    not(feature = "serde"),
    doc = "How do I change retries without a release? This page needs the feature `serde`."
)]
pub mod configuring {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("closures.md")]
pub mod closures {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("when_not.md")]
pub mod when_not {}

#[doc = include_str!("../links/all.md")]
#[doc = include_str!("promises.md")]
pub mod promises {}
