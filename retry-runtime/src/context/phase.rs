//! The values of a frame: where a call stands, what it may do, and until when.

use std::time::Duration;

use crate::budget::Charge;
use crate::clock::Stamp;
use crate::report::Which;
use crate::stopped::Outcome;

/// What a call does at present, or what a frame without a call stands for.
///
/// ```text
/// New ─ attempt ─> Attempt ─ fail ─> Between ─ (prepare ─> Preparation) ─ attempt ─> Attempt …
/// any of these ─ Ended ─ Closed
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing yet: no attempt has begun.
    New,
    /// It makes an attempt. The budget has charged that for it, if it is a retry.
    Attempt(Option<Charge>),
    /// It is between two attempts. It has this permit for the next one.
    Between(Option<Charge>),
    /// It runs `before_retry`, or has run it. It has this permit for the next attempt.
    Preparation(Option<Charge>),
    /// It ended with this outcome.
    Ended(Outcome),
    /// It ended, and its report is given.
    Closed,
    /// No call, but a copy of an attempt in another task.
    Carried,
    /// No call, but a deadline.
    Scope,
}

impl Phase {
    /// The permit that no attempt has spent.
    pub(crate) fn permit(self) -> Option<Charge> {
        match self {
            Self::Between(permit) | Self::Preparation(permit) => permit,
            _ => None,
        }
    }
}

/// The bodies of the present attempt, or of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// It has no hedge.
    One,
    /// Both run. This one is polled, or was polled last.
    Both(Which),
    /// The other one ended before this one, or is dropped with it.
    Only(Which),
}

/// What calls inside an attempt are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) leeway: Leeway,
    /// The present attempt, or an outer one, is not the first of its call.
    pub(crate) again: bool,
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

/// When a call began, and its limits as instants: [`Stamp::NEVER`] for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    /// When the call began. A call that has and inherits no limits and is not observed has it from its first failure on.
    pub(crate) started: Option<Stamp>,
    /// The nearest deadline: the call's own or an inherited one.
    pub(crate) deadline: Stamp,
    /// When the timeout of the present attempt cuts it, if that makes no progress.
    pub(crate) cut: Stamp,
    /// The nearest limit from outside the present attempt.
    pub(crate) outer: Stamp,
}

impl Times {
    pub(crate) const fn new(started: Option<Stamp>, deadline: Stamp) -> Self {
        Self {
            started,
            deadline,
            cut: Stamp::NEVER,
            outer: Stamp::NEVER,
        }
    }

    /// The time of the call starts now, if it has not started.
    pub(crate) fn start(&mut self, now: impl FnOnce() -> Stamp) {
        self.started = Some(self.started.unwrap_or_else(now));
    }

    /// Takes over the limits around, if they are nearer. The length of an inherited deadline counts from now, also if no one asks how
    /// long the call takes.
    pub(crate) fn inherit(&mut self, around: &Self) {
        if around.deadline < self.deadline {
            self.start(Stamp::now);
        }
        self.deadline = self.deadline.min(around.deadline);
        self.outer = self.outer.min(around.nearest());
    }

    /// Counts a delay that is not waited for as time of the call.
    pub(crate) fn pass_over(&mut self, delay: Duration) {
        self.start(Stamp::now);
        self.started = self.started.map(|started| started.minus(delay));
        self.deadline = self.deadline.minus(delay);
    }

    /// The nearest limit of all.
    pub(crate) fn nearest(self) -> Stamp {
        self.deadline.min(self.cut).min(self.outer)
    }

    /// The length of the deadline, and what is left of it, or `None` without a deadline. For an inherited
    /// deadline, the length is the time that was left when this call began.
    pub(crate) fn to_deadline(self, now: Stamp) -> Option<(Duration, Duration)> {
        let (began, deadline) = (self.started.unwrap_or(now), self.deadline);
        (deadline != Stamp::NEVER).then(|| (deadline.since(began), deadline.since(now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Phase::{Attempt, Between, Carried, Closed, Ended, New, Preparation, Scope};

    const PAID: Option<Charge> = Some(Charge::Failure);

    /// Of each phase, what the attempt or the `before_retry` gets that begins after it.
    #[test]
    fn a_permit_goes_from_wait_to_preparation_and_the_attempt_spends_it() {
        for (phase, permit) in [
            (New, None),
            (Between(None), None),
            (Between(PAID), PAID),
            (Preparation(PAID), PAID),
            (Attempt(PAID), None),
            (Ended(Outcome::Success), None),
            (Closed, None),
            (Carried, None),
            (Scope, None),
        ] {
            assert_eq!(phase.permit(), permit, "{phase:?}");
        }
    }
}
