//! Decides whether another attempt follows one that failed. Pure: no clock, no frame, no thread-local, no side
//! effects.

use std::time::Duration;

use crate::classify::{AskedDelay, Ruling};
use crate::delays::{DelayRange, fit_or_last};
use crate::stopped::Outcome;

/// A failure after which the rules allow another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeatable {
    pub(super) hint: Option<AskedDelay>,
    /// How the call ends if no attempt is left.
    pub(super) exhausted: Outcome,
    /// The attempt ended at a limit: its timeout, or one of the client.
    pub(super) timed_out: bool,
}

impl Repeatable {
    /// Returns what another attempt would follow, after an attempt that returned a failure with this ruling.
    pub(super) fn after(ruling: Ruling) -> Result<Self, Outcome> {
        let exhausted = Outcome::AttemptsExhausted;
        let hint = ruling.hint();
        let repeatable = ruling.retry.then_some(Self {
            hint,
            exhausted,
            timed_out: ruling.timed_out,
        });
        repeatable.ok_or(Outcome::NotRetryable)
    }
}

/// What a decision depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Situation {
    /// Whether the call has made all the attempts that it may make here.
    pub(super) is_exhausted: bool,
    /// Whether retries are on in this process.
    pub(super) is_enabled: bool,
    /// The longest hint that the call follows.
    pub(super) max_retry_after: Duration,
    /// The range of the next delay, without a deadline.
    pub(super) delays: DelayRange,
    /// The range of the longest delay, for a call with unlimited attempts.
    pub(super) unlimited: Option<DelayRange>,
    /// The length of the deadline and what is left of it, or `None` without a deadline.
    pub(super) time: Option<(Duration, Duration)>,
    /// Whether the delay before the attempt that failed was cut to the deadline.
    pub(super) was_cut: bool,
}

/// Returns the range of the delay before the next attempt, and whether it is cut to the deadline, or why there is none. `refusal` is the outcome of a call inside
/// that was refused a retry in the same poll.
pub(super) fn decide(
    retry: &Repeatable,
    refusal: Option<Outcome>,
    situation: &Situation,
) -> Result<(DelayRange, bool), Outcome> {
    if let Some(outcome) = refusal {
        return match outcome {
            Outcome::Budget | Outcome::HintTooLong => held_back(retry, situation, outcome),
            _ => Err(outcome),
        };
    }
    if situation.is_exhausted {
        return Err(retry.exhausted);
    }
    if !situation.is_enabled {
        // A caller who looks at the `Stopped` sees the timeout.
        let outcome = match retry.exhausted {
            Outcome::Timeout => Outcome::Timeout,
            _ => Outcome::Disabled,
        };
        return held_back(retry, situation, outcome);
    }
    let longest = situation.max_retry_after;
    let range = match retry.hint {
        None => situation.delays,
        Some((hint, _)) if hint > longest && situation.unlimited.is_none() => {
            return Err(Outcome::HintTooLong);
        }
        Some((hint, true)) => (hint.min(longest), hint.min(longest)),
        Some((hint, false)) => raised_by(hint.min(longest), situation.delays),
    };
    in_time(range, situation)
}

/// What follows if a retry is refused: the call ends with this outcome. If its attempts are unlimited, it waits for the longest
/// delay in its place, and at least as long as the server asks for.
#[cold]
pub(super) fn held_back(
    retry: &Repeatable,
    situation: &Situation,
    outcome: Outcome,
) -> Result<(DelayRange, bool), Outcome> {
    let longest = situation.unlimited.ok_or(outcome)?;
    let (hint, _) = retry.hint.unwrap_or_default();
    let range = raised_by(hint.min(situation.max_retry_after), longest);
    in_time(range, situation)
}

/// Cuts a range to the deadline. After one that was cut, none follows.
fn in_time(range: DelayRange, situation: &Situation) -> Result<(DelayRange, bool), Outcome> {
    match situation.time {
        None => Ok((range, false)),
        Some(_) if situation.was_cut => Err(Outcome::Deadline),
        Some((length, left)) => fit_or_last(range, length, left).ok_or(Outcome::Deadline),
    }
}

