//! Retries for async functions in one attribute.

#[doc = include_str!("retryable.md")]
pub use retry_macros::Retryable;
pub use retry_macros::retry;
pub use retry_runtime::{
    Backoff, Error, FAST_IO, Factor, Jitter, NO_RETRY, Outcome, Policy, Retryable, SLOW_IO,
    Stopped, Verdict,
};

#[doc(hidden)]
pub use retry_runtime::private as __private;
