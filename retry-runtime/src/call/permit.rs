//! The permit for a retry: what a call asks its budget for.

use super::State;
use super::timers::ROUNDED;
use crate::budget::{Charge, Request};
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::report::{HedgeOutcome, PreviousFailure};

/// An attempt that failed, as far as its budget wants to know.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct JustFailed {
    how: PreviousFailure,
    /// Its number, without a hedge.
    number: u32,
    /// It failed when its timeout was reached, or as good as that.
    at_limit: bool,
    /// It made progress.
    progressed: bool,
    /// The call was pending. A wait counts as that.
    was_pending: bool,
    /// The call had begun when the fault of the service began.
    had_begun: bool,
}

/// What the retry after such an attempt asks for. Pure.
fn request(failed: JustFailed) -> Request {
    let charge = match failed.how {
        // A client that keeps to the limit too may be first.
        PreviousFailure::Failed(Verdict::Transient) if failed.at_limit => Charge::Timeout,
        how => Charge::after(how),
    };
    Request {
        // A retry after progress restarts the count of attempts, so it has to cost something.
        charge: if failed.progressed {
            charge.max(Charge::Failure)
        } else {
            charge
        },
        number: failed.number,
        had_begun: failed.had_begun && !failed.progressed,
        at_once: !failed.was_pending && failed.number == 1,
    }
}

impl State<'_> {
    /// Takes a permit for the next retry. Returns what the budget charges for it, or `None` if it refuses.
    pub(super) fn take_permit(&self, now: Stamp) -> Option<Charge> {
        let (Some(how), Some(budget)) = (self.frame.previous, self.budget()) else {
            return Some(Charge::Free);
        };
        let frame = &self.frame;
        let noted = frame.rest.get().map(|rest| rest.noted());
        let hedged = noted.is_some_and(|noted| noted.hedging.hedge == Some(HedgeOutcome::Lost));
        let failed = JustFailed {
            how,
            number: frame.number() - u32::from(hedged),
            at_limit: frame.cut().minus(ROUNDED) <= now,
            progressed: frame.progressed() == frame.number(),
            was_pending: frame.was_pending,
            had_begun: budget.had_begun(frame.faults),
        };
        budget.take(request(failed), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: JustFailed = JustFailed {
        how: PreviousFailure::Failed(Verdict::Transient),
        number: 2,
        at_limit: false,
        progressed: false,
        was_pending: true,
        had_begun: true,
    };

    #[test]
    fn a_retry_costs_what_its_failure_says_and_more_at_the_limit_or_after_progress() {
        use PreviousFailure::{Failed, TimedOut};
        use Verdict::{Conflict, Throttled, Transient};
        for (how, at_limit, progressed, charge) in [
            (Failed(Transient), false, false, Charge::Failure),
            (Failed(Transient), true, false, Charge::Timeout),
            (Failed(Throttled), true, false, Charge::Throttled),
            (Failed(Conflict), true, false, Charge::Free),
            (Failed(Conflict), false, true, Charge::Failure),
            (TimedOut, true, true, Charge::Timeout),
        ] {
            let failed = JustFailed {
                how,
                at_limit,
                progressed,
                ..FAILED
            };
            let asked = request(failed);
            assert_eq!(asked.charge, charge, "{failed:?}");
            assert_eq!(asked.had_begun, !progressed, "{failed:?}");
        }
    }

    #[test]
    fn only_a_first_attempt_that_was_never_pending_failed_at_once() {
        for (number, was_pending, at_once) in
            [(1, false, true), (1, true, false), (2, false, false)]
        {
            let failed = JustFailed {
                number,
                was_pending,
                ..FAILED
            };
            assert_eq!(request(failed).at_once, at_once, "{failed:?}");
        }
    }
}
