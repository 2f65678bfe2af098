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
//! - [`Policy`] is the settings under a name; [`FAST_IO`], [`SLOW_IO`] and [`NO_RETRY`] are three.
//! - [`Stopped`] is what a call that was cut returns, inside the caller's own error type.

#[doc = include_str!("retry.md")]
pub use retry_macros::retry;
pub use retry_runtime::{
    Backoff, Error, FAST_IO, Factor, Jitter, NO_RETRY, Outcome, Policy, RetryEvent, Retryable,
    SLOW_IO, Stopped, Verdict,
};

#[doc(hidden)]
pub use retry_runtime::private as __private;
