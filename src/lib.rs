//! Retries for async functions in one attribute.

pub use retry_macros::retry;
pub use retry_runtime::{
    Backoff, Error, FAST_IO, Factor, Jitter, NO_RETRY, Outcome, Policy, RetryEvent, Retryable,
    SLOW_IO, Stopped, Verdict,
};

#[doc(hidden)]
pub use retry_runtime::private as __private;
