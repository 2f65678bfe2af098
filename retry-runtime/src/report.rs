//! What a call did, reported when it ended.

use std::fmt;
use std::time::Duration;

use crate::classify::Verdict;
use crate::getters::getters;
use crate::stopped::{Outcome, rounded};
use crate::words::words;

/// What one call did.
///
/// [`with_report`](crate::with_report()) returns it to the caller, and the key `on_end` passes it to a hook of the function.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub(crate) function: &'static str,
    pub(crate) attempts: u32,
    pub(crate) outcome: Outcome,
    pub(crate) may_have_run: bool,
    pub(crate) elapsed: Duration,
    pub(crate) waited: Duration,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) budget_level: Option<f64>,
    pub(crate) hedge: Option<HedgeOutcome>,
}

/// How the attempt before this one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PreviousFailure {
    /// It returned an error with this verdict, or an `Ok` that means failure.
    Failed(Verdict),
    /// It returned an `Ok` that is not ready, as [`until`](crate::Run::until) says.
    NotReady,
    /// It reached its timeout.
    TimedOut,
}

impl PreviousFailure {
    /// The verdict of that failure.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Failed(verdict) => verdict,
            Self::NotReady | Self::TimedOut => Verdict::Transient,
        }
    }

    /// Whether its request may still run on the server.
    pub(crate) fn may_still_run(self) -> bool {
        match self {
            Self::TimedOut => true,
            Self::NotReady => false,
            Self::Failed(verdict) => !matches!(
                verdict,
                Verdict::Refused | Verdict::Conflict | Verdict::Throttled
            ),
        }
    }
}

/// What became of the hedge of a call: the second attempt, which begins beside the first if that is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HedgeOutcome {
    /// It succeeded, and its success is the result of the call.
    Won,
    /// It began, and another attempt decided the call, or the call ended without a success.
    Lost,
    /// The first attempt was slow, but the call had no budget, the budget was less than half full or in a pause, or the
    /// function had no hedge left: 16 calls add one, and at most ten are saved up.
    Refused,
}

words! {
    HedgeOutcome, "Returns the word used in metrics.",
    Self::Won => "won",
    Self::Lost => "lost",
    Self::Refused => "refused",
}

/// Which of two attempts side by side: the first or a later one, or the hedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Which {
    #[default]
    First,
    Hedge,
}

impl Which {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Hedge,
            Self::Hedge => Self::First,
        }
    }
}

impl Report {
    getters! {
        /// Returns the name of the function: the attribute's `name`, or module path and function name. That of a run is what
        /// [`with_name`](crate::Run::with_name) says, or its place in the source.
        function: &'static str;

        /// Returns how many attempts began: 0 if the call ended before its first one, such as a call that was cancelled already.
        attempts: u32;

        /// Returns how the call ended. A body that panicked gives [`Outcome::Dropped`].
        outcome: Outcome;

        /// Returns whether the call may have run: an attempt succeeded, was cut, or failed and does not prove that it had no effect.
        may_have_run: bool;

        /// Returns how long the call took, from its beginning to its end, waits included.
        elapsed: Duration;

        /// Returns how much of [`elapsed`](Self::elapsed) the call spent waiting between attempts.
        waited: Duration;

        /// Returns the verdict of the last failure, or `None` if no attempt failed. An attempt that was cut counts as
        /// [`Verdict::Transient`], or as [`Verdict::Unknown`] if it was cut during a commit. If both attempts of a hedged call
        /// failed in a way that may be retried, it is the verdict of the failure with the higher price.
        verdict: Option<Verdict>;

        /// Returns what became of the call's hedge, or `None` if the call wanted none.
        hedge: Option<HedgeOutcome>;

        /// Returns the tokens left in the call's budget when it ended, or `None` for a call without a budget.
        budget_level: Option<f64>;
    }
}

/// One line, with times to the millisecond.
///
/// ```text
/// shop::price: success_after_retry, 3 attempts in 412ms, 310ms of it waiting
/// shop::price: success, 2 attempts in 23ms, hedge won
/// ```
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.attempts == 1 { "" } else { "s" };
        write!(
            f,
            "{}: {}, {} attempt{plural} in {:?}",
            self.function,
            self.outcome,
            self.attempts,
            rounded(self.elapsed)
        )?;
        if !self.waited.is_zero() {
            write!(f, ", {:?} of it waiting", rounded(self.waited))?;
        }
        match self.hedge {
            Some(hedge) => write!(f, ", hedge {hedge}"),
            None => Ok(()),
        }
    }
}
