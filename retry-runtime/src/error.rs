//! The error for functions whose own error type cannot hold a `Stopped`.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::classify::{Retryable, Verdict};
use crate::stopped::Stopped;

/// Either the error of the last attempt, or the reason why the call was stopped.
///
/// Use it where a call may be stopped, such as by its `timeout`, and the error type comes from another crate and cannot be
/// made from a [`Stopped`]. A function that fails with a `reqwest::Error`, for example, returns
/// `Result<T, reattempt::Error<reqwest::Error>>`. The `?` operator in its body converts the error. A closure of `run!`
/// gives it by itself.
///
/// # Text and source
///
/// An error that failed the last attempt looks as it does without retries: `Display` and [`source()`](StdError::source) are those
/// of the error inside. The same holds for the error types of the adapters. So a log line has the cause, and a report of the whole
/// chain says it once. `on` and `unless` find the error inside; to get it, match on this type.
///
/// A [`Stopped`] is a source, and not skipped: its own source is the error of an earlier attempt, which must not be retried again.
///
/// The enum is exhaustive: a call ends with the error of its last attempt or with a `Stopped`, and nothing else.
#[derive(Debug)]
pub enum Error<E> {
    /// The last attempt failed with this error.
    Failed(E),
    /// The call was stopped.
    Stopped(Stopped),
}

impl<E> Error<E> {
    /// Returns the error of the last attempt.
    pub(crate) fn failed(&self) -> Option<&E> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Stopped(_) => None,
        }
    }

    /// Returns the error of the last attempt.
    ///
    /// # Errors
    ///
    /// - The [`Stopped`], if the call was stopped.
    pub fn into_failed(self) -> Result<E, Stopped> {
        match self {
            Self::Failed(error) => Ok(error),
            Self::Stopped(stopped) => Err(stopped),
        }
    }
}

impl<E> From<E> for Error<E> {
    fn from(error: E) -> Self {
        Self::Failed(error)
    }
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Stopped(stopped) => stopped.fmt_as_source(f),
        }
    }
}

impl<E: StdError> StdError for Error<E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Failed(error) => error.source(),
            Self::Stopped(stopped) => Some(stopped),
        }
    }
}

impl<E: Retryable> Error<E> {
    fn inside(&self) -> &dyn Retryable {
        match self {
            Self::Failed(error) => error,
            Self::Stopped(stopped) => stopped,
        }
    }
}

/// The verdict of the error inside, which can be a [`Stopped`].
impl<E: Retryable> Retryable for Error<E> {
    fn verdict(&self) -> Verdict {
        self.inside().verdict()
    }

    fn hint(&self) -> Option<Duration> {
        self.inside().hint()
    }

    fn timed_out(&self) -> bool {
        self.inside().timed_out()
    }

    fn may_have_run(&self) -> bool {
        self.inside().may_have_run()
    }
}

#[cfg(test)]
mod tests;
