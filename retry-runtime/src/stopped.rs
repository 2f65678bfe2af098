//! How a call ended, and the error for a call that was stopped.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::getters::getters;
use crate::words::words;

/// How a call ended. Errors, events, spans and metrics use the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The first attempt succeeded.
    Success,
    /// A later attempt succeeded.
    SuccessAfterRetry,
    /// The verdict or the rules allow no other attempt.
    NotRetryable,
    /// A transaction, a request or an inner call with `idempotent = false` may have taken effect, because it was cut or its answer was
    /// lost. Nothing repeats it, whatever else would have ended the call.
    InDoubt,
    /// The last attempt failed, and no attempt is left.
    AttemptsExhausted,
    /// The last attempt reached its timeout, and no other attempt is left or allowed.
    Timeout,
    /// The deadline is reached, or the next delay does not fit it.
    Deadline,
    /// The budget refused a retry.
    Budget,
    /// The server asked for a longer delay than the policy waits.
    HintTooLong,
    /// The budget is in a [pause](crate::Budget::with_pause) that does not fit the deadline. If the call shares that deadline with
    /// its outer calls, these end with [`Deadline`](Self::Deadline).
    Paused,
    /// Retries are turned off in this process; see [`set_enabled`](crate::set_enabled).
    Disabled,
    /// The future of the key `cancel` or `cancel_waits` completed.
    Cancelled,
    /// The future of the call was dropped, or its body panicked.
    Dropped,
}

words! {
    Outcome, "Returns the word used in events, spans and metrics.",
    Self::Success => "success",
    Self::SuccessAfterRetry => "success_after_retry",
    Self::NotRetryable => "not_retryable",
    Self::InDoubt => "in_doubt",
    Self::AttemptsExhausted => "attempts_exhausted",
    Self::Timeout => "timeout",
    Self::Deadline => "deadline",
    Self::Budget => "budget",
    Self::HintTooLong => "hint_too_long",
    Self::Paused => "paused",
    Self::Disabled => "disabled",
    Self::Cancelled => "cancelled",
    Self::Dropped => "dropped",
}

/// Why a call was stopped, when its last attempt returned no result, or an `Ok` that is not ready, as the key `until`
/// says.
///
/// The caller gets its own error type, made from this one: `io::Error` (of kind `TimedOut`, or `Interrupted` if the
/// call was cancelled), `anyhow::Error`, `Box<dyn Error + Send + Sync>`, `String`, or any type with `From<Stopped>`.
///
/// The [`source`](std::error::Error::source) is the error of an earlier attempt, if there was one and it could be kept. If a
/// limit cut a `COMMIT`, a request or an inner call that may not run twice, an error between the two says that it may have taken effect.
#[derive(Debug)]
pub struct Stopped {
    pub(crate) outcome: Outcome,
    pub(crate) attempts: u32,
    pub(crate) elapsed: Duration,
    pub(crate) limit: Option<Duration>,
    /// Whether the last attempt returned an `Ok` that is not ready.
    pub(crate) not_ready: bool,
    pub(crate) may_have_run: bool,
    pub(crate) source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Stopped {
    getters! {
        /// Returns what stopped the call: a timeout, the deadline, a pause, or cancellation. After a timeout it may also be what
        /// refused a retry, such as the budget, and after an `Ok` that is not ready any outcome of a failed call.
        outcome: Outcome;

        /// Returns how many attempts began, from 0.
        attempts: u32;

        /// Returns how long the call took, from its beginning to its end, waits included.
        elapsed: Duration;

        /// Returns the timeout or the deadline that was reached, or that leaves no time for a wait or a pause. It is `None` for
        /// any other outcome, and for an inherited deadline.
        limit: Option<Duration>;

        /// Returns whether the call may have run. It is false only if each attempt provably had no effect: it never began, was
        /// refused or was rolled back. So it is true if `cancel` cut an attempt, and false if it ended the wait after attempts that
        /// were refused.
        may_have_run: bool;
    }

    /// Writes what an error shows that has this one as its source.
    pub(crate) fn fmt_as_source(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the call was stopped ({}, {})",
            self.outcome,
            self.effort()
        )
    }

