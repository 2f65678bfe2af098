//! The error of the requests to a simulated server.

use std::{fmt, io};

use reattempt::{Retryable, Stopped, Verdict};

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Refused,
    /// The quota of the client is used up.
    Throttled,
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "the server refused",
            Self::Throttled => "too many requests",
            Self::Stopped => "the server did not answer in time",
        })
    }
}

impl std::error::Error for Failure {}

impl Retryable for Failure {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Throttled => Verdict::Throttled,
            Self::Refused | Self::Stopped => Verdict::Transient,
        }
    }
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Refused
    }
}
