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
//! #[retry(attempts = 4, timeout = "1.5s", jitter = "full", on = "io::Error", deadline = "5s")]
//! async fn fetch(addr: SocketAddr) -> io::Result<String> {
//!     // Any body: `?`, `return`, `select!`, borrowed and owned arguments.
//!     let mut reply = String::new();
//!     TcpStream::connect(addr).await?.read_to_string(&mut reply).await?;
//!     Ok(reply)
//! }
//! ```
//!
//! The function keeps its name, signature, docs and attributes. Each attempt has a timeout, the whole call a deadline.
//! Waits use exponential backoff with full jitter. Only retryable errors are retried. Dropping the future stops everything
//! at once.
//!
//! The function also has a retry budget, as every function does by default. It bounds the load that retries add while a
//! service is down. If too many calls failed just before, the budget refuses the retry, and the call ends with its last
//! error and the outcome `budget`: [Why did my call fail after one attempt?](guide::budgets)
//!
//! # Find your way
//!
//! | question | on the page |
//! |---|---|
//! | [How do I add retries to an application?](guide::start) | the lines for `Cargo.toml`, a first function, and what you see when it fails |
//! | [Which numbers do I choose?](guide::numbers) | attempts, timeout, deadline and delays, from a latency and a deadline |
//! | [Which errors are retried?](guide::retried) | verdicts, rules, errors of your own |
//! | [How do I use my HTTP or database client?](guide::clients) | requests with `reqwest`, transactions, other clients |
//! | [Why did my call fail after one attempt?](guide::budgets) | the outcomes that end a call early, and the retry budget |
//! | [How long may a call take?](guide::deadlines) | limits, `Stopped`, the deadline of a request |
//! | [How do I stop calls at shutdown?](guide::cancelling) | `cancel`, and what dropping does |
//! | [How do I retry a payment?](guide::idempotency) | `idempotent`, and idempotency keys on both sides |
//! | [How do I wait until something is ready?](guide::waiting) | `until`, for a function and for a closure |
//! | [How do I try another server?](guide::servers) | the number of the attempt, what is counted, connection pools |
//! | [How do I limit calls at once?](guide::concurrency) | a semaphore, in each attempt or around the call |
//! | [What if all attempts fail?](guide::failing) | a fallback, and why there is no circuit breaker |
//! | [What do I do if the service is down longer than my caller waits?](guide::queues) | a queue that outlives the process, and when an engine for workflows is better |
//! | [What happens when a retried function calls another?](guide::nesting) | how retries add, refusals, the current attempt, spawned tasks |
//! | [How do I resume where an attempt ended?](guide::progress) | attempts that get on, downloads and watches |
//! | [How do I cut slow answers?](guide::hedging) | a second attempt beside a slow one: when it helps, what it costs, what can go wrong |
//! | [What did my call do?](guide::seeing) | reports, hooks, events, spans, metrics |
//! | [How do I test code that retries?](guide::testing) | scopes without waits, scripted operations, the paused clock |
//! | [How do I change retries without a release?](guide::configuring) | presets, files, variables, reloads |
//! | [What do I do when a service that I call is down?](guide::operating) | where to look, and how to turn retries off |
//! | [How do I retry a function that is not async?](guide::blocking) | `blocking`, and how to call it from async code |
//! | [How do I retry a closure?](guide::closures) | `Policy::run`, `run_blocking`, with any error type |
//! | [How do I use it inside a library?](guide::libraries) | a private error, settings without types of this crate, two versions |
//! | [How do I come from another crate?](guide::migrating) | the words of other crates, and a section for each |
//! | [When should I not retry?](guide::when_not) | what to do instead, and what this crate does not do |
//! | [What does this crate promise?](guide::promises) | eleven promises with their tests, costs, versions; [`docs/RELIABILITY.md`] has each test by name |
//!
//! [`retry`](macro@retry) is the reference of the attribute: every key, and the order of decisions. [`Retryable`] is that of the
//! derive. The [guide] also lists programs to copy.
//!
//! | words | where they are explained |
//! |---|---|
//! | [keys](macro@retry#keys) | [`attempts`](guide::numbers#deadline-and-attempts), [`timeout`](guide::numbers#timeout), [`deadline`](guide::deadlines), [`backoff`](macro@retry#delays), [`base`](guide::numbers#base-factor-and-the-longest-delay), [`throttled_base`](macro@retry#keys), [`min_delay`](macro@retry#delays), [`max_delay`](guide::numbers#base-factor-and-the-longest-delay), [`factor`](guide::numbers#base-factor-and-the-longest-delay), [`jitter`](guide::numbers#jitter), [`delays`](macro@retry#delays), [`max_retry_after`](macro@retry#delays), [`on`](macro@retry#rules), [`matches`](guide::retried#decide-in-the-attribute), [`when`](guide::retried#decide-in-the-attribute), [`unless`](guide::retried#decide-in-the-attribute), [`not_on`](macro@retry#rules), [`when_ok`](macro@retry#what-a-call-returns), [`until`](guide::waiting), [`policy`](macro@retry#policies), [`budget`](guide::budgets#which-budget), [`hedge`](guide::hedging), [`idempotent`](guide::idempotency), [`nested`](guide::nesting), [`cancel`](guide::cancelling), [`clone`](macro@retry#arguments), [`on_retry`](guide::seeing#listen-to-a-function), [`before_retry`](macro@retry#hooks), [`on_end`](guide::seeing#listen-to-a-function), [`blocking`](guide::blocking), [`sensitive`](guide::seeing#read-the-log), [`name`](macro@retry#names), [`crate`](macro@retry#keys) |
//! | [outcomes](Outcome) | [`success`](Outcome::Success), [`success_after_retry`](Outcome::SuccessAfterRetry), [`not_retryable`](guide::retried), [`attempts_exhausted`](guide::failing), [`timeout`](guide::numbers#timeout), [`deadline`](guide::deadlines), [`budget`](guide::budgets#what-a-budget-is), [`hint_too_long`](macro@retry#delays), [`paused`](guide::budgets#one-pause-for-all), [`disabled`](guide::operating#turn-retries-off), [`cancelled`](guide::cancelling), [`dropped`](macro@retry#cancel-safety) |
//! | [verdicts](Verdict) | [`transient`](Verdict::Transient), [`throttled`](Verdict::Throttled), [`refused`](Verdict::Refused), [`conflict`](guide::clients#retry-a-transaction), [`permanent`](Verdict::Permanent), [`unknown`](guide::retried) |
//! | errors and events | [`deadline of … reached`](guide::deadlines), [`timed out after`](guide::deadlines#read-what-stopped-a-call), [`not ready`](guide::waiting), [`the last attempt failed`](Error), [`the call was stopped`](Error), [`the commit may have taken effect`](guide::clients#retry-a-transaction), [`the retry budget of … is empty`](guide::budgets), [`no attempts left`](guide::nesting), [`a wait between attempts blocks a thread`](guide::blocking#from-async-code), [`cannot say that a call was stopped`](guide::deadlines#read-what-stopped-a-call), [`does not say which of its errors are worth another attempt`](guide::retried#who-decides), [`is used up by the first attempt`](macro@retry#arguments), [`the result borrows from`](macro@retry#arguments); [`docs/ERRORS.md`] has more compile errors |
//! | other words | [anyhow](guide::retried#who-decides), [circuit breaker](guide::failing#is-there-a-circuit-breaker), [configuration file](guide::configuring), [connection pool](guide::servers#one-name-for-several-servers), [download that resumes](guide::progress), [backup request, replicas](guide::hedging), [fallback](guide::failing#fall-back-to-something-else), [generic helper](guide::closures#a-helper-of-your-own), [headers](guide::idempotency#send-a-key), [hint, `Retry-After`](macro@retry#delays), [idempotency key](guide::idempotency#send-a-key), [a budget for each host](Budgets), [kill switch](guide::operating#turn-retries-off), [load balancing, failover](guide::servers), [metrics](guide::seeing#count-calls), [OpenTelemetry, spans](guide::seeing#trace-the-attempts), [polling](guide::waiting), [preset](guide::configuring#name-your-policies), [queue, job, worker](guide::queues), [report](guide::seeing#ask-for-a-report), [semaphore, bulkhead](guide::concurrency), [shutdown](guide::cancelling), [spawned tasks](guide::nesting#spawned-tasks), [transaction](guide::clients#retry-a-transaction), [worst case](Policy::worst_case) |
//!
//! # Cargo features
//!
//! A client has a feature of its name, with the verdicts of its errors and a module of that name. The version in the name
//! of a feature is that of the client; without one it is the newest. A `-` in the name of a feature is a `_` in that of
//! its module: `reqwest-0_12` has the module `reqwest_0_12`.
//!
//! | feature | default | version | gives |
//! |---|---|---|---|
//! | `tracing` | yes | `tracing` 0.1 | events of each call, and spans of calls and attempts: [seeing](guide::seeing#read-the-log) |
//! | `metrics` | no | `metrics` 0.24 | counters, histograms and budget levels: [seeing](guide::seeing#count-calls) |
//! | `testing` | no | – | test scopes without waits, for dev-dependencies: [testing](guide::testing) |
//! | `config` | no | – | presets from TOML files and variables: [configuring](guide::configuring) |
//! | `serde` | no | `serde` 1 | a [`Policy`] in your own configuration |
//! | `deadpool` | no | `deadpool` 0.13 | the error of a pool without a free connection is retried |
//! | `h2` | no | `h2` 0.4 | errors of HTTP/2 |
//! | `http` | no | `http` 1 | statuses, `Retry-After`, headers that tell the server of the attempt |
//! | `hyper` | no | `hyper` 1 | `hyper` and the client of `hyper-util`; brings `h2` and `http` |
//! | `redis` | no | `redis` 1 | errors of Redis and its clusters |
//! | `reqwest` | no | `reqwest` 0.13 | errors, statuses with `Retry-After`, headers of the attempt; brings `hyper` |
//! | `reqwest-0_12` | no | `reqwest` 0.12 | the same; brings `hyper` |
//! | `reqwest-middleware` | no | `reqwest-middleware` 0.5 | retries for all requests of a client; brings `reqwest` |
//! | `sea-orm` | no | `sea-orm` 2 | errors of `sea-orm`, a `commit` that tells its failures apart; brings `sqlx`; Rust 1.94 |
//! | `sqlx` | no | `sqlx` 0.9 | SQLSTATEs, numbers of MySQL and SQLite, the same `commit`; Rust 1.94 |
//! | `sqlx-0_8` | no | `sqlx` 0.8 | the same, with any Rust |
//! | `tokio-postgres` | no | `tokio-postgres` 0.7 | SQLSTATEs, lost connections, the same `commit` |
//! | `tonic` | no | `tonic` 0.14 | codes, `RetryInfo` and pushback, metadata of the attempt; brings `hyper` |
//! | `tower` | no | `tower-layer` 0.3 | a layer for servers that keeps the deadline of a request: [deadlines](guide::deadlines#keep-the-deadline-of-a-request); brings `http` |
//!
//! For any other client, [`codes`] has the verdicts of HTTP statuses, SQLSTATEs, gRPC codes, MySQL and SQLite.
//! [`docs/CLASSIFICATION.md`] has the verdict of each error.
//!
//! The crate needs tokio, and Rust 1.85.
//!
//! [`docs/ERRORS.md`]: https://github.com/reattempt/reattempt/blob/main/docs/ERRORS.md
//! [`docs/RELIABILITY.md`]: https://github.com/reattempt/reattempt/blob/main/docs/RELIABILITY.md
//! [`docs/CLASSIFICATION.md`]: https://github.com/reattempt/reattempt/blob/main/docs/CLASSIFICATION.md

// docs.rs sets it: each module then says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod guide;

#[doc = include_str!("retryable.md")]
pub use retry_macros::Retryable;
#[doc = include_str!("retry.md")]
pub use retry_macros::retry;
pub use retry_runtime::{
    Attempt, Backoff, Budget, Budgets, Error, FAST_IO, Factor, Hedge, IdempotencyKey, Jitter,
    NO_RETRY, Nested, Observe, Outcome, Policy, Preset, Previous, Propagate, Report, RetryEvent,
    Retryable, Run, SLOW_IO, Schedule, Stopped, Verdict, WithoutLimits, codes, deadline,
    is_enabled, observe, propagate, set_enabled,
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
#[cfg(feature = "reqwest-middleware")]
pub use retry_runtime::reqwest_middleware;

/// Holds the code of the front page to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Holds the code of the page on configuration to what compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/CONFIGURATION.md")]
struct Configuration;
