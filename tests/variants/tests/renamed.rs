//! Functions that name the facade differently, and unsafe functions.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use again::retry;

#[retry(crate = "::again", timeout = "1s", on = "io::Error")]
async fn under_another_name(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(crate = again)]
async unsafe fn not_safe(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

#[rustfmt::skip]
#[retry(crate = again, blocking)]
unsafe fn blocks(text: &[u8]) -> io::Result<&str> { Ok(unsafe { std::str::from_utf8_unchecked(text) }) }

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
    // SAFETY: the text is UTF-8.
    assert_eq!(unsafe { blocks(b"text") }.unwrap(), "text");
}