    /// The attempts and the time.
    fn effort(&self) -> String {
        let plural = if self.attempts == 1 { "" } else { "s" };
        format!(
            "{} attempt{plural}, {:?}",
            self.attempts,
            rounded(self.elapsed)
        )
    }

    /// Adds the error of an earlier attempt.
    pub(crate) fn with_source(mut self, error: Box<dyn StdError + Send + Sync>) -> Self {
        let cut = self.source.as_mut();
        match cut.and_then(|source| source.downcast_mut::<CutEffect>()) {
            Some(cut) => cut.source = Some(error),
            None => self.source = Some(error),
        }
        self
    }

    /// It cut this, which may have taken effect.
    #[cfg(feature = "_layers")]
    pub(crate) fn cutting(mut self, effect: Effect) -> Self {
        let source = self.source.take();
        self.source = Some(CutEffect { effect, source }.into());
        self
    }

    /// What was cut, and may have taken effect.
    pub(crate) fn cut(&self) -> Option<Effect> {
        let cut: &CutEffect = self.source.as_ref()?.downcast_ref()?;
        Some(cut.effect)
    }
}

/// What an attempt does that may not happen twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The `COMMIT` of a transaction.
    Commit,
    /// A request that may not run twice.
    #[cfg_attr(
        not(any(feature = "http-1", test)),
        expect(dead_code, reason = "without `http`, there is no request")
    )]
    Request,
    /// An inner call that must not run twice.
    Call,
}

/// The source of a [`Stopped`] that cut an effect.
///
/// It is a link of its own, so that it is in the chain of sources even if an error type leaves out the `Stopped`, as
/// `#[error(transparent)]` does.
#[derive(Debug)]
pub(crate) struct CutEffect {
    pub(crate) effect: Effect,
    /// The error of an earlier attempt.
    pub(crate) source: Option<Box<dyn StdError + Send + Sync>>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deadline = self.limit.map(|limit| format!("deadline of {limit:?}"));
        let deadline = deadline.as_deref().unwrap_or("inherited deadline");
        match (self.outcome, self.limit) {
            (outcome, _) if self.not_ready => write!(f, "not ready: {outcome}"),
            (Outcome::Timeout, Some(limit)) => write!(f, "timed out after {limit:?}"),
            (Outcome::Deadline, Some(limit)) if self.elapsed < limit => {
                write!(f, "the {deadline} leaves no time for another attempt")
            }
            (Outcome::Deadline, _) => write!(f, "{deadline} reached"),
            (Outcome::Paused, _) => write!(f, "the budget is paused beyond the {deadline}"),
            (Outcome::Cancelled, _) => f.write_str("cancelled"),
            (outcome, _) => write!(f, "stopped ({outcome})"),
        }?;
        f.write_str(match self.cut() {
            Some(Effect::Commit) => ", during a commit",
            Some(Effect::Request) => ", during a request",
            Some(Effect::Call) => ", during a call that must not run twice",
            None => "",
        })?;
        write!(f, " ({})", self.effort())
    }
}

impl StdError for Stopped {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.source.as_deref()?)
    }
}

impl CutEffect {
    pub(crate) const fn of(effect: Effect) -> Self {
        let source = None;
        Self { effect, source }
    }
}

impl fmt::Display for CutEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.effect {
            Effect::Commit => "the commit may have taken effect",
            Effect::Request => "the request may have run",
            Effect::Call => "the call may have run",
        })
    }
}

impl StdError for CutEffect {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.source.as_deref()?)
    }
}

impl From<Stopped> for io::Error {
    /// Makes an error of kind `TimedOut`, or `Interrupted` for a call that was cancelled. The `Stopped` is inside.
    fn from(stopped: Stopped) -> Self {
        let kind = match stopped.outcome {
            Outcome::Cancelled => io::ErrorKind::Interrupted,
            _ => io::ErrorKind::TimedOut,
        };
        Self::new(kind, stopped)
    }
}

impl From<Stopped> for String {
    fn from(stopped: Stopped) -> Self {
        stopped.to_string()
    }
}

/// Rounds down to milliseconds, the step of the timers. A time below one millisecond is not rounded.
pub(crate) fn rounded(elapsed: Duration) -> Duration {
    match u64::try_from(elapsed.as_millis()) {
        Ok(0) | Err(_) => elapsed,
        Ok(millis) => Duration::from_millis(millis),
    }
}
