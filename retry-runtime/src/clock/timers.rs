//! The clock and the timers of tokio. In a browser, `browser.rs` takes the place of this file.

use std::time::Duration;
#[cfg(feature = "http-1")]
use std::time::SystemTime;

pub(crate) use tokio::time::{Instant, Sleep, sleep_until};

/// The shortest wait. It does not sleep, because tokio's shortest sleep is 1 ms.
pub(crate) const SHORTEST: Duration = Duration::ZERO;

/// The date and time of this machine.
#[cfg(feature = "http-1")]
pub(crate) fn date() -> SystemTime {
    SystemTime::now()
}
