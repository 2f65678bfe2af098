//! Retries for Rust functions, in one attribute.
//!
//! ```
//! use std::io;
//! use std::net::SocketAddr;
//!
//! use reattempt::retry;
//! # use tokio::io::AsyncReadExt;
//! # use tokio::net::TcpStream;
//!
//! /// A client of one service.
//! struct Quotes(SocketAddr);
//!
//! impl Quotes {
//!     #[retry(attempts = 4, timeout = "1.5s", jitter = "full", on = "io::Error", deadline = "5s")]
//!     async fn fetch(&self) -> io::Result<String> {
//!         // Any body: `?`, `return`, `select!`, borrowed and owned arguments.
//!         let mut reply = String::new();
//!         TcpStream::connect(self.0).await?.read_to_string(&mut reply).await?;
//!         Ok(reply)
//!     }
//! }
//! ```
//!
//! The function keeps its name, signature, docs and attributes. Here, each attempt has a timeout, and the
//! whole call a deadline. Waits use exponential backoff with full jitter. Dropping the future stops the attempt or the wait at once.
//!
//! All calls of the function share a retry budget, which limits retries while the service fails. When it is empty, a failed call
//! is not retried, and logs and metrics have the outcome `budget`.
//! [Why did my call fail after one attempt?](guide::budgets)
//!
//! The [guide] has a page for each question. [`retry`](macro@retry) is the reference of the attribute, and [`Retryable`] that
//! of the derive.
//!
//! # Cargo features
//!
//! Each client has a feature, which brings the verdicts of its errors and a module. A feature name with a version supports that
//! version of the client; one without supports the newest. The feature `reqwest-0_12` has the module `reqwest_0_12`.
//!
//! | feature | version | gives |
//! |---|---|---|
//! | `metrics` | `metrics` 0.24 | counters, histograms and budget levels: [seeing](guide::seeing#count-calls) |
//! | `testing` | – | test scopes without waits, for dev-dependencies: [testing](guide::testing) |
//! | `serde` | `serde` 1 | presets and policies in the configuration of your service: [configuring](guide::configuring) |
//! | `deadpool` | `deadpool` 0.13 | the error of a pool without a free connection is retried |
//! | `h2` | `h2` 0.4 | errors of HTTP/2 |
//! | `http` | `http` 1 | statuses, `Retry-After`, headers with the attempt and the time left |
//! | `hyper` | `hyper` 1 | `hyper` and the client of `hyper-util`; brings `h2` and `http` |
//! | `redis` | `redis` 1 | errors of Redis and its clusters |
//! | `reqwest` | `reqwest` 0.13 | errors, statuses with `Retry-After`, headers of the attempt; brings `hyper` |
//! | `reqwest-0_12` | `reqwest` 0.12 | the same; brings `hyper` |
//! | `reqwest-middleware` | `reqwest-middleware` 0.5 | retries for all requests of a client; brings `reqwest` |
//! | `sea-orm` | `sea-orm` 2 | errors of `sea-orm`, a `commit` that separates its failures; brings `sqlx`; Rust 1.94 |
//! | `sqlx` | `sqlx` 0.9 | SQLSTATEs, numbers of MySQL and SQLite, the same `commit`; Rust 1.94 |
//! | `sqlx-0_8` | `sqlx` 0.8 | the same, with any Rust |
//! | `tokio-postgres` | `tokio-postgres` 0.7 | SQLSTATEs, lost connections, the same `commit` |
//! | `tonic` | `tonic` 0.14 | codes, `RetryInfo` and pushback, metadata of the attempt; brings `hyper` |
//! | `tower` | `tower` 0.5 | a layer that [retries the requests of a client](mod@tower), errors of its layers, and one for servers that keeps the deadline of a request: [deadlines](guide::deadlines#keep-the-deadline-of-a-request); brings `http` |
//!
//! For a client without a feature, [`codes`] has the verdicts of statuses, SQLSTATEs and other codes.
//! [`docs/CLASSIFICATION.md`] has the verdict of each error.
//!
//! Async functions need tokio, or [a browser](guide::promises#in-a-browser). The crate needs Rust 1.85. A client may
//! bring crates that need a newer one: `resolver = "3"` in your `Cargo.toml`, the default of edition 2024, makes cargo choose
//! versions that your Rust can build.
//!
//! [`docs/CLASSIFICATION.md`]: https://github.com/reattempt/reattempt/blob/main/docs/CLASSIFICATION.md

// docs.rs sets it: each module then says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod guide;

#[doc = include_str!("retryable.md")]
pub use retry_macros::Retryable;
#[doc = include_str!("retry.md")]
pub use retry_macros::retry;
pub use retry_runtime::{
    Attempt, Backoff, Budget, Budgets, Error, FAST_IO, FILES, Hedge, IdempotencyKey, Jitter,
    NO_RETRY, Nested, Observe, Outcome, Policy, Preset, Previous, Propagate, Report, RetryEvent,
    Retryable, Run, SLOW_IO, Schedule, Stopped, Verdict, WithoutLimits, codes, deadline,
    is_enabled, observe, propagate, set_enabled, set_listener,
};

#[doc(hidden)]
pub use retry_runtime::private as __private;

#[cfg(rust_analyzer)]
retry_macros::editor!();

#[cfg(feature = "testing")]
pub use retry_runtime::testing;
#[cfg(feature = "serde")]
pub use retry_runtime::{Settings, SettingsError, configure};

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
#[cfg(feature = "reqwest-middleware")]
pub use retry_runtime::reqwest_middleware;
#[cfg(feature = "tower")]
pub use retry_runtime::tower;

/// Holds the code of the page on libraries to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/LIBRARIES.md")]
struct Libraries;
