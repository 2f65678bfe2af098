//! What follows an attempt: the end of the call, or a wait.

use std::fmt::Display;
use std::time::Duration;

use super::State;
use super::attempt::Cut;
use super::decide::{Cause, Situation, decide, held_back};
use super::events::{Event, FailedWith};
use super::timers::NextAttemptAt;
use crate::budget::{Charge, Request};
use crate::classify::{Assessment, Ruling, Verdict};
use crate::clock::Stamp;
use crate::context::{Phase, Previous, outer};
use crate::event::RetryEvent;
use crate::metrics::Attempted;
use crate::report::{Hedge, Which};
use crate::stopped::{CutCommit, Outcome, Stopped};

/// What stands for the error of an attempt that returned none.
pub(crate) const FAILED_VALUE: &str = "an `Ok` that means failure";

impl<'p> State<'p> {
    /// Ends a call that succeeded.
    pub(crate) fn succeeded(&self) {
        let frame = &self.frame;
        // Most calls succeed at once, and are not observed.
        let is_known = frame.observed.get() || frame.if_rest().is_some() || frame.number.get() > 1;
        let budget = self.settings.budget();
        if !is_known && budget.is_none_or(|budget| budget.cell.is_at_rest()) {
            frame.phase.set(Phase::Closed);
            return;
        }
        let last_retry = frame.permit.get();
        self.end_attempt(Attempted::Succeeded, None);
        if let Some(budget) = self.budget() {
            budget.succeed(last_retry, Stamp::now);
        }
        // Its own retries have not failed.
        self.note_retries(0);
        match frame.previous.get() {
            Some(_) => {
                self.log(Event::Succeeded);
                self.end_call(Outcome::SuccessAfterRetry);
            }
            None => self.end_call(Outcome::Success),
        }
    }

    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, or the outcome of the
    /// call. `erred` says that the body returned an error, and not an `Ok` that means failure.
    #[inline(never)]
    pub(crate) fn failed(
        &self,
        ruling: Ruling,
        words: &dyn Display,
        erred: bool,
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
        let words = self.shown(words, erred);
        let failed = FailedWith { verdict, words };
        if self.frame.beside.get() && ruling.retry && !self.is_signalled() {
            self.set_aside(failed, hint);
            return Ok(self.next(None));
        }
        self.attempt_fails(Previous::Failed(verdict), erred, failed);
        self.wait_or_end(Cause::Returned(ruling), failed)
    }

