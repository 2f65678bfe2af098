//! The error of the library, and the one behind it that has a verdict.

use std::{error, fmt, io};

use reattempt::{Retryable, Stopped};

/// Why there is no forecast.
#[derive(Debug)]
pub struct Error(Failure);

impl Error {
    pub(crate) fn from_failure(failure: Failure) -> Self {
        Self(failure)
    }

    /// Returns whether the call reached its time limit.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.0, Failure::Stopped(_))
    }

    /// Returns whether the same call may succeed later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.0.verdict().is_retryable()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0 {
            Failure::Io(error) => Some(error),
            // A `Stopped` is a type of `reattempt`: a user who looks for it in the chain would depend on its version.
            Failure::Stopped(_) | Failure::UnknownCity => None,
        }
    }
}

/// The same, with a verdict for each variant.
#[derive(Debug, Retryable)]
pub(crate) enum Failure {
    #[retryable(forward)]
    Io(io::Error),
    #[retryable(permanent)]
    UnknownCity,
    #[retryable(forward)]
    Stopped(Stopped),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(_) => f.write_str("the weather service did not answer"),
            Self::UnknownCity => f.write_str("the weather service does not know the city"),
            Self::Stopped(stopped) => write!(f, "the weather service was too slow: {stopped}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}
