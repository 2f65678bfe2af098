//! Plain values of which the state of a call is made.

use crate::budget::Charge;
use crate::classify::Verdict;
use crate::stopped::Outcome;

/// No limit (584 years), as a length in nanoseconds.
pub(crate) const NEVER: u64 = u64::MAX;

/// What a call does at present, or what a frame without a call stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing yet: no attempt has begun.
    New,
    /// It is between two attempts.
    Between,
    /// It makes an attempt.
    Attempt,
    /// It runs `before_retry`, or has run it.
    Preparation,
    /// It ended with this outcome.
    Ended(Outcome),
    /// It ended, and whoever wants to know was told.
    Closed,
    /// No call, but a copy of an attempt in another task.
    Carried,
    /// No call, but a deadline or a listener.
    Scope,
}

/// What calls inside an attempt may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leeway {
    /// Retry, and hedge.
    Anything,
    /// Retry. An outer call may hedge, and hedges within hedges would multiply.
    Retry,
    /// Make one attempt, because their retries could not be counted.
    Nothing,
}

/// How the attempt before this one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Previous {
    /// It returned an error with this verdict, or an `Ok` that means failure.
    Failed(Verdict),
    /// It reached its timeout.
    TimedOut,
}

impl Previous {
    /// The verdict of that failure.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Failed(verdict) => verdict,
            Self::TimedOut => Verdict::Transient,
        }
    }

    /// Whether its request may still run on the server.
    pub(crate) fn may_still_run(self) -> bool {
        match self {
            Self::TimedOut => true,
            Self::Failed(verdict) => !matches!(
                verdict,
                Verdict::Refused | Verdict::Conflict | Verdict::Throttled
            ),
        }
    }

    /// What a retry after it costs. After a conflict it is free: another caller made progress, so the service does not
    /// fail.
    pub(crate) fn charge(self) -> Charge {
        match self {
            Self::Failed(Verdict::Conflict) => Charge::Free,
            Self::Failed(Verdict::Throttled) => Charge::Throttled,
            Self::Failed(_) => Charge::Failure,
            Self::TimedOut => Charge::Timeout,
        }
    }
}
