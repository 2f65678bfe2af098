//! What follows an attempt: the end of the call, or a wait.

use std::fmt::Display;
use std::time::Duration;

use super::State;
use super::cut::Cut;
use super::decide::{Cause, Situation, decide};
use super::timers::Until;
use crate::budget::{Charge, Request};
use crate::classify::{Ruling, Verdict};
use crate::clock::{Instant, Stamp};
use crate::context::{self, Notes, Phase, Previous, Refusal, around};
use crate::event::RetryEvent;
use crate::fit::DelayRange;
use crate::jitter::Jitter;
use crate::metrics::Attempted;
use crate::report::Hedge;
use crate::stopped::{CutCommit, Outcome, Stopped};
use crate::switch;
use crate::trace::{Event, FailedWith};

impl State<'_> {
    /// Ends a call that succeeded.
    #[inline]
    pub(crate) fn succeeded(&self) {
        if self.frame.has_notes() {
            return self.succeeded_late();
        }
        if !self.settings.word.is_at_rest() {
            self.credit();
        }
        self.frame.succeed_at_once();
    }

    /// Adds to the budget for a call that succeeded at once.
    #[cold]
    fn credit(&self) {
        if let Some(budget) = self.settings.budget() {
            budget.succeed(None, Stamp::now);
        }
    }

    #[inline(never)]
    fn succeeded_late(&self) {
        let frame = &self.frame;
        let previous = frame.previous.get();
        let last_retry = frame.permit.get();
        self.attempt_ends(None);
        self.with_budget(|budget| budget.succeed(last_retry, Stamp::now));
        if context::is_within() {
            // Its own retries have not failed.
            self.hand_on_with(0);
        }
        match previous {
            Some(_) => self.call_ends(Outcome::SuccessAfterRetry, Some(Event::Succeeded)),
            None => self.call_ends(Outcome::Success, None),
        }
    }

    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, or `None`
    /// if the call ends. `erred` says that the body returned an error, and not an `Ok` that means failure.
    #[inline(never)]
    pub(crate) fn failed(&self, ruling: Ruling, words: &dyn Display, erred: bool) -> Option<Until> {
        let ruling = self.if_idempotent(ruling);
        let verdict = ruling.said.verdict;
        if verdict == Verdict::Throttled {
            self.pause_others(ruling.said.hint);
        }
        let words = if erred && self.settings.sensitive {
            &"(sensitive)"
        } else {
            words
        };
        let failed = FailedWith { verdict, words };
        self.frame.fail(Previous::Failed(verdict), erred);
        self.attempt_ends(Some(failed));
        self.wait_or_end(Cause::Returned(ruling), failed).ok()
    }

    /// Decides what follows an attempt that returned an `Ok` that means failure.
    pub(crate) fn failed_value(&self) -> Option<Until> {
        let words = &"an `Ok` that means failure";
        self.failed(Ruling::failed_value(), words, false)
    }

    /// With `idempotent = false`, allows only retries after an attempt without effect.
    fn if_idempotent(&self, ruling: Ruling) -> Ruling {
        if self.settings.idempotent {
            ruling
        } else {
            ruling.only_without_effect()
        }
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or why the call ends.
    ///
    /// `vetoed` says that `unless` or `not_on` forbids another attempt.
    #[inline(never)]
    pub(crate) fn cut(&self, cut: Cut, vetoed: bool) -> Result<Until, Ending> {
        let verdict = self.verdict_of_cut();
        let (previous, cause) = match cut {
            Cut::Timeout => {
                let may_repeat =
                    !vetoed && self.settings.idempotent && !self.frame.has_open_commit();
                let hint = None;
                (Previous::TimedOut, Cause::TimedOut { may_repeat, hint })
            }
            Cut::NotReady => {
                let ruling = self.if_idempotent(Ruling::failed_value());
                (Previous::Failed(verdict), Cause::Returned(ruling))
            }
            Cut::Deadline => (Previous::TimedOut, Cause::OutOfTime),
            Cut::Late | Cut::Paused | Cut::Cancelled => return Err(self.cut_between(cut)),
        };
        let failed = FailedWith {
            verdict,
            words: &cut,
        };
        self.frame.fail(previous, false);
        self.attempt_ends(Some(failed));
        self.wait_or_end(cause, failed).map_err(|outcome| {
            let mut ending = self.ending(outcome, false);
            ending.stopped.not_ready = cut == Cut::NotReady;
            ending
        })
    }

    /// Ends a call that is cut while it makes no attempt, or cancelled.
    #[inline(never)]
    pub(crate) fn cut_between(&self, cut: Cut) -> Ending {
        if self.frame.end_before_first() {
            self.look_for_recorder();
        } else if self.frame.phase.get() == Phase::Attempt {
            self.count(Attempted::Unfinished);
        }
        let outcome = match cut {
            Cut::Paused => Outcome::Paused,
            Cut::Cancelled => Outcome::Cancelled,
            _ => Outcome::Deadline,
        };
        let verdict = self.verdict_of_cut();
        let words = &cut;
        self.end(outcome, FailedWith { verdict, words });
        self.ending(outcome, matches!(cut, Cut::Late | Cut::Paused))
    }

    /// Takes the result of `before_retry`. If it failed, the call ends, and a retry that was refused in it is also
    /// refused to the calls around. Otherwise that refusal is forgotten.
    #[inline(never)]
    pub(super) fn prepared(&self, failed: bool) {
        if failed {
            let verdict = Verdict::Unknown;
            let words = &"`before_retry` failed";
            self.end(Outcome::NotRetryable, FailedWith { verdict, words });
        } else {
            self.frame.refuse(None);
        }
    }

    /// Decides, and then waits or ends the call.
    fn wait_or_end(&self, cause: Cause, failed: FailedWith<'_>) -> Result<Until, Outcome> {
        match decide(cause, self.frame.refusal(), self) {
            Ok((range, now)) => {
                self.frame.go_on();
                let until = self.wait_begins(&range, now, Some(failed));
                self.hand_on_untold();
                Ok(until)
            }
            Err(Some(outcome)) => {
                self.end(outcome, failed);
                Err(outcome)
            }
            Err(None) => self.wait_or_end_one_of_two(cause, failed),
        }
    }

    /// Decides what follows one of two attempts. While the other runs, that is nothing.
    #[cold]
    #[inline(never)]
    fn wait_or_end_one_of_two(
        &self,
        cause: Cause,
        failed: FailedWith<'_>,
    ) -> Result<Until, Outcome> {
        let hint = match cause {
            Cause::Returned(ruling) => ruling.said.hint,
            Cause::TimedOut { .. } | Cause::OutOfTime => None,
        };
        if self.frame.is_beside() {
            self.frame.set_aside(hint);
            self.log(Event::SetAside(failed));
            return Ok(Until(None));
        }
        let hint = self.frame.join_aside(hint);
        let joined = match cause {
            Cause::Returned(ruling) => Cause::Returned(ruling.with_hint(hint)),
            Cause::TimedOut { may_repeat, .. } => Cause::TimedOut { may_repeat, hint },
            Cause::OutOfTime => cause,
        };
        self.wait_or_end(joined, failed)
    }

    /// Ends a call that failed, and its retries with it.
    #[cold]
    fn end(&self, outcome: Outcome, failed: FailedWith<'_>) {
        let frame = &self.frame;
        self.give_back();
        // If a call inside was refused, the event of that call names the budget.
        let refused = outcome == Outcome::Budget && frame.refusal().is_none();
        let budget = refused.then(|| self.settings.budget()).flatten();
        // A subscriber may make calls of its own, which make the call around forget a refusal.
        self.call_ends(outcome, Some(Event::GaveUp(failed, outcome, budget)));
        if let Some(refusal) = Refusal::of(outcome).or(frame.refusal()) {
            self.refuse_around(refusal);
        }
        self.hand_on();
    }

    /// The verdict of an attempt that is cut now. If a commit is cut, nobody knows whether it took effect.
    pub(super) fn verdict_of_cut(&self) -> Verdict {
        if self.frame.has_open_commit() {
            Verdict::Unknown
        } else {
            Verdict::Transient
        }
    }

    /// Returns the end of a call that was stopped. `late` says that the deadline was reached between attempts.
    fn ending(&self, outcome: Outcome, late: bool) -> Ending {
        Ending {
            stopped: self.stopped(outcome),
            error_stands: late && self.frame.has(Notes::ERRED),
        }
    }

    /// Returns the `Stopped` that the caller gets.
    #[inline(never)]
    pub(super) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let inherited = self.frame.deadline.get() != self.settings.deadline;
        let limit = match outcome {
            Outcome::Timeout => self.settings.policy.timeout(),
            // An inherited deadline has no length of its own.
            Outcome::Deadline => {
                (self.settings.policy.deadline()).filter(|own| !inherited || elapsed >= *own)
            }
            Outcome::Paused => self.settings.policy.deadline(),
            _ => None,
        };
        let cut = self.frame.has_open_commit();
        Stopped {
            outcome,
            attempts: self.frame.number.get(),
            elapsed,
            limit,
            not_ready: false,
            source: cut.then(|| CutCommit::default().into()),
        }
    }

    /// Returns the event for `on_retry`.
    pub(crate) fn event<'a, E>(&self, error: Option<&'a E>) -> RetryEvent<'a, E> {
        let frame = &self.frame;
        RetryEvent {
            function: self.settings.name,
            attempt: frame.number.get(),
            attempts: self.frame.attempts_allowed(),
            verdict: frame
                .previous
                .get()
                .map_or(Verdict::Transient, Previous::verdict),
            delay: frame.cold().noted().delay.unwrap_or_default(),
            elapsed: self.elapsed().unwrap_or_default(),
            error,
        }
    }
}

