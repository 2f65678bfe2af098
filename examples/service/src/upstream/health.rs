//! How an upstream is.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How an upstream is, which a button on the page decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Healthy,
    /// What it is sent arrives up to [`SLOWEST`] later.
    Slow,
    /// It resets the connection at one of twelve messages that it is sent. The HTTP server also answers 503 and 429.
    Flaky,
    /// It refuses connections, and has reset those that were open.
    Dead,
}

/// The longest delay while an upstream is slow.
pub(crate) const SLOWEST: Duration = Duration::from_millis(600);

/// How often a flaky upstream resets a connection, of the times that it is sent something.
pub(crate) const RESETS: f64 = 1.0 / 12.0;
