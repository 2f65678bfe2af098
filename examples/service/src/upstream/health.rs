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
    /// It resets the connection at one of [`MESSAGES_PER_RESET`] messages. The HTTP server also answers 503 and 429.
    Flaky,
    /// It refuses connections, and has reset those that were open.
    Dead,
}

impl Health {
    /// What it does to an upstream, for the page.
    pub(crate) fn effect(self, serves_http: bool) -> String {
        match self {
            Self::Healthy => "Answers at once.".to_owned(),
            Self::Slow => format!(
                "Each message to it arrives up to {} ms later.",
                SLOWEST.as_millis()
            ),
            Self::Flaky => {
                let resets =
                    format!("Resets a connection at one of {MESSAGES_PER_RESET} messages.");
                if serves_http {
                    format!("{resets} 503 to one request in {REQUESTS_PER_503}.")
                } else {
                    resets
                }
            }
            Self::Dead => "Refuses connections.".to_owned(),
        }
    }
}

/// The longest delay while an upstream is slow.
pub(crate) const SLOWEST: Duration = Duration::from_millis(600);

/// A flaky upstream resets the connection at one of this many messages.
pub(crate) const MESSAGES_PER_RESET: u32 = 12;

/// The flaky HTTP server answers 503 to one of this many requests.
pub(crate) const REQUESTS_PER_503: u32 = 6;
