//! Retries for async functions in one attribute.

#[doc = include_str!("retryable.md")]
pub use retry_macros::Retryable;
pub use retry_runtime::{Retryable, Verdict};

#[doc(hidden)]
pub mod __private {
    pub use retry_runtime::classify::*;
}
