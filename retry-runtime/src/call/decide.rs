//! Decides whether another attempt follows one that failed. This file is pure: it uses no clock, frame or thread, and
//! tells nobody.

use std::time::Duration;

use crate::classify::Ruling;
use crate::context::Refusal;
use crate::fit::DelayRange;
use crate::stopped::Outcome;

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// It returned an error, or an `Ok` that means failure, and this is the ruling of the rules.
    Returned(Ruling),
    /// It reached its timeout. The server may have completed the operation, so not every attempt may be repeated. The hint
    /// is that of the attempt beside it, which failed before.
    TimedOut {
        may_repeat: bool,
        hint: Option<Duration>,
    },
    /// The deadline was reached, in the attempt or before it began.
    OutOfTime,
}

/// What a decision depends on. Each fact is asked once, and only if all facts before it allow another attempt.
pub(super) trait Situation {
    /// The instant of the decision.
    type Now: Copy;

    /// Whether the call has made all the attempts that it may make here.
    fn is_exhausted(&self) -> bool;
    /// Whether retries are on in this process.
    fn is_enabled(&self) -> bool;
    /// The longest hint that the call follows.
    fn max_retry_after(&self) -> Duration;
    /// The range of the next delay, without a deadline. `hinted` says that a hint bounds it too.
    fn delays(&self, hinted: bool) -> DelayRange;
    /// Cuts a range to the deadline at the instant of the decision. Returns both, or `None` if no delay of the range fits.
    fn within_deadline(&self, range: DelayRange) -> Option<(DelayRange, Self::Now)>;
    /// Takes a permit for the retry. Returns `false` if the budget refuses it.
    fn take_permit(&self, now: Self::Now) -> bool;
}

/// Returns the range of the delay before the next attempt and the instant from which it counts, or why there is none:
/// `Err(None)` if the attempt is one of two. `refusal` is that of a call inside, in the same poll.
///
/// The budget comes last, so that a retry that is refused for another reason takes no permit.
#[inline]
pub(super) fn decide<F: Situation>(
    cause: Cause,
    refusal: Option<Refusal>,
    situation: &F,
) -> Result<(DelayRange, F::Now), Option<Outcome>> {
    let (hint, exhausted) = match cause {
        Cause::Returned(ruling) if ruling.retry => (ruling.said.hint, Outcome::AttemptsExhausted),
        Cause::Returned(_) => return Err(Some(Outcome::NotRetryable)),
        Cause::TimedOut {
            may_repeat: true,
            hint,
        } => (hint, Outcome::Timeout),
        Cause::TimedOut { .. } => return Err(Some(Outcome::Timeout)),
        Cause::OutOfTime => return Err(Some(Outcome::Deadline)),
    };
    if let Some(refusal) = refusal {
        return Err(refusal.outcome());
    }
    if situation.is_exhausted() {
        return Err(Some(exhausted));
    }
    if !situation.is_enabled() {
        // A caller who looks at the `Stopped` sees the timeout.
        return Err(Some(match exhausted {
            Outcome::Timeout => exhausted,
            _ => Outcome::Disabled,
        }));
    }
    let mut delays = situation.delays(hint.is_some());
    if let Some(hint) = hint {
        let longest = situation.max_retry_after();
        if hint > longest {
            return Err(Some(Outcome::HintTooLong));
        }
        delays = match cause {
            Cause::Returned(ruling) if ruling.exact => hint..=hint,
            _ => raised_by(hint, &delays),
        };
    }
    let Some((range, now)) = situation.within_deadline(delays) else {
        return Err(Some(Outcome::Deadline));
    };
    if !situation.take_permit(now) {
        return Err(Some(Outcome::Budget));
    }
    Ok((range, now))
}

