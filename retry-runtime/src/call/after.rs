//! What follows an attempt: a wait, or the end of the call, which also comes by a limit between attempts, and by a drop.

use std::fmt::Display;
use std::time::Duration;

use super::attempt::Cut;
use super::decide::{Repeatable, Situation, decide, held_back};
use super::events::{Event, FailedWith};
use super::settle::Said;
use super::timers::Next;
use super::{Call, State};
use crate::budget::{BudgetRef, Charge, Request};
use crate::classify::{AskedDelay, Assessment, Ruling, Verdict};
use crate::clock::Stamp;
use crate::context::{Bodies, Phase, outer};
use crate::listen::{is_listening, notify};
use crate::metrics::Attempted;
use crate::report::{Hedge, PreviousFailure, Which};
use crate::stopped::{CutCommit, Outcome, Stopped};

impl State<'_> {
    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, unless another body still
    /// runs, or the outcome of the call.
    #[inline(never)]
    pub(crate) fn fail(&self, ruling: Ruling, words: &dyn Display) -> Result<Next, Outcome> {
        // Of two, the other one may be in its commit.
        let frame = &self.frame;
        let alone = !matches!(frame.bodies.get(), Bodies::Both(_));
        let ruling = match self.settings.idempotent {
            _ if alone && self.is_in_doubt() => Ruling::stop(Assessment::UNKNOWN),
            Some(false) => ruling.only_without_effect(),
            _ => ruling,
        };
        let Ruling { verdict, hint, .. } = ruling;
        if verdict == Verdict::Throttled {
            self.pause_others(hint);
        }
        let failed = FailedWith { verdict, words };
        let how = PreviousFailure::Failed(verdict);
        if let Bodies::Both(which) = frame.bodies.get() {
            if ruling.retry && !self.is_signalled() {
                self.on_body_ended(Attempted::Failed(verdict), Some(words));
                frame.set_aside(how, ruling.hint());
                self.log(Event::SetAside(failed));
                // A limit may cut the other before its next poll.
                frame.bodies.set(Bodies::Rest(which.other()));
                return Ok(Next::Other);
            }
        }
        self.wait_or_end(how, Repeatable::after(ruling), failed)
    }

    /// Whether a commit of the attempt may have taken effect, and must not be repeated, whatever the rules say.
    #[inline]
    pub(super) fn is_in_doubt(&self) -> bool {
        self.settings.idempotent != Some(true) && self.frame.has_open_commit()
    }

    /// Reports such a commit to the outer attempt.
    pub(super) fn share_open_commits(&self) {
        if self.is_in_doubt() {
            // A call may be polled within its own carried attempt.
            let commits = self.frame.rest().noted().commits.clone();
            outer(|outer| outer.add_commits(&commits));
        }
    }

    /// Keeps the delay that `retry_after` or an `Ok` says about the attempt that ended.
    #[inline]
    pub(crate) fn say_delay(&self, delay: Option<Duration>) {
        if delay.is_some() {
            self.frame.rest().noted().waits.asked = delay;
        }
    }

    /// Returns the delay that `retry_after` or an `Ok` says about the attempt that ended.
    #[inline]
    pub(super) fn delay_said(&self) -> Option<Duration> {
        self.frame.rest.get()?.noted().waits.asked.take()
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or the end of the call.
    ///
    /// `unless` may have said something about it.
    #[inline(never)]
    pub(super) fn cut(&self, cut: Cut, said: Said) -> Result<Next, Stopped> {
        let verdict = self.verdict_of_cut();
        let exhausted = Outcome::Timeout;
        let hint = None;
        // The server may have completed the operation, so not every attempt may be repeated.
        let may_repeat = || {
            said != Said::Vetoed && self.settings.idempotent != Some(false) && !self.is_in_doubt()
        };
        let retry = match cut {
            Cut::Timeout if may_repeat() => Ok(Repeatable { hint, exhausted }),
            Cut::Timeout => Err(exhausted),
            Cut::Deadline => Err(Outcome::Deadline),
            Cut::NotReady => {
                let ruling = Ruling::failed_value(verdict, self.delay_said());
                return self.fail(ruling, &cut).map_err(|outcome| Stopped {
                    not_ready: true,
                    ..self.stopped(outcome)
                });
            }
            Cut::Late | Cut::Paused | Cut::Cancelled => return Err(self.cut_between(cut)),
        };
        let words = &cut;
        let failed = FailedWith { verdict, words };
        self.wait_or_end(PreviousFailure::TimedOut, retry, failed)
            .map_err(|outcome| self.stopped(outcome))
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
        if self.is_noted() {
            self.on_body_ended(how, words);
        }
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

    /// Ends an attempt that failed, and then waits or ends the call.
    fn wait_or_end(
        &self,
        how: PreviousFailure,
        mut retry: Result<Repeatable, Outcome>,
        failed: FailedWith<'_>,
    ) -> Result<Next, Outcome> {
        let frame = &self.frame;
        frame.previous.set(Some(how));
        if let Some(rest) = frame.rest.get() {
            let mut noted = rest.noted();
            noted.in_doubt |= noted.keyed && how.may_still_run();
        }
        self.end_attempt(Attempted::Failed(failed.verdict), Some(failed.words));
        // In its place: moved into the closure, it takes 1 to 2 % of the time of a call that fails (`cargo run -p peers -- times`).
        let decided = retry.as_mut().map_err(|outcome| *outcome);
        let decided = decided.and_then(|retry| {
            if !matches!(frame.bodies.replace(Bodies::One), Bodies::One) {
                retry.hint = frame.join_aside(retry.hint);
            }
            let now = Stamp::now();
            frame.start(|| now);
            let situation = self.situation(now, retry.hint);
            let mut range = decide(retry, frame.refusal.get(), &situation)?;
            let permit = self.take_permit(now);
            if permit.is_none() {
                range = held_back(retry, &situation, Outcome::Budget)?;
            }
            // What comes without a permit gives nothing back.
            let permit = permit.or(Some(Charge::Free));
            frame.phase.set(Phase::Between(permit));
            frame.refusal.set(None);
            if let Some(rest) = frame.rest.get() {
                rest.noted().go_on();
            }
            Ok(self.start_wait(range, now, Some(failed)))
        });
        decided.inspect_err(|outcome| self.give_up(*outcome, failed))
    }

    /// What the decision about another attempt depends on.
    fn situation(&self, now: Stamp, hint: Option<AskedDelay>) -> Situation {
        let (frame, settings) = (&self.frame, self.settings);
        let allowed = outer(|outer| self.allow_within(outer));
        let allowed = allowed.unwrap_or_else(|| self.own_attempts());
        let last = frame.rest.get().and_then(|rest| rest.noted().waits.last);
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
        let noted = frame.rest.get().map(|rest| rest.noted());
        let hedged = noted.is_some_and(|noted| noted.hedging.hedge == Some(Hedge::Lost));
        let mut request = Request {
            charge: Charge::after(previous),
            number: frame.number() - u32::from(hedged),
            had_begun: budget.had_begun(frame.faults.get()),
            // A wait counts as pending.
            at_once: !frame.was_pending.get() && frame.number() == 1,
        };
        // A client that keeps to the limit too may be first. It may round the time that it is sent down to milliseconds.
        let limit = frame.times.get().cut.minus(Duration::from_millis(1));
        if previous == PreviousFailure::Failed(Verdict::Transient) && limit <= now {
            request.charge = Charge::Timeout;
        }
        if frame.progressed() == frame.number() {
            // A retry after progress restarts the count of attempts, so it has to cost something.
            request.charge = request.charge.max(Charge::Failure);
            request.had_begun = false;
        }
        budget.take(request, now)
    }
}

/// The end of a call.
impl State<'_> {
    /// Ends a call that succeeded.
    pub(crate) fn succeed(&self) {
        // Most calls succeed at once, and are not observed.
        let is_known = self.is_noted() || self.frame.number() > 1;
        let budget = self.budget();
        if !is_known && budget.is_none_or(|budget| budget.cell.is_at_rest()) {
            self.frame.phase.set(Phase::Closed);
            return;
        }
        self.record_success(budget);
    }

    /// Ends such a call, and notifies all who want to know.
    #[cold]
    fn record_success(&self, budget: Option<BudgetRef<'_>>) {
        let frame = &self.frame;
        let spent = self.end_attempt(Attempted::Succeeded, None);
        if let Some(budget) = budget {
            budget.succeed(spent, Stamp::now);
        }
        if matches!(frame.which(), Which::Hedge) {
            frame.rest().noted().hedging.hedge = Some(Hedge::Won);
        }
        // Its own retries have not failed.
        if let Some(node) = frame.node.get() {
            node.set(0, Stamp::now());
        }
        if frame.previous.get().is_some() {
            self.log(Event::Succeeded);
            self.end(Outcome::SuccessAfterRetry);
        } else {
            self.end(Outcome::Success);
        }
    }

    /// Ends a call that is cut while it makes no attempt, or cancelled.
    #[inline(never)]
    pub(crate) fn cut_between(&self, cut: Cut) -> Stopped {
        self.turn_to(Which::First);
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

    /// Ends a call that failed, and its retries with it.
    #[cold]
    pub(super) fn give_up(&self, outcome: Outcome, failed: FailedWith<'_>) {
        let frame = &self.frame;
        let in_doubt = self.is_in_doubt();
        let ended = if in_doubt { Outcome::InDoubt } else { outcome };
        // If a call inside was refused, the event of that call names the budget.
        let refused = ended == Outcome::Budget && frame.refusal.get().is_none();
        let budget = refused.then(|| self.budget()).flatten();
        // A subscriber may make calls of its own, which make the outer call forget a refusal.
        self.log(Event::GaveUp(failed, ended, budget));
        self.end(ended);
        self.refuse_around(outcome);
        self.note_retries();
    }

    #[cold]
    fn close_and_report(&self) {
        let outcome = self.close();
        // Build the report only if it is observed.
        if is_listening() || self.scope().is_some() {
            self.give_report(self.report(outcome));
        }
    }

    /// Closes a call, also one that is dropped. Returns its outcome.
    pub(super) fn close(&self) -> Outcome {
        self.end_wait();
        let outcome = self.end(Outcome::Dropped);
        self.frame.phase.set(Phase::Closed);
        outcome
    }

    /// Ends a call, unless it has ended. Returns its outcome. The permit of a retry that never began goes back.
    pub(super) fn end(&self, outcome: Outcome) -> Outcome {
        let phase = self.frame.phase.get();
        if let Phase::Ended(outcome) = phase {
            return outcome;
        }
        if let Phase::Attempt(_) = phase {
            self.end_attempt(Attempted::Unfinished, None);
        }
        // No one gets a report of a call that is not observed.
        let has_report = self.observed || is_listening();
        let ended = has_report.then_some(Phase::Ended(outcome));
        self.frame.phase.set(ended.unwrap_or(Phase::Closed));
        if let Some(charge) = phase.permit() {
            self.budget().inspect(|budget| budget.give_back(charge));
        }
        if self.is_noted() {
            self.share_open_commits();
            self.on_call_ended(outcome);
        }
        outcome
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
    pub(crate) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let (policy, times) = (&self.settings.policy, self.frame.times.get());
        // An inherited deadline has no length of its own.
        let is_own = |own| times.started.map(|at| at.plus(own)) == Some(times.deadline);
        // A client may keep a shorter time of its own. One that is sent this time rounds it down.
        let is_cut = times.cut.left() <= Some(Duration::from_millis(1));
        let limit = match outcome {
            Outcome::Timeout => policy.timeout().filter(|_| is_cut),
            Outcome::Deadline => policy
                .deadline()
                .filter(|own| is_own(*own) || elapsed >= *own),
            Outcome::Paused => policy.deadline(),
            _ => None,
        };
        let cut = self.frame.has_open_commit();
        Stopped {
            outcome,
            attempts: self.frame.number(),
            elapsed,
            limit,
            not_ready: false,
            source: cut.then(|| CutCommit::default().into()),
        }
    }
}

impl<C, K> Drop for Call<'_, C, K> {
    #[inline]
    fn drop(&mut self) {
        if self.state.frame.phase.get() != Phase::Closed {
            notify(|| self.state.close_and_report());
        }
    }
}

