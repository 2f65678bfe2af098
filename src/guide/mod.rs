//! The guide: one page for each question.
//!
//! The reference of the attribute is [`retry`](macro@crate::retry): every key, and the order of decisions. [`words`] says where each
//! word is explained.
//!
//! # Questions
//!
//! **Begin**
//!
//! - [Which policy for which program?](programs): a request, a batch, a worker, a connection, a start, a device, a library
//! - [How do I add retries to an application?](start): the lines for `Cargo.toml`, a first function, and what you see when it fails
//! - [Which errors are retried?](retried): verdicts, rules, your own errors
//! - [Which numbers do I choose?](numbers): attempts, timeout, deadline and delays, from a latency and a deadline
//! - [How do I use my HTTP client?](clients): requests with `reqwest`, clients without an adapter, several servers
//! - [How do I use my database?](databases): transactions, reads, a start, a failover
//! - [How do I retry all calls of a client?](layers): a middleware for `reqwest`, a layer for `hyper`, `tonic` and your own services
//! - [When should I not retry?](when_not): what to do instead, fallbacks, concurrency, and what this crate does not do
//!
//! **Limits and shutdown**
//!
//! - [How long may a call take?](deadlines): limits, `Stopped`, the deadline of a request
//! - [How do I stop calls at shutdown?](cancelling): SIGTERM, `cancel`, what dropping does, and how to turn retries off
//!
//! **A call that failed**
//!
//! - [Why did my call fail after one attempt?](budgets): the outcomes that end a call early, and the retry budget
//! - [What did my call do?](seeing): reports, hooks, events, spans, metrics
//! - What do I do when a service that I call is down? Usually nothing: the budget stops most retries. [`docs/OPERATING.md`] shows where to
//!   look, with alerts and a dashboard
//! - [What do I do if the service is down longer than my caller waits?](queues): a worker that never gives up, and a queue
//! - [How do I retry the work of a message?](messages): Kafka, SQS, NATS JetStream, RabbitMQ, Redis Streams
//!
//! **Special cases**
//!
//! - [How do I retry a payment?](idempotency): `idempotent`, and idempotency keys on both sides
//! - [How do I retry an upload, a download or a stream?](progress): large bodies, files, streams, and calls that resume
//! - [How do I wait until something is ready?](waiting): `until`, for a function and for a closure
//! - [What happens when a retried function calls another?](nesting): how retries add up, the current attempt, spawned tasks
//! - [How do I reduce tail latency?](hedging): a second attempt beside a slow one
//! - [How do I retry a closure, or a function that is not async?](closures): `blocking`, `Policy::run`, any error type
//!
//! **Tests, configuration, promises**
//!
//! - [How do I test code that retries?](testing): scopes without waits, a whole service, the paused clock
//! - [How do I change retries without a release?](configuring): presets, settings, reloads
//! - [What does this crate promise?](promises): twelve promises with their tests, costs, versions, browsers
//!
//! For the authors of libraries: [`docs/LIBRARIES.md`]. Coming from another crate: [`docs/MIGRATING.md`]. Editors and debuggers:
//! [`docs/EDITOR.md`].
//!
//! # Programs to copy
//!
//! Each starts its servers itself. Run one in a checkout of the [repository]: `cargo run --example quickstart`. Those
//! with a client are in the package `integrations`: `cargo run -p integrations --example http_client`.
//!
//! | example | package | shows |
//! |---|---|---|
//! | `quickstart` | – | a server that refuses, stalls and fails before it answers |
//! | `schedule` | `simulation` | the delays, the worst case and the load of a policy |
//! | `storm` | `simulation` | what retries do to a server, with and without a budget |
//! | `hedged_reads` | `simulation` | three replicas, one of them slow in turns, with and without `hedge` |
//! | `soak` | `simulation` | ten thousand calls at a time for a minute: memory, tasks and tokens stay level |
//! | `downloads` | `integrations` | `reqwest`: 200 downloads that go on after faults, with a report of each call and the budget over time |
//! | `http_client` | `integrations` | `reqwest`: resets, stalls, a 503 that names a delay |
//! | `http2_post` | `integrations` | `reqwest` over HTTP/2: a stream that the server refused is retried, even if it is a POST |
//! | `hyper_client` | `integrations` | `hyper`, with an error enum that forwards verdicts |
//! | `grpc_client` | `integrations` | `tonic`: codes, and the delay of `RetryInfo` |
//! | `gateway` | `integrations` | `axum` and `tower`: two upstreams that are killed and come back, with a layer in front |
//! | `postgres_transfer`, `sqlx_transfer` | `integrations` | a transaction that is retried as a whole |
//! | `sea_orm_booking` | `integrations` | a serializable transaction with entities, and a unique violation |
//! | `deadpool_orders` | `integrations` | a pool without a free connection, and without a server |
//! | `redis_cache` | `integrations` | a server that is killed and comes back |
//! | `blocking_http` | `integrations` | `ureq`, in a program without async |
//! | `deadline_service` | `integrations` | `axum`: the deadline of a request, kept and passed on |
//! | `payment_service` | `integrations` | an idempotency key, on the client and on the server |
//! | `http_methods` | `integrations` | GET, PUT and DELETE are retried, POST only with a key |
//! | `library` | `cargo test -p weather` | a library that retries, without a type of this crate in its API |
//! | `middleware_client` | `integrations` | `reqwest-middleware`: all requests of a client are retried |
//! | `consumer` | `cargo run -p consumer` | messages of NATS JetStream: the database stops, consumers are killed, and each message is booked once |
//! | `orders` | `cargo run -p orders` | 200 orders, `apalis` and PostgreSQL: workers are killed, and each order is charged once |
//! | `service` | `cargo run -p service` | `axum`, PostgreSQL and Redis, with metrics and a page that shows retries |
//!
//! [repository]: https://github.com/reattempt/reattempt
//! [`docs/EDITOR.md`]: https://github.com/reattempt/reattempt/blob/main/docs/EDITOR.md
//! [`docs/LIBRARIES.md`]: https://github.com/reattempt/reattempt/blob/main/docs/LIBRARIES.md
//! [`docs/MIGRATING.md`]: https://github.com/reattempt/reattempt/blob/main/docs/MIGRATING.md
//! [`docs/OPERATING.md`]: https://github.com/reattempt/reattempt/blob/main/docs/OPERATING.md

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
