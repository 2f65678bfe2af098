//! Functions that name the facade differently, and an `async unsafe fn`.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

// As a dependency is that has another name in `Cargo.toml`.
extern crate reattempt as again;

use again::retry;

/// Fails, and counts.
///
/// # Errors
///
/// Always.
#[retry(crate = "::again", timeout = "1s", on = "io::Error")]
pub async fn under_another_name(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

/// Fails, and counts.
///
/// # Safety
///
/// There is nothing to uphold.
///
/// # Errors
///
/// Always.
#[retry(crate = again)]
pub async unsafe fn not_safe(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_facade_may_have_another_name() {
        let calls = AtomicU32::new(0);
        under_another_name(&calls).await.unwrap_err();
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unsafe_function_is_retried() {
        let calls = AtomicU32::new(0);
        // SAFETY: the function has no requirements.
        unsafe { not_safe(&calls) }.await.unwrap_err();
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }
}
