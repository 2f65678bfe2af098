//! Where a call stands, and until when it may run. Pure: each step is a function from one value to the next.

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

    /// Whether the call makes an attempt.
    pub(crate) fn is_attempt(self) -> bool {
        matches!(self, Self::Attempt(_))
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

    /// The other one, if it runs too.
    pub(crate) fn other(self) -> Option<Which> {
        match self {
            Self::Both(which) => Some(which.other()),
            _ => None,
        }
    }

    /// This one is polled.
    pub(crate) fn turn_to(self, which: Which) -> Self {
        match self {
            Self::Both(_) => Self::Both(which),
            only => only,
        }
    }

    /// The attempt ends, and what runs beside this one with it.
    pub(crate) fn end(self) -> Self {
        match self {
            Self::Both(which) => Self::Rest(which),
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

/// The limits of an attempt, as instants: [`Stamp::NEVER`] for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeLimits {
    /// The nearest deadline: the call's own or an inherited one.
    pub(crate) deadline: Stamp,
    /// When the timeout of the present attempt cuts it.
    pub(crate) cut: Stamp,
    /// The nearest limit from outside the present attempt.
    pub(crate) outer: Stamp,
}

impl TimeLimits {
    pub(crate) const fn of(deadline: Stamp) -> Self {
        let (cut, outer) = (Stamp::NEVER, Stamp::NEVER);
        Self {
            deadline,
            cut,
            outer,
        }
    }

    /// The nearest of all.
    pub(crate) fn nearest(self) -> Stamp {
        self.deadline.min(self.cut).min(self.outer)
    }

    /// These limits, and those around them.
    pub(crate) fn inherit(self, outer: Self) -> Self {
        Self {
            deadline: self.deadline.min(outer.deadline),
            outer: self.outer.min(outer.nearest()),
            ..self
        }
    }

    /// Those of the next attempt: without what held for the attempt before.
    pub(crate) fn renew(self) -> Self {
        Self::of(self.deadline)
    }

    /// The same, with a nearer deadline.
    pub(crate) fn narrow(self, deadline: Stamp) -> Self {
        Self { deadline, ..self }
    }

    /// The limits of a call that is older by a delay for which it did not wait.
    pub(crate) fn pass_over(self, delay: Duration) -> Self {
        self.narrow(self.deadline.minus(delay))
    }
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self::of(Stamp::NEVER)
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
    fn of_two_bodies_one_is_present_and_the_other_ends_with_it() {
        use Which::{First, Hedge};
        for (bodies, which, other, number, ended) in [
            (Bodies::One, First, None, 2, Bodies::One),
            (
                Bodies::Both(First),
                First,
                Some(Hedge),
                1,
                Bodies::Rest(First),
            ),
            (
                Bodies::Both(Hedge),
                Hedge,
                Some(First),
                2,
                Bodies::Rest(Hedge),
            ),
            (Bodies::Rest(First), First, None, 1, Bodies::Rest(First)),
            (Bodies::Rest(Hedge), Hedge, None, 2, Bodies::Rest(Hedge)),
        ] {
            assert_eq!(bodies.which(), which, "{bodies:?}");
            assert_eq!(bodies.other(), other, "{bodies:?}");
            assert_eq!(bodies.number(2), number, "{bodies:?}");
            assert_eq!(bodies.end(), ended, "{bodies:?}");
        }
        assert_eq!(Bodies::Both(First).turn_to(Hedge), Bodies::Both(Hedge));
        assert_eq!(Bodies::Rest(First).turn_to(Hedge), Bodies::Rest(First));
    }

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    #[test]
    fn the_nearest_limit_counts_and_a_new_attempt_forgets_that_of_the_last_one() {
        let outer = TimeLimits {
            cut: at(5),
            ..TimeLimits::of(at(9))
        };
        let own = TimeLimits {
            cut: at(7),
            ..TimeLimits::of(at(8))
        };
        assert_eq!(own.nearest(), at(7));
        let inner = own.inherit(outer);
        assert_eq!((inner.deadline, inner.nearest()), (at(8), at(5)));
        assert_eq!(inner.renew(), TimeLimits::of(at(8)));
        assert_eq!(TimeLimits::of(Stamp::NEVER).inherit(outer).deadline, at(9));
    }

    #[test]
    fn a_deadline_is_nearer_for_a_call_that_is_older_but_none_stays_none() {
        let older = |limits: TimeLimits| limits.pass_over(Duration::from_nanos(2));
        assert_eq!(older(TimeLimits::of(at(9))), TimeLimits::of(at(7)));
        assert_eq!(
            older(TimeLimits::of(Stamp::NEVER)),
            TimeLimits::of(Stamp::NEVER)
        );
    }
}
