//! Retries for Rust functions, in one attribute.
//!
//! ```
//! use std::io;
//! use tokio::net::TcpStream;
//!
//! #[reattempt::retry(
//!     attempts = 3,
//!     timeout = "1.5s",
//!     jitter = "full",
//!     on = "io::Error",
//!     deadline = "5s"
//! )]
//! async fn connect(address: &str) -> io::Result<TcpStream> {
//!     TcpStream::connect(address).await
//! }
//! ```
//!
//! Each attempt has a timeout, and the whole call a deadline. Waits use exponential backoff with full jitter. Dropping the future stops
//! the attempt or the wait at once. All calls of the function share a retry budget for outages. When it is empty, most failed calls are not
//! retried, and logs and metrics have the outcome `budget`: [Why did my call fail after one attempt?](guide::budgets)
//!
//! # Ways in
//!
//! | retry | write |
//! |---|---|
//! | [all requests](guide::layers) of a client | `ClientBuilder::new(client).with(RetryLayer::new(POLICY)).build()` |
//! | [one request](guide::clients) | `client.get(url).send_with(&POLICY).await?` |
//! | [a closure](guide::closures) | `run!(attempts = 3, async \|\| client.get(url).send_checked().await).await?` |
//! | [a function](macro@retry) | `#[retry(attempts = 3)]` |
//! | errors of your own | [`#[derive(Retryable)]`](macro@Retryable) |
//!
//! # Questions
//!
//! - [Which policy for which program?](guide::programs)
//! - [How do I add retries to an application?](guide::start)
//! - [Which errors are retried?](guide::retried)
//! - [Which numbers do I choose?](guide::numbers)
//! - [How do I retry a payment?](guide::idempotency)
//! - [How do I stop calls at shutdown?](guide::cancelling)
//! - [How do I test code that retries?](guide::testing)
//!
//! The [guide] has all of them.
//!
//! # Policies
//!
//! | policy | for |
//! |---|---|
//! | [`FAST_IO`] | a database or a service nearby |
//! | [`SLOW_IO`] | a service that takes seconds |
//! | [`BATCH`] | work that shall wait and not fail; give it a deadline |
//! | [`FILES`] | files that another process holds for a moment |
//! | [`NO_RETRY`] | one attempt |
//!
//! # Cargo features
//!
//! Each client has a feature, which brings the verdicts of its errors and a module. Its name has the version
//! of the client: `reqwest-0_13` has the module `reqwest_0_13`. A later version will be a feature of its own, beside it, and the second minor version
//! of this crate after that one drops the feature for the older version.
//!
//! | feature | version | gives |
//! |---|---|---|
//! | `macros` | – | `#[retry]` and `#[derive(Retryable)]`; on by default. Without it, a program that uses only [`Policy::run`] or layers builds neither `syn` nor the macros: [what it costs](https://github.com/reattempt/reattempt/blob/main/docs/PERFORMANCE.md#what-it-adds-to-a-program) |
//! | `metrics` | `metrics` 0.24 | counters, histograms and budget levels: [seeing](guide::seeing#count-calls) |
//! | `testing` | – | test scopes without waits, for dev-dependencies: [testing](guide::testing) |
//! | `serde` | `serde` 1 | presets and policies in the configuration of your service: [configuring](guide::configuring) |
//! | `deadpool-0_13` | `deadpool` 0.13 | the error of a pool without a free connection is retried |
//! | `h2-0_4` | `h2` 0.4 | errors of HTTP/2 |
//! | `http-1` | `http` 1 | statuses, `Retry-After`, headers with the attempt and the time left |
//! | `hyper-1` | `hyper` 1 | `hyper` and the client of `hyper-util`; brings `h2-0_4` and `http-1` |
//! | `redis-1` | `redis` 1 | errors of Redis and its clusters; there is none for 0.32, where the error of a pipeline is that of one command, so commands before it may have run |
//! | `reqwest-0_13` | `reqwest` 0.13 | errors, statuses with `Retry-After`, headers of the attempt; brings `hyper-1` |
//! | `reqwest-0_12` | `reqwest` 0.12 | the same; brings `hyper-1` |
//! | `reqwest-middleware-0_5` | `reqwest-middleware` 0.5 | retries for all requests of a client; brings `reqwest-0_13` |
//! | `reqwest-middleware-0_4` | `reqwest-middleware` 0.4 | the same; brings `reqwest-0_12` |
//! | `sea-orm-2` | `sea-orm` 2 | errors of `sea-orm`, a `commit` that separates its failures; brings `sqlx-0_9`; Rust 1.94 |
//! | `sea-orm-1` | `sea-orm` 1 | the same; brings `sqlx-0_8` |
//! | `sqlx-0_9` | `sqlx` 0.9 | SQLSTATEs, numbers of MySQL and SQLite, the same `commit`; Rust 1.94 |
//! | `sqlx-0_8` | `sqlx` 0.8 | the same, with any Rust |
//! | `tokio-postgres-0_7` | `tokio-postgres` 0.7 | SQLSTATEs, lost connections, the same `commit` |
//! | `tonic-0_14` | `tonic` 0.14 | codes, `RetryInfo` and pushback, metadata of the attempt; brings `hyper-1` |
//! | `tonic-0_13` | `tonic` 0.13 | the same; brings `hyper-1` |
//! | `tower-0_5` | `tower` 0.5 | a layer that [retries the requests of a client](https://docs.rs/reattempt/latest/reattempt/tower_0_5/), errors of its layers, and one for servers that keeps the deadline of a request: [deadlines](guide::deadlines#keep-the-deadline-of-a-request); brings `http-1` |
//!
//! For a client without a feature, [`codes`] has the verdicts of statuses, SQLSTATEs and other codes.
//! [`docs/CLASSIFICATION.md`] has the verdict of each error.
//!
//! A feature also lets an error of its client be recognised inside other errors, such as an `io::Error`, and so changes whether
//! that is retried. Cargo turns a feature on for all crates of a program.
//!
//! Async functions need tokio, or [a browser](guide::promises#in-a-browser). The crate needs Rust 1.85. A client may
//! bring crates that need a newer one: `resolver = "3"` in your `Cargo.toml`, the default of edition 2024, makes cargo choose
//! versions that your Rust can build.
//!
//! [`docs/CLASSIFICATION.md`]: https://github.com/reattempt/reattempt/blob/main/docs/CLASSIFICATION.md

