//! Plain values of which the state of a call is made.

use crate::budget::Charge;
use crate::classify::Verdict;
use crate::stopped::Outcome;

/// No limit (584 years).
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
    /// It ended and was reported.
    Closed,
    /// It ended, has no cold part, and nothing is left to do when it is dropped.
    SucceededAtOnce,
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
    /// Retry. A call around may hedge, and hedges within hedges would multiply.
    Retry,
    /// Make one attempt, because their retries could not be counted.
    Nothing,
}

/// A set of facts about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Notes(pub(super) u8);

impl Notes {
    /// None of these facts: the call has no cold part, no listener and no recorder. It ends
    /// inline.
    pub(crate) const NONE: Self = Self(0);
    /// It has a cold part.
    pub(crate) const COLD: Self = Self(1);
    /// There is a listener, or the hook `on_end`.
    pub(crate) const LISTENED: Self = Self(1 << 1);
    /// The call found a recorder when an attempt began.
    pub(crate) const RECORDED: Self = Self(1 << 2);
    /// One of the two above, which want to know how long the call takes.
    pub(crate) const NEEDS_CLOCK: Self = Self(Self::LISTENED.0 | Self::RECORDED.0);
    /// It has failed retries, of its own or of calls inside it.
    pub(crate) const FAILED_RETRIES: Self = Self(1 << 3);
    /// The call around does not know of them all yet.
    pub(crate) const UNTOLD: Self = Self(1 << 4);
    /// During a poll: the deadline is that of a scope inside the attempt, so it is not the call's.
    pub(crate) const NARROWED: Self = Self(1 << 5);

    /// The last attempt returned an error, and neither was cut nor gave an `Ok` that means failure.
    pub(crate) const ERRED: Self = Self(1 << 6);

    /// The budget had a fault when the call began, so the call does not belong to the first wave of one.
    pub(crate) const BEGAN_IN_FAULT: Self = Self(1 << 7);
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

/// Why a call was refused a retry.
///
/// The call around does not retry if its attempt fails in the same poll. If its body goes on after the refusal, the
/// attempt may fail for another reason, so the refusal no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Budget,
    /// The deadline is also that of the call around. Other deadlines do not stop it.
    Deadline,
    HintTooLong,
    Cancelled,
    /// The attempt is one of two. If the other one still runs, this needs no retry.
    OneOfTwo,
    /// None. The call has never been pending, so calls that were made with it may not have begun.
    // Here, because each suspension removes it anyway.
    NotPendingYet,
}

impl Refusal {
    /// Returns the refusal that an outcome stands for, if any.
    pub(crate) fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Budget => Some(Self::Budget),
            Outcome::Deadline | Outcome::Paused => Some(Self::Deadline),
            Outcome::HintTooLong => Some(Self::HintTooLong),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// Returns the outcome of the call around, or `None` if the call does not end for that.
    pub(crate) fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Budget => Some(Outcome::Budget),
            Self::Deadline => Some(Outcome::Deadline),
            Self::HintTooLong => Some(Outcome::HintTooLong),
            Self::Cancelled => Some(Outcome::Cancelled),
            Self::OneOfTwo | Self::NotPendingYet => None,
        }
    }
}
