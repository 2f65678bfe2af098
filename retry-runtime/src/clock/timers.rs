//! The clock and the timers of tokio. In a browser, `browser.rs` takes the place of this file.

#[cfg(feature = "http-1")]
use std::time::SystemTime;

pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

/// A wait of zero. It does not sleep, because tokio's shortest sleep is 1 ms.
pub(crate) use tokio::task::yield_now as turn;

/// The date and time of this machine.
#[cfg(feature = "http-1")]
pub(crate) fn date() -> SystemTime {
    SystemTime::now()
}
