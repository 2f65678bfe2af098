//! The values of a frame: where a call stands, what it may do, and until when. Pure: a step is a function from one value to
//! the next.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Nothing yet: no attempt has begun.
    #[default]
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
    /// An attempt begins, and spends the permit.
    pub(crate) fn attempt(self) -> Self {
        Self::Attempt(self.permit())
    }

    /// `before_retry` begins, or begins again after a pause.
    pub(crate) fn prepare(self) -> Self {
        Self::Preparation(self.permit())
    }

    /// The permit that no attempt has spent.
    pub(crate) fn permit(self) -> Option<Charge> {
        match self {
            Self::Between(permit) | Self::Preparation(permit) => permit,
            _ => None,
        }
    }
}

/// The bodies of the present attempt, or of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Bodies {
    /// It has no hedge.
    #[default]
    One,
    /// Both run. This one is polled, or was polled last.
    Both(Which),
    /// The other one ended before this one, or is dropped with it.
    Rest(Which),
}

impl Bodies {
    /// Which of the two is polled, or ended last.
    pub(crate) fn which(self) -> Which {
        match self {
            Self::One => Which::First,
            Self::Both(which) | Self::Rest(which) => which,
        }
    }

    /// This one is polled.
    pub(crate) fn turn_to(self, which: Which) -> Self {
        match self {
            Self::Both(_) => Self::Both(which),
            only => only,
        }
    }

    /// The number of the present one, if `last` is that of the body that began last.
    pub(crate) fn number(self, last: u32) -> u32 {
        match self {
            Self::Both(Which::First) | Self::Rest(Which::First) => 1,
            _ => last,
        }
    }
}

/// The attempts of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    /// Attempts begun, the current one and a hedge included.
    pub(crate) number: u32,
    /// How many the call may make here in a row without progress, or `u32::MAX` for no limit.
    pub(crate) most: u32,
}

impl Count {
    /// How many attempts count, if the one with the number `progressed` made progress last: from it on.
    pub(crate) fn in_a_row(self, progressed: u32) -> u32 {
        self.number - progressed.saturating_sub(1)
    }

    /// How many attempts there may be, with those before the progress, or `None` for no limit.
    pub(crate) fn allowed(self, progressed: u32) -> Option<u32> {
        let most = Some(self.most).filter(|most| *most < u32::MAX);
        most.map(|most| most.saturating_add(progressed.saturating_sub(1)))
    }
}

/// What calls inside an attempt are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Allowed {
    pub(crate) leeway: Leeway,
    /// The present attempt, or an outer one, is not the first of its call.
    pub(crate) again: bool,
}

/// What calls inside an attempt may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Leeway {
    /// Retry, and hedge.
    #[default]
    Anything,
    /// Retry. An outer call may hedge, and hedges within hedges would multiply.
    Retry,
    /// Make one attempt, because their retries could not be counted.
    Nothing,
}

/// When a call began, and its limits as instants: [`Stamp::NEVER`] for none. Each step gives another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    /// When the call began. A call that has and inherits no limits and is not observed has it from its first failure on.
    pub(crate) started: Option<Stamp>,
    /// The nearest deadline: the call's own or an inherited one.
    pub(crate) deadline: Stamp,
    /// When the timeout of the present attempt cuts it.
    pub(crate) cut: Stamp,
    /// The nearest limit from outside the present attempt.
    pub(crate) outer: Stamp,
}

impl Times {
    pub(crate) const fn new(started: Option<Stamp>, deadline: Stamp) -> Self {
        let (cut, outer) = (Stamp::NEVER, Stamp::NEVER);
        Self {
            started,
            deadline,
            cut,
            outer,
        }
    }

    /// The time of the call starts now, if it has not started.
    pub(crate) fn start(self, now: impl FnOnce() -> Stamp) -> Self {
        let started = Some(self.started.unwrap_or_else(now));
        Self { started, ..self }
    }

    /// The nearest limit of all.
    pub(crate) fn nearest(self) -> Stamp {
        self.deadline.min(self.cut).min(self.outer)
    }

    /// These limits, and those around them. The length of an inherited deadline counts from now, also if no one asks how long
    /// the call takes.
    pub(crate) fn inherit(self, outer: Self, now: impl FnOnce() -> Stamp) -> Self {
        let inherited = Self {
            deadline: self.deadline.min(outer.deadline),
            outer: self.outer.min(outer.nearest()),
            ..self
        };
        if inherited.deadline == self.deadline {
            inherited
        } else {
            inherited.start(now)
        }
    }

