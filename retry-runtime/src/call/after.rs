//! What follows an attempt: the end of the call, or a wait.

use std::fmt::Display;
use std::time::Duration;

use super::attempt::Cut;
use super::decide::{Cause, Situation, decide, held_back};
use super::events::{Event, FailedWith};
use super::settle::{FAILED_VALUE, Said};
use super::timers::{Next, NextAttemptAt};
use super::{State, own_attempts};
use crate::budget::{Charge, Request};
use crate::classify::{Assessment, Ruling, Verdict};
use crate::clock::Stamp;
use crate::context::{Bodies, Phase, outer};
use crate::event::RetryEvent;
use crate::metrics::Attempted;
use crate::report::{Hedge, Previous, Which};
use crate::stopped::{CutCommit, Outcome, Stopped};

impl<'p> State<'p> {
    /// Ends a call that succeeded.
    pub(crate) fn succeed(&self) {
        let frame = &self.frame;
        // Most calls succeed at once, and are not observed.
        let is_known = self.observed || frame.if_rest().is_some() || frame.number.get() > 1;
        let budget = self.budget();
        if !is_known && budget.is_none_or(|budget| budget.cell.is_at_rest()) {
            frame.phase.set(Phase::Closed);
            return;
        }
        let spent = self.end_attempt(Attempted::Succeeded, None);
        if let Some(budget) = budget {
            budget.succeed(spent, Stamp::now);
        }
        // Its own retries have not failed.
        self.forget_retries();
        let outcome = match frame.previous.get() {
            Some(_) => Outcome::SuccessAfterRetry,
            None => Outcome::Success,
        };
        if outcome == Outcome::SuccessAfterRetry {
            self.log(Event::Succeeded);
        }
        self.end(outcome);
    }

    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, unless another body still
    /// runs, or the outcome of the call.
    #[inline(never)]
    pub(crate) fn fail(
        &self,
        ruling: Ruling,
        words: &dyn Display,
    ) -> Result<NextAttemptAt<'p>, Outcome> {
        // With `idempotent = false`, only an attempt without effect is repeated.
        let ruling = if self.settings.idempotent {
            ruling
        } else {
            ruling.only_without_effect()
        };
        let Assessment { verdict, hint } = ruling.assessment;
        if verdict == Verdict::Throttled {
            self.pause_others(hint);
        }
        let failed = FailedWith { verdict, words };
        let beside = self.frame.bodies.get().other();
        if let Some(other) = beside.filter(|_| ruling.retry && !self.is_signalled()) {
            self.set_aside(failed, hint, other);
            return Ok(self.next(Next::Other));
        }
        self.fail_attempt(Previous::Failed(verdict), failed);
        self.wait_or_end(Cause::Returned(ruling), failed)
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
            self.frame.rest().noted().after = delay;
        }
    }

    /// Returns the delay that `retry_after` or an `Ok` says about the attempt that ended.
    pub(super) fn delay_said(&self) -> Option<Duration> {
        self.frame.if_rest()?.noted().after.take()
    }

    /// Sets the failure of one of two aside, because the other may succeed.
    fn set_aside(&self, failed: FailedWith<'_>, hint: Option<Duration>, other: Which) {
        let frame = &self.frame;
        self.on_body_ended(Attempted::Failed(failed.verdict), Some(failed.words));
        let failure = Previous::Failed(failed.verdict);
        frame.previous.set(Some(failure));
        frame.rest().noted().aside = Some((failure, hint, frame.refusal.take()));
        self.log(Event::SetAside(failed));
        // A limit may cut the other before its next poll.
        frame.bodies.set(Bodies::Rest(other));
    }

    /// Takes the failure that was set aside into that of the attempt: the more expensive one is the last one, and the larger hint counts.
    fn join_aside(&self, hint: Option<Duration>) -> Option<Duration> {
        let frame = &self.frame;
        let aside = frame.if_rest().and_then(|rest| rest.noted().aside.take());
        let Some((failure, other_hint, refusal)) = aside else {
            return hint;
        };
        frame.refusal.set(frame.refusal.get().or(refusal));
        let last = frame.previous.get();
        let dearer = last.filter(|last| Charge::after(*last) >= Charge::after(failure));
        frame.previous.set(dearer.or(Some(failure)));
        hint.max(other_hint)
    }

    /// What became of the hedge, if the call wanted one. `succeeded` is whether the call did.
    pub(super) fn hedge(&self, succeeded: bool) -> Option<Hedge> {
        match self.frame.if_rest()?.noted().hedge {
            Some(Hedge::Lost) if succeeded && self.frame.which() == Which::Hedge => {
                Some(Hedge::Won)
            }
            hedge => hedge,
        }
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
                    && self.settings.idempotent
                    && !self.frame.has_open_commit(),
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
        self.fail_attempt(Previous::TimedOut, failed);
        self.wait_or_end(cause, failed)
            .map_err(|outcome| self.stopped(outcome))
    }

    /// Ends a call that is cut while it makes no attempt, or cancelled.
    #[inline(never)]
    pub(crate) fn cut_between(&self, cut: Cut) -> Stopped {
        self.frame.turn_to(Which::First);
        let outcome = match cut {
            Cut::Paused => Outcome::Paused,
            Cut::Cancelled => Outcome::Cancelled,
            _ => Outcome::Deadline,
        };
        let verdict = self.verdict_of_cut();
        let words = &cut;
        self.give_up(outcome, FailedWith { verdict, words });
        self.stopped(outcome)
    }

    /// Ends a call whose `before_retry` failed. A retry that was refused in it is also refused to the outer calls.
    pub(super) fn fail_preparation(&self) {
        let verdict = Verdict::Unknown;
        let words = &"`before_retry` failed";
        self.give_up(Outcome::NotRetryable, FailedWith { verdict, words });
    }

    /// Ends an attempt that failed.
    fn fail_attempt(&self, how: Previous, failed: FailedWith<'_>) {
        self.frame.previous.set(Some(how));
        if let Some(rest) = self.frame.if_rest() {
            let mut noted = rest.noted();
            noted.in_doubt |= noted.keyed && how.may_still_run();
        }
        self.end_attempt(Attempted::Failed(failed.verdict), Some(failed.words));
    }

    /// Ends an attempt. `words` are its error, if it failed. Returns what the budget has charged for it.
    fn end_attempt(&self, how: Attempted, words: Option<&dyn Display>) -> Option<Charge> {
        let frame = &self.frame;
        // The phase changes first: if an observer panics, the attempt is not counted again.
        let phase = frame.phase.replace(Phase::Between(None));
        let bodies = frame.bodies.get();
        self.on_body_ended(how, words);
        if let Some(other) = bodies.other() {
            // Dropped with the attempt.
            frame.bodies.set(Bodies::Rest(other));
            self.on_body_ended(Attempted::Unfinished, None);
            frame.bodies.set(bodies.end());
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
            retry.hint = self.join_aside(retry.hint);
            frame.bodies.set(Bodies::One);
            let now = Stamp::now();
            frame.started.set(frame.started.get().or(Some(now)));
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
            // After the signal no attempt follows, and what was cut here may have committed.
            if let Some(rest) = frame.if_rest().filter(|_| !self.is_signalled()) {
                rest.noted().go_on();
            }
            Ok(self.start_wait(&range, now, Some(failed)))
        });
        decided.inspect_err(|outcome| self.give_up(*outcome, failed))
    }

    /// What the decision about another attempt depends on.
    fn situation(&self, now: Stamp, hint: Option<Duration>) -> Situation {
        let (frame, settings) = (&self.frame, self.settings);
        let own = own_attempts(settings, self.scope.as_deref());
        let allowed = outer(|outer| self.allowed_within(outer, own)).unwrap_or(own);
        let last = frame.if_rest().and_then(|rest| rest.noted().delay);
        let throttled = frame.previous.get() == Some(Previous::Failed(Verdict::Throttled));
        Situation {
            is_exhausted: frame.attempts_in_a_row() >= allowed,
            is_enabled: self.is_enabled(),
            max_retry_after: settings.policy.max_retry_after(),
            delays: settings.delay_range(
                frame.retries_in_a_row(),
                last,
                throttled && hint.is_none(),
            ),
            unlimited: (allowed == u32::MAX).then(|| settings.longest_delay_range()),
            time: frame.time_to_deadline(now),
        }
    }

    /// Takes a permit for the next retry. Returns what the budget charges for it, or `None` if it refuses.
    fn take_permit(&self, now: Stamp) -> Option<Charge> {
        let frame = &self.frame;
        let (Some(previous), Some(budget)) = (frame.previous.get(), self.budget()) else {
            return Some(Charge::Free);
        };
        let hedges = u32::from(self.hedge(false) == Some(Hedge::Lost));
        let mut request = Request {
            charge: Charge::after(previous),
            number: frame.number.get() - hedges,
            had_begun: budget.had_begun(frame.faults.get()),
            at_once: !frame.was_pending.get(),
        };
        if frame.progressed() == frame.number.get() {
            // A retry after progress restarts the count of attempts, so it has to cost something.
            request.charge = request.charge.max(Charge::Failure);
            request.had_begun = false;
        }
        budget.take(request, now)
    }

    /// Ends a call that failed, and its retries with it.
    #[cold]
    fn give_up(&self, outcome: Outcome, failed: FailedWith<'_>) {
        let frame = &self.frame;
        // If a call inside was refused, the event of that call names the budget.
        let refused = outcome == Outcome::Budget && frame.refusal.get().is_none();
        let budget = refused.then(|| self.budget()).flatten();
        // A subscriber may make calls of its own, which make the outer call forget a refusal.
        self.log(Event::GaveUp(failed, outcome, budget));
        self.end(outcome);
        self.refuse_around(outcome);
        self.note_retries();
    }

    /// The verdict of an attempt that is cut now. If a commit is cut, it may have taken effect.
    pub(super) fn verdict_of_cut(&self) -> Verdict {
        if self.frame.has_open_commit() {
            Verdict::Unknown
        } else {
            Verdict::Transient
        }
    }

    /// Returns the `Stopped` that the caller gets.
    #[inline(never)]
    pub(super) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let own = (self.frame.started.get())
            .map(|started| started.after(self.settings.policy.deadline()));
        let inherited = own != Some(self.frame.limits.get().deadline);
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
    pub(crate) fn event<'a, E>(
        &self,
        error: Option<&'a E>,
        words: &'a dyn Display,
    ) -> RetryEvent<'a, E> {
        let frame = &self.frame;
        RetryEvent {
            function: self.settings.name,
            attempt: frame.number.get(),
            attempts: self.frame.attempts_allowed(),
            verdict: frame
                .previous
                .get()
                .map_or(Verdict::Transient, Previous::verdict),
            delay: (frame.if_rest().and_then(|rest| rest.noted().delay)).unwrap_or_default(),
            elapsed: self.elapsed().unwrap_or_default(),
            error,
            words,
        }
    }

    /// Returns what stands for the words of an error. The text of one that is sensitive is not for observers.
    pub(super) fn shown<'w>(&self, words: &'w dyn Display) -> &'w dyn Display {
        if self.settings.sensitive {
            &"(sensitive)"
        } else {
            words
        }
    }
}