/// Raises a range to the hint, which is a lower bound.
///
/// A hint above the whole range moves the range. It keeps its width, but no more than a quarter of the hint. So clients that
/// got the same hint do not come back at the same instant, and none waits much longer than its server asked for.
#[cold]
fn raised_by(hint: Duration, (low, high): DelayRange) -> DelayRange {
    if hint < high {
        return (hint.max(low), high);
    }
    let width = high.saturating_sub(low).min(hint / 4);
    (hint, hint.saturating_add(width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Assessment, Verdict};

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn returned(hint: Option<Duration>) -> Result<Repeatable, Outcome> {
        Repeatable::after(Ruling::retry(Assessment {
            hint,
            ..Assessment::new(Verdict::Transient)
        }))
    }

    /// A situation that allows a retry after 0 to 100 ms. A deadline of 10 s leaves this many milliseconds.
    fn situation(left: Option<u64>) -> Situation {
        Situation {
            is_exhausted: false,
            is_enabled: true,
            max_retry_after: ms(1000),
            delays: (ms(0), ms(100)),
            unlimited: None,
            time: left.map(|left| (ms(10_000), ms(left))),
            was_cut: false,
        }
    }

    fn decided(
        retry: Result<Repeatable, Outcome>,
        refusal: Option<Outcome>,
        situation: &Situation,
    ) -> Result<DelayRange, Outcome> {
        decide(&retry?, refusal, situation).map(|(range, _)| range)
    }

    /// All situations: the first fact that refuses decides, in the order of the reference.
    #[test]
    fn the_first_fact_that_refuses_decides() {
        let failures = [
            (returned(None), None),
            (returned(Some(ms(1001))), None),
            (TIMED_OUT, Some(Outcome::Timeout)),
        ];
        let refusals = [
            None,
            Some(Outcome::Budget),
            Some(Outcome::Deadline),
            Some(Outcome::HintTooLong),
            Some(Outcome::Cancelled),
        ];
        let mut seen = Vec::new();
        for (failure, timed_out) in failures {
            for refusal in refusals {
                for (is_exhausted, is_enabled, left) in [false, true].into_iter().flat_map(|at| {
                    [false, true]
                        .into_iter()
                        .flat_map(move |on| [None, Some(5000), Some(0)].map(|left| (at, on, left)))
                }) {
                    let situation = Situation {
                        is_exhausted,
                        is_enabled,
                        ..situation(left)
                    };
                    let too_long = failure == returned(Some(ms(1001)));
                    let facts = [
                        refusal,
                        is_exhausted.then_some(timed_out.unwrap_or(Outcome::AttemptsExhausted)),
                        (!is_enabled).then_some(timed_out.unwrap_or(Outcome::Disabled)),
                        too_long.then_some(Outcome::HintTooLong),
                        (left == Some(0)).then_some(Outcome::Deadline),
                    ];
                    let first = facts.into_iter().flatten().next();
                    let expected = first.map_or(Ok((ms(0), ms(100))), Err);
                    let decided = decided(failure, refusal, &situation);
                    assert_eq!(decided, expected, "{failure:?} {refusal:?} {situation:?}");
                    seen.push(decided);
                }
            }
        }
        assert_eq!(seen.len(), 3 * 5 * 12);
        assert!(seen.contains(&Ok((ms(0), ms(100)))));
    }

    const TIMED_OUT: Result<Repeatable, Outcome> = Ok(Repeatable {
        hint: None,
        exhausted: Outcome::Timeout,
        timed_out: true,
    });

    #[test]
    fn a_ruling_to_stop_ends_the_call_whatever_the_situation() {
        let stop = Repeatable::after(Ruling::stop(Assessment::UNKNOWN));
        for refusal in [None, Some(Outcome::Budget)] {
            let decided = decided(stop, refusal, &situation(None));
            assert_eq!(decided, Err(Outcome::NotRetryable));
        }
    }

    #[test]
    fn a_hint_is_a_lower_bound_and_the_deadline_an_upper_one() {
        for (hint, left, expected) in [
            (None, Some(101), Ok((ms(0), ms(100)))),
            // A range that is cut is its upper half.
            (None, Some(60), Ok((ms(30), ms(60)))),
            (Some(40), None, Ok((ms(40), ms(100)))),
            (Some(100), None, Ok((ms(100), ms(125)))),
            (Some(600), None, Ok((ms(600), ms(700)))),
            (Some(1000), None, Ok((ms(1000), ms(1100)))),
            (Some(600), Some(650), Ok((ms(600), ms(650)))),
            (Some(40), Some(60), Ok((ms(40), ms(60)))),
            (Some(80), Some(60), Err(Outcome::Deadline)),
        ] {
            let situation = Situation {
                // Of a deadline without a length, nothing is kept for the attempt.
                time: left.map(|left| (ms(0), ms(left))),
                ..situation(None)
            };
            let decided = decided(returned(hint.map(ms)), None, &situation);
            assert_eq!(decided, expected, "{hint:?} {left:?}");
            if let (Ok((_, high)), Some(left)) = (expected, left) {
                let fitted = decide(&returned(hint.map(ms)).unwrap(), None, &situation);
                assert_eq!(fitted.unwrap().1, high == ms(left), "{hint:?} {left:?}");
            }
        }
    }

    /// Only a deadline, what must not be retried, and a call inside that was stopped end it.
    #[test]
    fn with_unlimited_attempts_a_refusal_is_a_long_wait() {
        let unlimited = Situation {
            unlimited: Some((ms(0), ms(500))),
            ..situation(None)
        };
        let off = Situation {
            is_enabled: false,
            ..unlimited
        };
        let long = Ok((ms(0), ms(500)));
        for failure in [returned(None), TIMED_OUT] {
            for refusal in [Outcome::Budget, Outcome::HintTooLong] {
                assert_eq!(decided(failure, Some(refusal), &unlimited), long);
            }
            assert_eq!(decided(failure, None, &off), long);
            for refusal in [Outcome::Cancelled, Outcome::Deadline] {
                assert_eq!(decided(failure, Some(refusal), &unlimited), Err(refusal));
            }
        }
        // A hint above the longest counts as that, and a wait is never shorter than the hint.
        let hinted = returned(Some(ms(5_000)));
        assert_eq!(decided(hinted, None, &unlimited), Ok((ms(1000), ms(1100))));
        assert_eq!(decided(hinted, None, &off), Ok((ms(1000), ms(1250))));
        let short = returned(Some(ms(200)));
        assert_eq!(decided(short, None, &off), Ok((ms(200), ms(500))));
        let late = Situation {
            time: Some((ms(0), ms(0))),
            ..off
        };
        let was_cut = Situation {
            was_cut: true,
            ..situation(Some(9_000))
        };
        for ends in [late, was_cut] {
            assert_eq!(decided(returned(None), None, &ends), Err(Outcome::Deadline));
        }
    }

    #[test]
    fn an_exact_delay_is_not_drawn() {
        let ruling = Ruling::retry(Assessment::new(Verdict::Transient));
        let exact = Repeatable::after(ruling.exactly(Some(ms(40))));
        assert_eq!(decided(exact, None, &situation(None)), Ok((ms(40), ms(40))));
    }
}
