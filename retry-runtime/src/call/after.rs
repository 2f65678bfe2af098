//! What follows an attempt: the end of the call, or a wait.

use std::fmt::Display;
use std::time::Duration;

use super::attempt::Cut;
use super::decide::{Cause, Situation, decide, held_back};
use super::events::FailedWith;
use super::settle::{FAILED_VALUE, Said};
use super::timers::{Next, NextAttemptAt};
use super::{State, own_attempts};
use crate::budget::{Charge, Request};
use crate::classify::{AskedDelay, Assessment, Ruling, Verdict};
use crate::clock::Stamp;
use crate::context::{Bodies, Phase, outer};
use crate::metrics::Attempted;
use crate::report::{Hedge, PreviousFailure};
use crate::stopped::{Outcome, Stopped};

impl<'p> State<'p> {
    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, unless another body still
    /// runs, or the outcome of the call.
    #[inline(never)]
    pub(crate) fn fail(
        &self,
        ruling: Ruling,
        words: &dyn Display,
    ) -> Result<NextAttemptAt<'p>, Outcome> {
        let ruling = match self.settings.idempotent {
            None => ruling,
            Some(true) => ruling.also_unknown(),
            Some(false) => ruling.only_without_effect(),
        };
        // Of two, the other one may be in its commit.
        let alone = !matches!(self.frame.bodies.get(), Bodies::Both(_));
        let ruling = if alone && self.is_in_doubt() {
            Ruling::stop(Assessment::UNKNOWN)
        } else {
            ruling
        };
        let Assessment { verdict, hint } = ruling.assessment;
        if verdict == Verdict::Throttled {
            self.pause_others(hint);
        }
        let failed = FailedWith { verdict, words };
        if let Bodies::Both(which) = self.frame.bodies.get() {
            if ruling.retry && !self.is_signalled() {
                self.set_aside(failed, ruling.hint(), which.other());
                return Ok(self.next(Next::Other));
            }
        }
        self.fail_attempt(PreviousFailure::Failed(verdict), failed);
        self.wait_or_end(Cause::Returned(ruling), failed)
    }

    /// Whether a commit of the attempt may have taken effect, and must not be repeated, whatever the rules say.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.settings.idempotent != Some(true) && self.frame.has_open_commit()
    }

    /// Reports such a commit to the outer attempt.
    pub(super) fn share_open_commits(&self) {
        if self.is_in_doubt() {
            self.frame.share_open_commits();
        }
    }

    /// Decides what follows an attempt that returned an `Ok` that means failure.
    pub(crate) fn fail_with_value(&self) -> Result<NextAttemptAt<'p>, Outcome> {
        let ruling = Ruling::failed_value(Verdict::Transient, self.delay_said());
        self.fail(ruling, &FAILED_VALUE)
    }

    /// Keeps the delay that `retry_after` or an `Ok` says about the attempt that ended.
    #[inline]
    pub(crate) fn say_delay(&self, delay: Option<Duration>) {
        if delay.is_some() {
            self.frame.rest().noted().waits.asked = delay;
        }
    }

    /// Returns the delay that `retry_after` or an `Ok` says about the attempt that ended.
    pub(super) fn delay_said(&self) -> Option<Duration> {
        self.frame.if_rest()?.noted().waits.asked.take()
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or the end of the call.
    ///
    /// `unless` may have said something about it.
    #[inline(never)]
    pub(super) fn cut(&self, cut: Cut, said: Said) -> Result<NextAttemptAt<'p>, Stopped> {
        let verdict = self.verdict_of_cut();
        let cause = match cut {
            Cut::Timeout => Cause::TimedOut {
                may_repeat: said != Said::Vetoed
                    && self.settings.idempotent != Some(false)
                    && !self.is_in_doubt(),
            },
            Cut::Deadline => Cause::OutOfTime,
            Cut::NotReady => {
                let ruling = Ruling::failed_value(verdict, self.delay_said());
                return self.fail(ruling, &cut).map_err(|outcome| Stopped {
                    not_ready: true,
                    ..self.stopped(outcome)
                });
            }
            Cut::Late | Cut::Paused | Cut::Cancelled => return Err(self.cut_between(cut)),
        };
        let failed = FailedWith {
            verdict,
            words: &cut,
        };
        self.fail_attempt(PreviousFailure::TimedOut, failed);
        self.wait_or_end(cause, failed)
            .map_err(|outcome| self.stopped(outcome))
    }

    /// Ends an attempt that failed.
    fn fail_attempt(&self, how: PreviousFailure, failed: FailedWith<'_>) {
        self.frame.previous.set(Some(how));
        if let Some(rest) = self.frame.if_rest() {
            let mut noted = rest.noted();
            noted.in_doubt |= noted.keyed && how.may_still_run();
        }
        self.end_attempt(Attempted::Failed(failed.verdict), Some(failed.words));
    }

    /// Ends an attempt. `words` are its error, if it failed. Returns what the budget has charged for it.
    pub(super) fn end_attempt(
        &self,
        how: Attempted,
        words: Option<&dyn Display>,
    ) -> Option<Charge> {
        let frame = &self.frame;
        // The phase changes first: if an observer panics, the attempt is not counted again.
        let phase = frame.phase.replace(Phase::Between(None));
        self.on_body_ended(how, words);
        if let Bodies::Both(which) = frame.bodies.get() {
            // Dropped with the attempt.
            frame.bodies.set(Bodies::Rest(which.other()));
            self.on_body_ended(Attempted::Unfinished, None);
            frame.bodies.set(Bodies::Rest(which));
        }
        match phase {
            Phase::Attempt(spent) => spent,
            _ => None,
        }
    }

    /// Decides, and then waits or ends the call.
    fn wait_or_end(
        &self,
        cause: Cause,
        failed: FailedWith<'_>,
    ) -> Result<NextAttemptAt<'p>, Outcome> {
        let frame = &self.frame;
        let decided = cause.may_retry().and_then(|mut retry| {
            if !matches!(frame.bodies.replace(Bodies::One), Bodies::One) {
                retry.hint = self.join_aside(retry.hint);
            }
            let now = Stamp::now();
            frame.start(|| now);
            let situation = self.situation(now, retry.hint);
            let mut range = decide(&retry, frame.refusal.get(), &situation)?;
            let mut permit = self.take_permit(now);
            if permit.is_none() {
                range = held_back(&retry, &situation, Outcome::Budget)?;
                // What comes without a permit gives nothing back.
                permit = Some(Charge::Free);
            }
            frame.phase.set(Phase::Between(permit));
            frame.refusal.set(None);
            if let Some(rest) = frame.if_rest() {
                rest.noted().go_on();
            }
            Ok(self.start_wait(range, now, Some(failed)))
        });
        decided.inspect_err(|outcome| self.give_up(*outcome, failed))
    }

    /// What the decision about another attempt depends on.
    fn situation(&self, now: Stamp, hint: Option<AskedDelay>) -> Situation {
        let (frame, settings) = (&self.frame, self.settings);
        let own = own_attempts(settings, self.scope());
        let allowed = outer(|outer| self.allowed_within(outer, own)).unwrap_or(own);
        let last = frame.if_rest().and_then(|rest| rest.noted().waits.last);
        let throttled = frame.previous.get() == Some(PreviousFailure::Failed(Verdict::Throttled));
        let attempts = frame.attempts_in_a_row();
        let retries = attempts.saturating_sub(1);
        Situation {
            is_exhausted: attempts >= allowed,
            is_enabled: self.is_enabled(),
            max_retry_after: settings.policy.max_retry_after(),
            delays: if throttled && hint.is_none() {
                settings.throttled_delay_range(retries, last)
            } else {
                settings.delay_range(retries, last)
            },
            unlimited: (allowed == u32::MAX).then(|| settings.longest_delay_range()),
            time: frame.times.get().to_deadline(now),
        }
    }

    /// Takes a permit for the next retry. Returns what the budget charges for it, or `None` if it refuses.
    fn take_permit(&self, now: Stamp) -> Option<Charge> {
        let frame = &self.frame;
        let (Some(previous), Some(budget)) = (frame.previous.get(), self.budget()) else {
            return Some(Charge::Free);
        };
        let (mut number, mut progressed) = (frame.number(), 0);
        if let Some(rest) = frame.if_rest() {
            let noted = rest.noted();
            number -= u32::from(noted.hedging.hedge == Some(Hedge::Lost));
            progressed = noted.progressed;
        }
        let mut request = Request {
            charge: Charge::after(previous),
            number,
            had_begun: budget.had_begun(frame.faults.get()),
            // A wait counts as pending.
            at_once: !frame.was_pending.get() && frame.number() == 1,
        };
        if progressed == frame.number() {
            // A retry after progress restarts the count of attempts, so it has to cost something.
            request.charge = request.charge.max(Charge::Failure);
            request.had_begun = false;
        }
        budget.take(request, now)
    }
}
