//! The error for functions whose own error type cannot hold a `Stopped`.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::classify::{Retryable, Verdict};
use crate::stopped::Stopped;

/// Either the error of the last attempt, or the reason why the call was stopped.
///
/// Use it with `timeout`, `deadline` or `cancel` when the error type comes from another crate and cannot
/// be made from a [`Stopped`]. A function that fails with a `reqwest::Error`, for example, returns
/// `Result<T, reattempt::Error<reqwest::Error>>`. The `?` operator in its body converts the error.
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
            // The error itself is the source, so its text is not repeated here.
            Self::Failed(_) => f.write_str("the last attempt failed"),
            Self::Stopped(stopped) => write!(f, "the call was stopped ({})", stopped.outcome),
        }
    }
}

impl<E: StdError + 'static> StdError for Error<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            // As a link of its own: what it keeps as its source has had its attempts.
            Self::Stopped(stopped) => Some(stopped),
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
