//! Retries for async functions in one attribute.

#[doc = include_str!("retryable.md")]
pub use retry_macros::Retryable;
pub use retry_macros::retry;
pub use retry_runtime::{
    Backoff, Error, FAST_IO, Factor, Jitter, NO_RETRY, Outcome, Policy, RetryEvent, Retryable,
    SLOW_IO, Stopped, Verdict,
};

#[doc(hidden)]
pub use retry_runtime::private as __private;

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
#[cfg(feature = "tokio-postgres")]
pub use retry_runtime::adapters::tokio_postgres;
#[cfg(feature = "tonic")]
pub use retry_runtime::adapters::tonic;
