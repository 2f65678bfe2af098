#![doc = include_str!("../links/all.md")]
#![doc = include_str!("README.md")]

pub mod words;

// A page is read here and on GitHub. Its links have names. The folder `links` says where they lead here, and the end of
// the page says where they lead on GitHub. Of two definitions of a name, the first one counts.

macro_rules! pages {
    ($($when:ident $of:tt: $($page:ident)+;)+) => {$($(
        #[doc = include_str!("../links/all.md")]
        #[cfg_attr($when $of, doc = include_str!(concat!(stringify!($page), ".md")))]
        pub mod $page {}
    )+)+};
}

// The packages `integrations` and `strangers` run the examples that need a client, a server or crates of metrics.
pages! {
    all(): programs start numbers retried budgets cancelling waiting queues nesting connections hedging closures when_not promises;
    not(doctest): clients databases layers deadlines idempotency messages progress seeing;
}

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