    /// Decides what follows an attempt that returned an `Ok` that means failure.
    pub(crate) fn failed_value(&self) -> Result<NextAttemptAt<'p>, Outcome> {
        let ruling = Ruling::failed_value(Verdict::Transient, self.delay_said());
        self.failed(ruling, &FAILED_VALUE, false)
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
    fn set_aside(&self, failed: FailedWith<'_>, hint: Option<Duration>) {
        let frame = &self.frame;
        self.body_ends(Attempted::Failed(failed.verdict), Some(failed.words));
        let refusal = frame.refusal.take();
        frame.beside.set(false);
        let failure = Previous::Failed(failed.verdict);
        frame.previous.set(Some(failure));
        frame.rest().noted().aside = Some((failure, hint, refusal));
        self.log(Event::SetAside(failed));
        // A limit may cut the other before its next poll.
        frame.turn_to(frame.which.get().other());
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or the end of the call.
    ///
    /// `vetoed` says that `unless` forbids another attempt.
    #[inline(never)]
    pub(crate) fn cut(&self, cut: Cut, vetoed: bool) -> Result<NextAttemptAt<'p>, Stopped> {
        let verdict = self.verdict_of_cut();
        let cause = match cut {
            Cut::Timeout => Cause::TimedOut {
                may_repeat: !vetoed && self.settings.idempotent && !self.frame.has_open_commit(),
            },
            Cut::Deadline => Cause::OutOfTime,
            Cut::NotReady => {
                let ruling = Ruling::failed_value(verdict, self.delay_said());
                return self.failed(ruling, &cut, false).map_err(|outcome| Stopped {
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
        self.attempt_fails(Previous::TimedOut, false, failed);
        self.wait_or_end(cause, failed)
            .map_err(|outcome| self.stopped(outcome))
    }

    /// Ends a call that is cut while it makes no attempt, or cancelled.
    #[inline(never)]
    pub(crate) fn cut_between(&self, cut: Cut) -> Stopped {
        match self.frame.phase.get() {
            Phase::New => self.enter_test_scope(),
            Phase::Attempt => self.count(Attempted::Unfinished),
            _ => {}
        }
        self.frame.cut_the_first();
        let outcome = match cut {
            Cut::Paused => Outcome::Paused,
            Cut::Cancelled => Outcome::Cancelled,
            _ => Outcome::Deadline,
        };
        let verdict = self.verdict_of_cut();
        let words = &cut;
        self.end(outcome, FailedWith { verdict, words });
        self.stopped(outcome)
    }

    /// Takes the result of `before_retry`. If it failed, the call ends, and a retry that was refused in it is also
    /// refused to the outer calls. Otherwise that refusal is forgotten.
    #[inline(never)]
    pub(super) fn prepared(&self, failed: bool) {
        self.leave_attempt();
        if failed {
            let verdict = Verdict::Unknown;
            let words = &"`before_retry` failed";
            self.end(Outcome::NotRetryable, FailedWith { verdict, words });
        } else {
            self.frame.refusal.set(None);
        }
    }

    /// Records how an attempt failed. `erred` says that its body returned an error.
    fn attempt_fails(&self, how: Previous, erred: bool, failed: FailedWith<'_>) {
        self.frame.previous.set(Some(how));
        self.frame.erred.set(erred);
        if let Some(rest) = self.frame.if_rest() {
            let mut noted = rest.noted();
            noted.in_doubt |= noted.keyed && how.may_still_run();
        }
        self.end_attempt(Attempted::Failed(failed.verdict), Some(failed.words));
    }

    /// Ends an attempt. `words` are its error, if it failed. The phase changes first: if anything panics later, the attempt is
    /// not counted again.
    fn end_attempt(&self, how: Attempted, words: Option<&dyn Display>) {
        let frame = &self.frame;
        frame.phase.set(Phase::Between);
        frame.permit.set(None);
        self.body_ends(how, words);
        if frame.beside.take() {
            // Dropped with the attempt.
            frame.turn_to(frame.which.get().other());
            self.body_ends(Attempted::Unfinished, None);
            frame.turn_to(frame.which.get().other());
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
            retry.hint = frame.join_aside(retry.hint);
            frame.present.set(frame.number.get());
            frame.which.set(Which::First);
            let now = Stamp::now();
            frame.started.set(frame.started.get().or(Some(now)));
            let situation = self.situation(now, retry.hint);
            let mut range = decide(&retry, frame.refusal.get(), &situation)?;
            if !self.take_permit(now) {
                range = held_back(&retry, &situation, Outcome::Budget)?;
                // What comes without a permit gives nothing back.
                frame.permit.set(Some(Charge::Free));
            }
            frame.refusal.set(None);
            // After the signal no attempt follows, and what was cut here may have committed.
            if let Some(rest) = frame.if_rest().filter(|_| !self.is_signalled()) {
                rest.noted().go_on();
            }
            Ok(self.begin_wait(&range, now, Some(failed)))
        });
        decided.inspect_err(|outcome| self.end(*outcome, failed))
    }

    /// What the decision about another attempt depends on.
    fn situation(&self, now: Stamp, hint: Option<Duration>) -> Situation {
        let (frame, settings) = (&self.frame, self.settings);
        let own = self.own_attempts();
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

    /// Takes a permit for the next retry. Returns `false` if the budget refuses it.
    fn take_permit(&self, now: Stamp) -> bool {
        let frame = &self.frame;
        let (Some(previous), Some(budget)) = (frame.previous.get(), self.budget()) else {
            return true;
        };
        let hedges = u32::from(frame.hedge(false) == Some(Hedge::Lost));
        let mut request = Request {
            charge: previous.charge(),
            number: frame.number.get() - hedges,
            had_begun: budget.had_begun(frame.faults.get()),
            at_once: !frame.was_pending.get(),
        };
        if frame.progressed() == frame.number.get() {
            // A retry after progress restarts the count of attempts, so it has to cost something.
            request.charge = request.charge.max(Charge::Failure);
            request.had_begun = false;
        }
        frame.permit.set(budget.take(request, now));
        frame.permit.get().is_some()
    }

    /// Ends a call that failed, and its retries with it.
    #[cold]
    fn end(&self, outcome: Outcome, failed: FailedWith<'_>) {
        let frame = &self.frame;
        self.give_back();
        // If a call inside was refused, the event of that call names the budget.
        let refused = outcome == Outcome::Budget && frame.refusal.get().is_none();
        let budget = refused.then(|| self.settings.budget()).flatten();
        // A subscriber may make calls of its own, which make the outer call forget a refusal.
        self.log(Event::GaveUp(failed, outcome, budget));
        self.end_call(outcome);
        self.refuse_around(outcome);
        self.note_retries(self.frame.retries_in_a_row());
    }

    /// The verdict of an attempt that is cut now. If a commit is cut, it may have taken effect.
    pub(super) fn verdict_of_cut(&self) -> Verdict {
        if self.frame.has_open_commit() {
            Verdict::Unknown
        } else {
            Verdict::Transient
        }
    }

    /// Whether the caller gets the error of the last attempt in place of a [`Stopped`]: no other attempt began in time.
    pub(super) fn error_stands(&self, cut: Cut) -> bool {
        matches!(cut, Cut::Late | Cut::Paused) && self.frame.erred.get()
    }

    /// Returns the `Stopped` that the caller gets.
    #[inline(never)]
    pub(super) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let own = (self.frame.started.get())
            .map(|started| started.after(self.settings.policy.deadline()));
        let inherited = own != Some(self.frame.deadline.get());
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
            words: self.shown(words, error.is_some()),
        }
    }

    /// Returns what stands for the words of a failure. The text of an error that is sensitive is not for observers.
    fn shown<'w>(&self, words: &'w dyn Display, erred: bool) -> &'w dyn Display {
        let is_shown = !(erred && self.settings.sensitive);
        if is_shown { words } else { &"(sensitive)" }
    }
}
