//! The error of functions that send requests. All versions of `reqwest` share it.

use std::error::Error;
use std::fmt;

use super::StatusError;
use crate::stopped::Stopped;

/// Why a request failed, for functions that only use HTTP. `C` is the error of the client.
///
/// `Display` and `source()` are those of the error inside, as those of [`reattempt::Error`](crate::Error#text-and-source).
#[derive(Debug)]
#[non_exhaustive]
pub enum FailedRequest<C> {
    /// There was no response, or it could not be read.
    Request(C),
    /// The status of the response is a failure.
    Status(StatusError),
    /// The call was stopped.
    Stopped(Stopped),
}

impl<C> From<StatusError> for FailedRequest<C> {
    fn from(error: StatusError) -> Self {
        Self::Status(error)
    }
}

impl<C> From<Stopped> for FailedRequest<C> {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl<C: Error + 'static> FailedRequest<C> {
    /// Returns the error inside.
    pub(crate) fn inside(&self) -> &(dyn Error + 'static) {
        match self {
            Self::Request(error) => error,
            Self::Status(error) => error,
            Self::Stopped(stopped) => stopped,
        }
    }
}

impl<C: fmt::Display> fmt::Display for FailedRequest<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Status(error) => fmt::Display::fmt(error, f),
            Self::Stopped(stopped) => write!(f, "the call was stopped ({})", stopped.outcome),
        }
    }
}

impl<C: Error + 'static> Error for FailedRequest<C> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Request(_) | Self::Status(_) => self.inside().source(),
            // It has the last word, also behind an error that leaves out this one.
            Self::Stopped(stopped) => Some(stopped),
        }
    }
}
