//! What an error says of itself.

use std::fmt;
use std::time::Duration;

/// What an error says of itself: whether another attempt could help.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use reattempt::{Retryable as _, Verdict};
///
/// let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
/// assert_eq!(reset.verdict(), Verdict::Transient);
/// assert_eq!(Verdict::Transient.to_string(), "transient");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// It may be gone in a moment, and what was asked for may or may not have been done.
    Transient,
    /// The other side is busy and asks for less; a retry is worth its while, but later.
    Throttled,
    /// The request provably never ran, so that a retry cannot do it twice.
    Refused,
    /// Another attempt would fail the same way.
    Permanent,
    /// It cannot be told.
    Unknown,
}

impl Verdict {
    /// The word for it in events, spans and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Throttled => "throttled",
            Self::Refused => "refused",
            Self::Permanent => "permanent",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the error vouches for another attempt: transient, throttled or refused.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        // No catch-all: what nobody vouched for is not retried.
        match self {
            Self::Transient | Self::Throttled | Self::Refused => true,
            Self::Permanent | Self::Unknown => false,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An error that says which of its cases are worth another attempt.
///
/// `#[derive(Retryable)]` writes it for an enum or a struct. `std::io::Error` implements it by kind,
/// and each adapter implements it for the errors of one crate.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use std::time::Duration;
/// use reattempt::{Retryable, Verdict};
///
/// enum QueueError {
///     Busy { wait: Duration },
///     NoSuchQueue,
/// }
///
/// impl Retryable for QueueError {
///     fn verdict(&self) -> Verdict {
///         match self {
///             Self::Busy { .. } => Verdict::Throttled,
///             Self::NoSuchQueue => Verdict::Permanent,
///         }
///     }
///
///     fn hint(&self) -> Option<Duration> {
///         match self {
///             Self::Busy { wait } => Some(*wait),
///             Self::NoSuchQueue => None,
///         }
///     }
/// }
///
/// assert!(QueueError::Busy { wait: Duration::from_secs(2) }.verdict().is_retryable());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its errors are worth another attempt",
    label = "no verdict for `{Self}`",
    note = "name the error types that are: `#[retry(on = \"std::io::Error\")]`",
    note = "or ask a function: `#[retry(when = \"is_temporary\")]`, with `fn is_temporary(error: &{Self}) -> bool`",
    note = "or, on a type of your own, let each case say it: `#[derive(reattempt::Retryable)]`",
    note = "or, for an error of a crate like `reqwest` or `tonic`: switch on the feature of `reattempt` that has its name"
)]
pub trait Retryable {
    /// Says whether another attempt could help.
    fn verdict(&self) -> Verdict;

    /// Returns the delay that the server asked for, if it did: a lower bound for the next delay.
    ///
    /// Asked for only when another attempt is made; any value is harmless, since the policy's
    /// `max_retry_after` and the deadline bound it.
    fn hint(&self) -> Option<Duration> {
        None
    }
}

/// What an error said of itself, or would have, had it been asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// Whether another attempt could help.
    pub verdict: Verdict,
    /// The delay that the server asked for.
    pub hint: Option<Duration>,
}

impl Said {
    /// What an error says that was not made to say anything.
    pub const UNKNOWN: Self = Self::new(Verdict::Unknown);

    /// A verdict without a hint.
    #[must_use]
    pub const fn new(verdict: Verdict) -> Self {
        Self {
            verdict,
            hint: None,
        }
    }

    /// Asks the error.
    pub fn of<E: Retryable + ?Sized>(error: &E) -> Self {
        let verdict = error.verdict();
        // The hint of an error that is not worth an attempt has no meaning.
        let hint = if verdict == Verdict::Permanent {
            None
        } else {
            error.hint()
        };
        Self { verdict, hint }
    }
}
