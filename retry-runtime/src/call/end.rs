//! The end of a call: a success, a failure, a limit, or a drop.

use super::attempt::Cut;
use super::events::{Event, FailedWith};
use super::{Call, State};
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::context::{Phase, Times};
use crate::listen::{is_listening, notify};
use crate::metrics::Attempted;
use crate::report::{Hedge, Which};
use crate::stopped::{CutCommit, Outcome, Stopped};

impl<C, K> Drop for Call<'_, C, K> {
    #[inline]
    fn drop(&mut self) {
        if self.state.frame.phase.get() != Phase::Closed {
            notify(|| self.state.close_and_report());
        }
    }
}

impl State<'_> {
    /// Ends a call that succeeded.
    pub(crate) fn succeed(&self) {
        let frame = &self.frame;
        // Most calls succeed at once, and are not observed.
        let is_known = self.observed || frame.if_rest().is_some() || frame.number() > 1;
        let budget = self.budget();
        if !is_known && budget.is_none_or(|budget| budget.cell.is_at_rest()) {
            frame.phase.set(Phase::Closed);
            return;
        }
        let spent = self.end_attempt(Attempted::Succeeded, None);
        if let Some(budget) = budget {
            budget.succeed(spent, Stamp::now);
        }
        if frame.which() == Which::Hedge {
            frame.rest().noted().hedging.hedge = Some(Hedge::Won);
        }
        // Its own retries have not failed.
        self.forget_retries();
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

    /// Ends a call whose `before_retry` failed.
    pub(super) fn fail_preparation(&self) {
        let verdict = Verdict::Unknown;
        let words = &"`before_retry` failed";
        self.give_up(Outcome::NotRetryable, FailedWith { verdict, words });
    }

    /// Ends a call that failed, and its retries with it.
    #[cold]
    pub(super) fn give_up(&self, outcome: Outcome, failed: FailedWith<'_>) {
        let frame = &self.frame;
        let refusal = outcome;
        let outcome = if self.is_in_doubt() {
            Outcome::InDoubt
        } else {
            outcome
        };
        // If a call inside was refused, the event of that call names the budget.
        let refused = outcome == Outcome::Budget && frame.refusal.get().is_none();
        let budget = refused.then(|| self.budget()).flatten();
        // A subscriber may make calls of its own, which make the outer call forget a refusal.
        self.log(Event::GaveUp(failed, outcome, budget));
        self.end(outcome);
        self.refuse_around(refusal);
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
        self.frame.phase.set(Phase::Ended(outcome));
        self.share_open_commits();
        if let Some(charge) = phase.permit() {
            self.budget().inspect(|budget| budget.give_back(charge));
        }
        self.on_call_ended(outcome);
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
    pub(super) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let Times {
            started, deadline, ..
        } = self.frame.times.get();
        let own = started.map(|started| started.after(self.settings.policy.deadline()));
        let inherited = own != Some(deadline);
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
            attempts: self.frame.number(),
            elapsed,
            limit,
            not_ready: false,
            source: cut.then(|| CutCommit::default().into()),
        }
    }
}

#[cfg(all(test, feature = "metrics"))]
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
            let mut call = SITE.begin::<()>();
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
                let mut call = SITE.begin::<()>();
                let _ = call.attempt_blocking(|| panic!("the body's own"));
            })
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the body's own"));
    }
}