// docs.rs sets it: each module then says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod guide;

#[cfg(feature = "macros")]
#[doc = include_str!("retryable.md")]
pub use reattempt_macros::Retryable;
#[cfg(feature = "macros")]
#[doc = include_str!("retry.md")]
pub use reattempt_macros::retry;
#[cfg(feature = "macros")]
#[doc = include_str!("run.md")]
pub use reattempt_macros::run;
pub use reattempt_runtime::{
    Attempt, BATCH, Backoff, Budget, Budgets, Error, FAST_IO, FILES, IdempotencyKey, Jitter,
    NO_RETRY, Nested, Outcome, Policy, Preset, PreviousFailure, Report, RetryEvent, Retryable, Run,
    SLOW_IO, Stopped, Verdict, WithoutLimits, is_enabled, propagate, set_enabled, set_listener,
    with_report,
};

pub use reattempt_runtime::{bounds, codes, deadline, types};

#[doc(hidden)]
pub use reattempt_runtime::private as __private;

#[cfg(all(rust_analyzer, feature = "macros"))]
reattempt_macros::editor!();

#[cfg(feature = "testing")]
pub use reattempt_runtime::testing;
#[cfg(feature = "serde")]
pub use reattempt_runtime::{Settings, SettingsError, configure, parse_duration};

#[cfg(feature = "deadpool-0_13")]
pub use reattempt_runtime::adapters::deadpool as deadpool_0_13;
#[cfg(feature = "h2-0_4")]
pub use reattempt_runtime::adapters::h2 as h2_0_4;
#[cfg(feature = "http-1")]
pub use reattempt_runtime::adapters::http as http_1;
#[cfg(feature = "hyper-1")]
pub use reattempt_runtime::adapters::hyper as hyper_1;
#[cfg(feature = "redis-1")]
pub use reattempt_runtime::adapters::redis as redis_1;
#[cfg(feature = "sea-orm-2")]
pub use reattempt_runtime::adapters::sea_orm as sea_orm_2;
#[cfg(feature = "sea-orm-1")]
pub use reattempt_runtime::adapters::sea_orm_1;
#[cfg(feature = "sqlx-0_9")]
pub use reattempt_runtime::adapters::sqlx as sqlx_0_9;
#[cfg(feature = "sqlx-0_8")]
pub use reattempt_runtime::adapters::sqlx_0_8;
#[cfg(feature = "tokio-postgres-0_7")]
pub use reattempt_runtime::adapters::tokio_postgres as tokio_postgres_0_7;
#[cfg(feature = "tonic-0_14")]
pub use reattempt_runtime::adapters::tonic as tonic_0_14;
#[cfg(feature = "tonic-0_13")]
pub use reattempt_runtime::adapters::tonic_0_13;
#[cfg(feature = "reqwest-0_13")]
pub use reattempt_runtime::reqwest as reqwest_0_13;
#[cfg(feature = "reqwest-0_12")]
pub use reattempt_runtime::reqwest_0_12;
#[cfg(feature = "reqwest-middleware-0_5")]
pub use reattempt_runtime::reqwest_middleware as reqwest_middleware_0_5;
#[cfg(feature = "reqwest-middleware-0_4")]
pub use reattempt_runtime::reqwest_middleware_0_4;
#[cfg(feature = "tower-0_5")]
pub use reattempt_runtime::tower as tower_0_5;

/// Holds the code of the page on libraries to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/LIBRARIES.md")]
struct Libraries;