/// Raises a range to the hint, which is a lower bound.
///
/// A hint above the whole range moves the range. It keeps its width, but no more than a quarter of the hint. So clients that
/// got the same hint do not come back at the same instant, and none waits much longer than its server asked for.
#[cold]
fn raised_by(hint: Duration, range: &DelayRange) -> DelayRange {
    let (low, high) = (*range.start(), *range.end());
    if hint < high {
        return hint.max(low)..=high;
    }
    hint..=hint.saturating_add(high.saturating_sub(low).min(hint / 4))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::classify::{Said, Verdict};
    use crate::fit;

    /// A situation that allows a retry after 0 to 100 ms, unless a test changes them.
    struct Known {
        cause: Cause,
        refusal: Option<Refusal>,
        exhausted: bool,
        enabled: bool,
        /// `Err` if the deadline is reached.
        longest_wait: Result<Option<Duration>, ()>,
        permit: bool,
        /// How often a permit was asked for.
        asked: Cell<u32>,
    }

    impl Situation for Known {
        type Now = ();

        fn is_exhausted(&self) -> bool {
            self.exhausted
        }
        fn is_enabled(&self) -> bool {
            self.enabled
        }
        fn max_retry_after(&self) -> Duration {
            ms(1000)
        }
        fn delays(&self, _: bool) -> DelayRange {
            ms(0)..=ms(100)
        }
        fn within_deadline(&self, range: DelayRange) -> Option<(DelayRange, ())> {
            let range = match self.longest_wait.ok()? {
                None => range,
                Some(longest) => fit::cut(range, longest)?,
            };
            Some((range, ()))
        }
        fn take_permit(&self, (): ()) -> bool {
            self.asked.set(self.asked.get() + 1);
            self.permit
        }
    }

    fn range(situation: &Known) -> Result<DelayRange, Option<Outcome>> {
        decide(situation.cause, situation.refusal, situation).map(|(range, ())| range)
    }

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const TIMED_OUT: Cause = Cause::TimedOut {
        may_repeat: true,
        hint: None,
    };

    fn returned(hint: Option<Duration>) -> Cause {
        Cause::Returned(Ruling::retry(Said {
            hint,
            ..Said::new(Verdict::Transient)
        }))
    }

    fn known(cause: Cause) -> Known {
        Known {
            cause,
            refusal: None,
            exhausted: false,
            enabled: true,
            longest_wait: Ok(None),
            permit: true,
            asked: Cell::new(0),
        }
    }

    /// Takes away one fact after the other, from the last to the first: each refuses before those after it.
    #[test]
    fn the_first_fact_that_refuses_decides() {
        let too_long = returned(Some(ms(1001)));
        let stop = Cause::Returned(Ruling::stop(Said::UNKNOWN));
        let mut situation = known(returned(None));
        assert_eq!(range(&situation), Ok(ms(0)..=ms(100)));
        assert_eq!(situation.asked.get(), 1);
        situation.permit = false;
        assert_eq!(range(&situation), Err(Some(Outcome::Budget)));
        assert_eq!(situation.asked.get(), 2);
        situation.longest_wait = Err(());
        assert_eq!(range(&situation), Err(Some(Outcome::Deadline)));
        situation.cause = too_long;
        assert_eq!(range(&situation), Err(Some(Outcome::HintTooLong)));
        situation.enabled = false;
        assert_eq!(range(&situation), Err(Some(Outcome::Disabled)));
        situation.exhausted = true;
        assert_eq!(range(&situation), Err(Some(Outcome::AttemptsExhausted)));
        situation.refusal = Some(Refusal::Cancelled);
        assert_eq!(range(&situation), Err(Some(Outcome::Cancelled)));
        situation.cause = stop;
        assert_eq!(range(&situation), Err(Some(Outcome::NotRetryable)));
        assert_eq!(situation.asked.get(), 2, "asked last");
    }

    #[test]
    fn each_refusal_inside_has_its_outcome() {
        for (refusal, outcome) in [
            (Refusal::Budget, Some(Outcome::Budget)),
            (Refusal::Deadline, Some(Outcome::Deadline)),
            (Refusal::HintTooLong, Some(Outcome::HintTooLong)),
            (Refusal::Cancelled, Some(Outcome::Cancelled)),
            (Refusal::OneOfTwo, None),
        ] {
            let situation = Known {
                refusal: Some(refusal),
                ..known(TIMED_OUT)
            };
            assert_eq!(range(&situation), Err(outcome));
        }
    }

    #[test]
    fn a_timeout_is_repeated_unless_that_may_repeat_the_operation() {
        assert_eq!(range(&known(TIMED_OUT)), Ok(ms(0)..=ms(100)));
        let cause = Cause::TimedOut {
            may_repeat: false,
            hint: None,
        };
        assert_eq!(range(&known(cause)), Err(Some(Outcome::Timeout)));
        assert_eq!(
            range(&known(Cause::OutOfTime)),
            Err(Some(Outcome::Deadline))
        );
        for situation in [
            Known {
                exhausted: true,
                ..known(TIMED_OUT)
            },
            Known {
                enabled: false,
                ..known(TIMED_OUT)
            },
        ] {
            assert_eq!(range(&situation), Err(Some(Outcome::Timeout)));
        }
    }

    #[test]
    fn a_hint_is_a_lower_bound_and_the_deadline_an_upper_one() {
        for (hint, longest, expected) in [
            (None, Some(60), Ok(ms(0)..=ms(60))),
            (Some(40), None, Ok(ms(40)..=ms(100))),
            (Some(100), None, Ok(ms(100)..=ms(125))),
            (Some(600), None, Ok(ms(600)..=ms(700))),
            (Some(1000), None, Ok(ms(1000)..=ms(1100))),
            (Some(600), Some(650), Ok(ms(600)..=ms(650))),
            (Some(40), Some(60), Ok(ms(40)..=ms(60))),
            (Some(80), Some(60), Err(Some(Outcome::Deadline))),
        ] {
            let situation = Known {
                longest_wait: Ok(longest.map(ms)),
                ..known(returned(hint.map(ms)))
            };
            assert_eq!(range(&situation), expected, "{hint:?} {longest:?}");
        }
    }
}
