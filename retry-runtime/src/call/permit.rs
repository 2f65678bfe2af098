//! What a call asks its budget for, before a retry. Pure.

use crate::budget::{Charge, Request};
use crate::classify::Verdict;
use crate::report::PreviousFailure;

/// An attempt that failed, as far as its budget wants to know.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct JustFailed {
    pub(super) how: PreviousFailure,
    /// Its number, without a hedge.
    pub(super) number: u32,
    /// It failed when its timeout was reached, or as good as that, or at a limit of its client.
    pub(super) at_limit: bool,
    /// It made progress.
    pub(super) progressed: bool,
    /// The call was pending. A wait counts as that.
    pub(super) was_pending: bool,
    /// The call had begun when the fault of the service began.
    pub(super) had_begun: bool,
}

/// What the retry after such an attempt asks for.
pub(super) fn request(failed: JustFailed) -> Request {
    let charge = match failed.how {
        // The service may still work on it.
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