/// Why a call was stopped.
#[derive(Debug)]
pub struct Ending {
    pub(crate) stopped: Stopped,
    /// Whether the caller gets the error of the last attempt, in place of a `Stopped`.
    pub(crate) error_stands: bool,
}

/// The situation of a call whose attempt failed.
impl Situation for State<'_> {
    type Now = (Instant, Stamp);

    fn is_exhausted(&self) -> bool {
        let own = self.settings.attempts;
        let scope = self.attempts_in_test_scope();
        let own = scope.map_or(own, |most| most.min(own));
        let allowed = around(|outer| self.allowed_within(outer, own)).unwrap_or(own);
        self.frame.attempts_in_a_row() >= allowed
    }

    /// In the test scope of the call, or outside.
    fn is_enabled(&self) -> bool {
        self.with_test_scope(|own| own.enabled().is_on())
            .unwrap_or_else(switch::is_enabled_outside)
    }

    fn max_retry_after(&self) -> Duration {
        self.settings.policy.max_retry_after()
    }

    fn delays(&self, hinted: bool) -> DelayRange {
        let (frame, settings) = (&self.frame, self.settings);
        let last = match settings.policy.jitter() {
            Jitter::Decorrelated => frame.if_cold().and_then(|cold| cold.noted().delay),
            _ => None,
        };
        let throttled = frame.previous.get() == Some(Previous::Failed(Verdict::Throttled));
        settings.delay_range(frame.attempts_in_a_row() - 1, last, throttled && !hinted)
    }

    /// Starts the time of the call: a `Stopped` may say how long it took.
    fn within_deadline(&self, range: DelayRange) -> Option<(DelayRange, Self::Now)> {
        let now = Instant::now();
        let stamp = Stamp::of(now);
        self.frame.start(stamp);
        let range = self.frame.within_deadline(range, stamp)?;
        Some((range, (now, stamp)))
    }

    fn take_permit(&self, (_, now): Self::Now) -> bool {
        let frame = &self.frame;
        let Some(charge) = frame.previous.get().map(Previous::charge) else {
            return true;
        };
        let hedges = u32::from(frame.hedge(false) == Some(Hedge::Lost));
        // What begins the count of attempts anew has no end otherwise.
        let progressed = frame.has_progressed();
        let request = Request {
            charge: if progressed {
                charge.max(Charge::Failure)
            } else {
                charge
            },
            number: frame.number.get() - hedges,
            had_begun: !progressed && !frame.has(Notes::BEGAN_IN_FAULT),
            at_once: frame.was_never_pending(),
        };
        let permit = self.with_budget(|budget| budget.take(request, now));
        permit.is_none_or(|permit| frame.take_permit(permit))
    }
}
