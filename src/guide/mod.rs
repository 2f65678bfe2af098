//! The guide: one page for each question.
//!
//! - [Why did my call fail after one attempt?](budgets) – what the retry budget does, and how to change it.
//! - [What did my call do?](seeing) – reports, hooks, events, spans, and the switch that turns retries off.
//! - [How do I retry a payment?](idempotency) – idempotency keys, on the client and on the server.
#![cfg_attr(
    feature = "config",
    doc = "- [How do I change retries without a release?](configuring) – presets, files, variables, and reloads."
)]
#![cfg_attr(
    not(feature = "config"),
    doc = "- How do I change retries without a release? This page is there with the feature `config`."
)]
#![cfg_attr(
    feature = "testing",
    doc = "- [How do I test code that retries?](testing) – scopes without waits, tokio's paused clock, scripted operations."
)]
#![cfg_attr(
    not(feature = "testing"),
    doc = "- How do I test code that retries? This page is there with the feature `testing`."
)]
//!
//! [`retry`](macro@crate::retry) is the reference of the attribute.

#[doc = include_str!("budgets.md")]
pub mod budgets {}

// Its examples need the feature.
#[cfg(feature = "config")]
#[doc = include_str!("configuring.md")]
pub mod configuring {}

#[doc = include_str!("idempotency.md")]
pub mod idempotency {}

#[doc = include_str!("seeing.md")]
pub mod seeing {}

// Its examples need the feature.
#[cfg(feature = "testing")]
#[doc = include_str!("testing.md")]
pub mod testing {}
