//! The health of an upstream.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The health of an upstream, which a button on the page sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Healthy,
    /// Each message to it arrives up to [`SLOWEST`] late.
    Slow,
    /// It resets the connection at one of twelve messages. The HTTP server also answers 503 and 429.
    Flaky,
    /// It refuses connections, and has reset those that were open.
    Dead,
}

/// The longest delay while an upstream is slow.
pub(crate) const SLOWEST: Duration = Duration::from_millis(600);

/// The share of messages at which a flaky upstream resets the connection.
pub(crate) const RESETS: f64 = 1.0 / 12.0;