#[cfg(feature = "metrics")]
#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use ::metrics::{
        Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
        with_local_recorder,
    };

    use crate::policy::Policy;
    use crate::site::{Site, SiteSettings, SiteState};

    struct Panics;

    impl Recorder for Panics {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
        fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
            panic!("no counter")
        }
        fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
            panic!("no gauge")
        }
        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            panic!("no histogram")
        }
    }

    #[test]
    fn a_call_drops_what_it_holds_although_the_recorder_panics() {
        static SHARED: SiteState = SiteState::NEW;
        static SITE: Site<false> = Site(SiteSettings::new("test", Policy::new(), &SHARED));
        let (held, panic) = with_local_recorder(&Panics, || {
            // A call is recorded only if there is a recorder when it begins.
            let mut call = SITE.begin::<()>(&SITE);
            let held = Arc::downgrade(call.state.frame.rest());
            let mut waker = Context::from_waker(Waker::noop());
            {
                let attempt = pin!(call.attempt(pending::<()>()));
                assert!(attempt.poll(&mut waker).is_pending());
            }
            (held, catch_unwind(AssertUnwindSafe(|| drop(call))))
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"no counter"));
        assert_eq!(held.strong_count(), 0);
    }

    /// Its panic would abort the process.
    #[test]
    fn the_recorder_may_panic_while_a_panic_of_the_body_unwinds() {
        static SHARED: SiteState = SiteState::NEW;
        static SITE: Site<false> = Site(SiteSettings::new("test", Policy::new(), &SHARED));
        let panic = with_local_recorder(&Panics, || {
            catch_unwind(|| {
                let mut call = SITE.begin::<()>(&SITE);
                let _ = call.attempt_blocking(|| panic!("the body's own"));
            })
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the body's own"));
    }
}
