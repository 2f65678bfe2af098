//! The end of a call, also of one that is dropped: gives unused permits back, tells listeners, and drops what the call
//! holds.

use std::time::Duration;

use tokio::time::Instant;

use super::Call;
use super::state::{State, charge};
use crate::budget::Budget;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::context::{Phase, Previous};
use crate::listen::{is_listening, listener};
use crate::metrics::{self, Attempted};
use crate::report::Report;
use crate::stopped::Outcome;
use crate::trial;

impl<const LIMITED: bool, K> Drop for Call<'_, LIMITED, K> {
    #[inline]
    fn drop(&mut self) {
        if self.state.frame.phase.get() != Phase::Bare {
            self.close();
        }
    }
}

impl<const LIMITED: bool, K> Call<'_, LIMITED, K> {
    /// Closes the call, and drops what it holds.
    #[cold]
    fn close(&mut self) {
        // Dropped last: if the error panics, the call is closed.
        let _kept = self.kept.take();
        self.state.close();
    }
}

impl State<'_> {
    #[inline(never)]
    fn close(&mut self) {
        let state = ClearedOnDrop(self);
        // Only a panic ends a poll before the call around knows. It unwinds into the attempt around.
        state.0.hand_on_untold();
        if state.0.frame.phase.get() != Phase::Closed {
            state.0.close_once();
        }
    }

    fn close_once(&self) {
        self.never_began();
        let unfinished = !matches!(self.frame.phase.get(), Phase::Ended(_));
        let recorded = unfinished && self.is_recorded();
        if recorded || is_listening() || trial::is_possible() {
            self.closed();
        } else {
            self.give_back();
            self.end_spans(Outcome::Dropped);
        }
    }

    /// Closes the call. Tells the listener around it, and returns the report.
    pub(super) fn closed(&self) -> Report {
        let frame = &self.frame;
        self.give_back();
        self.waited_until_now();
        self.never_began();
        let phase = frame.phase.replace(Phase::Closed);
        let report = match phase {
            Phase::Ended(outcome) => self.report(outcome),
            _ => {
                if phase == Phase::Attempt {
                    self.count(Attempted::Unfinished);
                }
                self.record(Outcome::Dropped);
                self.end_spans(Outcome::Dropped);
                self.report(Outcome::Dropped)
            }
        };
        listener(|listener| listener.tell(report.clone()));
        if let Some(own) = self.leave_trial() {
            own.end(report.clone());
        }
        report
    }

    fn report(&self, outcome: Outcome) -> Report {
        let frame = &self.frame;
        Report {
            function: self.settings.name(),
            attempts: frame.number.get(),
            outcome,
            elapsed: self.elapsed().unwrap_or_default(),
            waited: self.waited(),
            verdict: frame.previous.get().map(|previous| match previous {
                Previous::TimedOut if outcome != Outcome::Dropped => self.verdict_of_cut(),
                _ => verdict(previous),
            }),
            budget_level: self.with_budget(Budget::level),
        }
    }

    /// Counts an attempt that ended, if the call found a recorder. Only then is the name looked up.
    pub(super) fn count(&self, how: Attempted) {
        if self.is_recorded() {
            metrics::attempted(self.settings.name(), how);
        }
    }

    /// Records the end of the call, if it found a recorder. This happens once in each call: when it succeeds, when it
    /// fails, or when it is dropped before.
    pub(super) fn record(&self, outcome: Outcome) {
        if !self.is_recorded() {
            return;
        }
        if matches!(outcome, Outcome::Success | Outcome::SuccessAfterRetry) {
            self.count(Attempted::Succeeded);
        }
        metrics::ended(&self.report(outcome));
    }

    /// Gives back the permit of a retry that never began.
    pub(super) fn give_back(&self) {
        let frame = &self.frame;
        if let (true, Some(previous)) = (frame.is_paid(), frame.previous.get()) {
            self.with_budget(|budget| budget.give_back(charge(previous)));
        }
    }

    /// Records when a wait begins, if a listener will ask how long the call waited.
    #[inline]
    pub(super) fn waits_from(&self, now: Instant) {
        if self.settings.listens() || is_listening() {
            self.note_wait(now);
        }
    }

    #[cold]
    fn note_wait(&self, now: Instant) {
        self.frame.cold().noted().waits_since = Some(Stamp::of(now));
    }

    /// Adds the wait that is over, if there was one.
    #[inline]
    pub(super) fn waited_until_now(&self) {
        if let Some(cold) = self.frame.if_cold() {
            let mut noted = cold.noted();
            if let Some(since) = noted.waits_since.take() {
                noted.waited = noted.waited.saturating_add(Stamp::now().since(since));
            }
        }
    }

    fn waited(&self) -> Duration {
        let cold = self.frame.if_cold();
        cold.map(|cold| cold.noted().waited).unwrap_or_default()
    }
}

/// Clears the frame, also if a subscriber or a recorder panics.
struct ClearedOnDrop<'s, 'p>(&'s mut State<'p>);

impl Drop for ClearedOnDrop<'_, '_> {
    fn drop(&mut self) {
        self.0.frame.clear();
    }
}

/// The verdict of the last failure.
pub(super) fn verdict(previous: Previous) -> Verdict {
    match previous {
        Previous::Failed(verdict) => verdict,
        Previous::TimedOut => Verdict::Transient,
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
    use crate::site::{Shared, Site};

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
        static SHARED: Shared = Shared::new();
        static SITE: Site<false> = Site::new("test", Policy::new(), &SHARED);
        let mut call = SITE.begin();
        let held = Arc::downgrade(call.state.frame.cold());
        let panic = with_local_recorder(&Panics, || {
            let mut waker = Context::from_waker(Waker::noop());
            let attempt = pin!(call.attempt(pending::<()>()));
            assert!(attempt.poll(&mut waker).is_pending());
            catch_unwind(AssertUnwindSafe(|| drop(call)))
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"no counter"));
        assert_eq!(held.strong_count(), 0);
    }
}
