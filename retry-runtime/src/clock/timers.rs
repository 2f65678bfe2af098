//! The clock and the timers of tokio. In a browser, `browser.rs` takes the place of this file.

#[cfg(feature = "http")]
use std::time::SystemTime;

pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

/// Returns the timer of a wait of zero: none, because tokio lets other tasks run without one.
#[inline]
pub(crate) const fn turn() -> Option<Sleep> {
    None
}

/// The date and time of this machine.
#[cfg(feature = "http")]
pub(crate) fn date() -> SystemTime {
    SystemTime::now()
}
