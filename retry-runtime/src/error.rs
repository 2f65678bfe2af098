//! The error for functions whose own error type cannot say that a call was stopped.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::classify::{Retryable, Verdict};
use crate::stopped::Stopped;

/// Either the error of the last attempt, or why the call was stopped.
///
/// For an error type of somebody else's that cannot be built, `reqwest::Error` say, a function with
/// `timeout`, `deadline` or `cancel` returns `Result<T, reattempt::Error<reqwest::Error>>`. The `?` operator in
/// its body turns a `reqwest::Error` into one of these.
#[derive(Debug)]
pub enum Error<E> {
    /// The last attempt failed with this error.
    Failed(E),
    /// The call was stopped.
    Stopped(Stopped),
}

impl<E> From<E> for Error<E> {
    fn from(error: E) -> Self {
        Self::Failed(error)
    }
}

impl<E> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The error itself is the source, as convention has it.
            Self::Failed(_) => f.write_str("the last attempt failed"),
            Self::Stopped(stopped) => stopped.fmt(f),
        }
    }
}

impl<E: StdError + 'static> StdError for Error<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Stopped(stopped) => stopped.source(),
        }
    }
}

/// The verdict of the error inside, which can be a [`Stopped`].
impl<E: Retryable> Retryable for Error<E> {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Failed(error) => error.verdict(),
            Self::Stopped(stopped) => stopped.verdict(),
        }
    }

    fn hint(&self) -> Option<Duration> {
        match self {
            Self::Failed(error) => error.hint(),
            Self::Stopped(stopped) => stopped.hint(),
        }
    }
}