    /// The limits of the next attempt: without what held for the attempt before.
    pub(crate) fn renew(self) -> Self {
        Self::new(self.started, self.deadline)
    }

    /// The times of a call that is older by a delay for which it did not wait.
    pub(crate) fn pass_over(self, delay: Duration) -> Self {
        Self {
            started: self.started.map(|started| started.minus(delay)),
            deadline: self.deadline.minus(delay),
            ..self
        }
    }

    /// The length of the deadline, and what is left of it, or `None` without a deadline. For an inherited
    /// deadline, the length is the time that was left when this call began.
    pub(crate) fn to_deadline(self, now: Stamp) -> Option<(Duration, Duration)> {
        let (began, deadline) = (self.started.unwrap_or(now), self.deadline);
        (deadline != Stamp::NEVER).then(|| (deadline.since(began), deadline.since(now)))
    }
}

/// No limits.
impl Default for Times {
    fn default() -> Self {
        Self::new(None, Stamp::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Phase::{Attempt, Between, Carried, Closed, Ended, New, Preparation, Scope};

    const PAID: Option<Charge> = Some(Charge::Failure);

    /// Each phase, and where it goes if an attempt or `before_retry` begins.
    #[test]
    fn a_permit_goes_from_wait_to_preparation_and_the_attempt_spends_it() {
        for (phase, attempt, preparation) in [
            (New, Attempt(None), Preparation(None)),
            (Between(None), Attempt(None), Preparation(None)),
            (Between(PAID), Attempt(PAID), Preparation(PAID)),
            (Preparation(PAID), Attempt(PAID), Preparation(PAID)),
            (Attempt(PAID), Attempt(None), Preparation(None)),
            (Ended(Outcome::Success), Attempt(None), Preparation(None)),
            (Closed, Attempt(None), Preparation(None)),
            (Carried, Attempt(None), Preparation(None)),
            (Scope, Attempt(None), Preparation(None)),
        ] {
            assert_eq!(phase.attempt(), attempt, "{phase:?}");
            assert_eq!(phase.prepare(), preparation, "{phase:?}");
        }
    }

    #[test]
    fn of_two_bodies_one_is_present() {
        use Which::{First, Hedge};
        for (bodies, which, number) in [
            (Bodies::One, First, 2),
            (Bodies::Both(First), First, 1),
            (Bodies::Both(Hedge), Hedge, 2),
            (Bodies::Rest(First), First, 1),
            (Bodies::Rest(Hedge), Hedge, 2),
        ] {
            assert_eq!(bodies.which(), which, "{bodies:?}");
            assert_eq!(bodies.number(2), number, "{bodies:?}");
        }
        assert_eq!(Bodies::Both(First).turn_to(Hedge), Bodies::Both(Hedge));
        assert_eq!(Bodies::Rest(First).turn_to(Hedge), Bodies::Rest(First));
    }

    #[test]
    fn attempts_before_the_last_progress_no_longer_count() {
        let count = Count { number: 5, most: 3 };
        for (progressed, in_a_row, allowed) in [(0, 5, 3), (1, 5, 3), (2, 4, 4), (5, 1, 7)] {
            assert_eq!(count.in_a_row(progressed), in_a_row);
            assert_eq!(count.allowed(progressed), Some(allowed));
        }
        let most = u32::MAX;
        assert_eq!(Count { number: 5, most }.allowed(9), None);
    }

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    fn until(deadline: u64) -> Times {
        Times::new(None, at(deadline))
    }

    #[test]
    fn the_nearest_limit_counts_and_a_new_attempt_forgets_that_of_the_last_one() {
        let [outer, own] = [(5, 9), (7, 8)].map(|(cut, deadline)| Times {
            cut: at(cut),
            ..until(deadline)
        });
        assert_eq!(own.nearest(), at(7));
        let inner = own.inherit(outer, || at(1));
        assert_eq!((inner.deadline, inner.nearest()), (at(8), at(5)));
        assert_eq!(inner.started, None, "it has the nearer deadline");
        assert_eq!(inner.renew(), until(8));
        let inherited = Times::default().inherit(outer, || at(1));
        assert_eq!(
            (inherited.deadline, inherited.started),
            (at(9), Some(at(1)))
        );
    }

    #[test]
    fn a_call_that_passes_over_a_delay_is_older_but_no_deadline_comes_of_it() {
        let older = |times: Times| times.pass_over(Duration::from_nanos(2));
        assert_eq!(older(until(9).start(|| at(4))), until(7).start(|| at(2)));
        assert_eq!(older(Times::default()), Times::default());
    }
}
