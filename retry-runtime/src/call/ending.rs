//! The end of an attempt, and of a call: by a success, by a failure, by a limit between two attempts, or by a drop.

use std::fmt::Display;

use super::attempt::Cut;
use super::events::{Event, FailedWith};
#[cfg(feature = "_layers")]
use super::timers::ROUNDED;
use super::{Call, State};
use crate::budget::Charge;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::context::{Bodies, Phase};
use crate::listen::{is_listening, notify};
use crate::metrics::Attempted;
use crate::report::{HedgeOutcome, PreviousFailure, Which};
use crate::stopped::{CutEffect, Outcome, Stopped};

impl State<'_> {
    /// Ends a call that succeeded.
    pub(crate) fn succeed(&mut self) {
        // Most calls succeed at once, and are not observed.
        let is_known = self.is_noted() || self.frame.number() > 1;
        let budget = self.budget();
        if !is_known && budget.is_none_or(|budget| budget.cell.is_at_rest()) {
            self.frame.end(None);
            return;
        }
        self.record_success();
    }

    /// Ends such a call, and notifies all who want to know.
    #[cold]
    fn record_success(&mut self) {
        let spent = self.end_attempt(Attempted::Succeeded, None);
        if let Some(budget) = self.budget() {
            budget.succeed(spent, Stamp::now);
        }
        let frame = &mut self.frame;
        if matches!(frame.which(), Which::Hedge) {
            frame.hedge = Some(HedgeOutcome::Won);
        }
        // Its own retries have not failed.
        if let Some(node) = frame.node.get() {
            node.set(0, Stamp::now());
        }
        if frame.previous.is_some() {
            self.log(Event::SUCCEEDED);
            self.end(Outcome::SuccessAfterRetry);
        } else {
            self.end(Outcome::Success);
        }
    }

    /// Ends a call that is cut while it makes no attempt, or cancelled.
    #[inline(never)]
    pub(crate) fn cut_between(&mut self, cut: Cut) -> Stopped {
        self.turn_to(Which::First);
        let outcome = match cut {
            Cut::Paused => Outcome::Paused,
            Cut::Cancelled => Outcome::Cancelled,
            _ => Outcome::Deadline,
        };
        let how = Attempted::Failed(self.verdict_of_cut());
        let words: &dyn Display = match cut {
            // There was no wait.
            Cut::Late if self.frame.number() == 0 => &"inherited deadline reached",
            _ => &cut,
        };
        self.give_up(outcome, FailedWith { how, words });
        self.stopped(outcome, cut)
    }

    /// Ends a call that failed, and its retries with it.
    #[cold]
    pub(super) fn give_up(&mut self, outcome: Outcome, failed: FailedWith<'_>) {
        let in_doubt = self.is_in_doubt();
        let ended = if in_doubt { Outcome::InDoubt } else { outcome };
        // If a call inside was refused, the event of that call names the budget.
        let refused = ended == Outcome::Budget && self.frame.refusal().is_none();
        let budget = refused.then(|| self.budget()).flatten();
        self.log(Event {
            failed: Some(failed),
            budget,
            ..Event::gave_up(ended, self.frame.open_effect())
        });
        self.end(ended);
        self.refuse_around(outcome);
        self.note_retries();
    }

    #[cold]
    fn close_and_report(&mut self) {
        let outcome = self.close();
        // Build the report only if it is observed.
        if is_listening() || self.scope().is_some() {
            self.give_report(self.report(outcome));
        }
    }

    /// Closes a call, also one that is dropped. Returns its outcome.
    pub(super) fn close(&mut self) -> Outcome {
        self.end_wait();
        let outcome = self.end(Outcome::Dropped);
        self.frame.end(None);
        outcome
    }

    /// Ends a call, unless it has ended. Returns its outcome. The permit of a retry that never began goes back.
    pub(super) fn end(&mut self, outcome: Outcome) -> Outcome {
        let phase = self.frame.phase();
        if let Phase::Ended(outcome) = phase {
            return outcome;
        }
        if let Phase::Attempt(_) = phase {
            self.end_attempt(Attempted::Unfinished, None);
        }
        // No one gets a report of a call that is not observed.
        let has_report = self.observed || is_listening();
        self.frame.end(has_report.then_some(outcome));
        if let Some(charge) = phase.permit() {
            self.budget().inspect(|budget| budget.give_back(charge));
        }
        if self.is_noted() {
            self.end_begun(outcome);
            self.on_call_ended(outcome);
        }
        outcome
    }

    /// Outer calls may repeat a call that must not run twice, if it succeeded, had no effect, or another attempt would not help.
    fn end_begun(&self, outcome: Outcome) {
        let previous = self.frame.previous;
        let is_known = matches!(outcome, Outcome::Success | Outcome::SuccessAfterRetry)
            || previous == Some(PreviousFailure::Failed(Verdict::Permanent))
            || !self.may_have_run();
        if let Some(mut noted) = self.frame.noted().filter(|_| is_known) {
            noted.end_begun();
        }
    }

    /// Ends an attempt. `words` are its error, if it failed. Returns what the budget has charged for it.
    pub(super) fn end_attempt(
        &mut self,
        how: Attempted,
        words: Option<&dyn Display>,
    ) -> Option<Charge> {
        // The phase changes first: if an observer panics, the attempt is not counted again.
        let spent = self.frame.end_attempt();
        self.ran |= !matches!(how, Attempted::Failed(_));
        if self.is_noted() {
            self.on_body_ended(how, words);
        }
        if let Bodies::Both(which) = self.frame.bodies {
            // Dropped with the attempt.
            self.ran = true;
            self.frame.bodies = Bodies::Only(which.other());
            self.on_body_ended(Attempted::Unfinished, None);
            self.frame.bodies = Bodies::Only(which);
        }
        spent
    }

    /// Whether the call may have run: whether it is not proven that each of its attempts had no effect.
    pub(super) fn may_have_run(&self) -> bool {
        let frame = &self.frame;
        self.ran || frame.open_effect().is_some() || frame.progressed() > 0
    }

    /// The verdict of an attempt that is cut now. If a commit or a request is cut, it may have taken effect.
    pub(super) fn verdict_of_cut(&self) -> Verdict {
        if self.frame.open_effect().is_some() {
            Verdict::Unknown
        } else {
            Verdict::Transient
        }
    }

    /// What cut an attempt whose client says that it timed out: the timeout, which the client was sent and rounds down, or a limit that
    /// the client has by itself.
    #[cfg(feature = "_layers")]
    pub(crate) fn cut_by_client(&self) -> Cut {
        if self.frame.cut().left() <= Some(ROUNDED) {
            Cut::Timeout
        } else {
            Cut::OfClient
        }
    }

    /// Returns the `Stopped` that the caller gets, after this cut.
    #[inline(never)]
    pub(crate) fn stopped(&self, outcome: Outcome, cut: Cut) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let policy = &self.settings.policy;
        let limit = match outcome {
            Outcome::Timeout if cut != Cut::OfClient => policy.timeout(),
            // An inherited deadline has no length of its own.
            Outcome::Deadline | Outcome::Paused if !self.frame.inherits => policy.deadline(),
            _ => None,
        };
        Stopped {
            outcome,
            attempts: self.frame.number(),
            elapsed,
            limit,
            not_ready: false,
            may_have_run: self.may_have_run(),
            source: (self.frame.open_effect()).map(|effect| CutEffect::of(effect).into()),
        }
    }
}

impl<C, K> Drop for Call<'_, C, K> {
    #[inline]
    fn drop(&mut self) {
        if self.state.frame.phase() != Phase::Closed {
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
