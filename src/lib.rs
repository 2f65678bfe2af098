//! Retries for async functions in one attribute.
//!
//! ```
//! use std::io;
//! use std::net::SocketAddr;
//!
//! use reattempt::retry;
//! # use tokio::io::AsyncReadExt;
//! # use tokio::net::TcpStream;
//!
//! #[retry(attempts = 4, timeout = "1.5s", jitter = "full", on = "io::Error", deadline = "5s")]
//! async fn fetch(addr: SocketAddr) -> io::Result<String> {
//!     // Any body: `?`, `return`, `select!`, borrowed and owned arguments.
//!     let mut reply = String::new();
//!     TcpStream::connect(addr).await?.read_to_string(&mut reply).await?;
//!     Ok(reply)
//! }
//! ```
//!
//! - [`retry`](macro@retry) is the reference page of the attribute: every key, the order of decisions,
//!   the rules, what it expands to.
//! - [`Retryable`] is how an error says whether it is worth another attempt.
//! - [`codes`] has the verdicts of HTTP statuses, SQLSTATEs and gRPC codes, for clients without an adapter.
//! - [`Policy`] is the settings under a name; [`FAST_IO`], [`SLOW_IO`] and [`NO_RETRY`] are three.
//! - [`Stopped`] is what a call that was cut returns, inside the caller's own error type.
//! - [`Budget`] bounds the load that retries add. Each function has one by default. When it is empty, calls end after
//!   one attempt and the log says so: [Why did my call fail after one attempt?](guide::budgets)
//! - A function that is not async takes the key [`blocking`](macro@retry#functions-that-are-not-async).
//! - [`observe`](observe()) tells what a call did, [`set_enabled`] turns retries off, [`Policy::run`] retries a closure.
//! - The [guide] answers one question on each page.

// docs.rs sets it: each module then says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod guide;

#[doc = include_str!("retryable.md")]
pub use retry_macros::Retryable;
#[doc = include_str!("retry.md")]
pub use retry_macros::retry;
pub use retry_runtime::{
    Attempt, Backoff, Budget, Budgets, Error, FAST_IO, Factor, IdempotencyKey, Jitter, NO_RETRY,
    Nested, Observe, Outcome, Policy, Preset, Previous, Propagate, Report, RetryEvent, Retryable,
    Run, SLOW_IO, Schedule, Stopped, Verdict, codes, deadline, is_enabled, observe, propagate, run,
    set_enabled,
};

#[doc(hidden)]
pub use retry_runtime::private as __private;

#[cfg(feature = "config")]
pub use retry_runtime::config;
#[cfg(feature = "testing")]
pub use retry_runtime::testing;

#[cfg(feature = "deadpool")]
pub use retry_runtime::adapters::deadpool;
#[cfg(feature = "h2")]
pub use retry_runtime::adapters::h2;
#[cfg(feature = "http")]
pub use retry_runtime::adapters::http;
#[cfg(feature = "hyper")]
pub use retry_runtime::adapters::hyper;
#[cfg(feature = "redis")]
pub use retry_runtime::adapters::redis;
#[cfg(feature = "reqwest")]
pub use retry_runtime::adapters::reqwest;
#[cfg(feature = "reqwest-0_12")]
pub use retry_runtime::adapters::reqwest_0_12;
#[cfg(feature = "sea-orm")]
pub use retry_runtime::adapters::sea_orm;
#[cfg(feature = "sqlx")]
pub use retry_runtime::adapters::sqlx;
#[cfg(feature = "sqlx-0_8")]
pub use retry_runtime::adapters::sqlx_0_8;
#[cfg(feature = "tokio-postgres")]
pub use retry_runtime::adapters::tokio_postgres;
#[cfg(feature = "tonic")]
pub use retry_runtime::adapters::tonic;

/// Holds the code of the front page to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Holds the code of the page on configuration to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/CONFIGURATION.md")]
struct Configuration;
