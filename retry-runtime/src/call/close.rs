//! The end of a call, also of one that is dropped: closes it, and drops what it holds. `on_end` gets its report.

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Call, State};
use crate::context::{Phase, refusal_restored_after};
use crate::listen::{is_listening, listener};
use crate::metrics::Attempted;
use crate::opaque::opaque;
use crate::report::Report;
use crate::stopped::Outcome;

impl<C, K> Drop for Call<'_, C, K> {
    #[inline]
    fn drop(&mut self) {
        if self.state.frame.phase.get() != Phase::Closed {
            self.state.close_and_report();
        }
    }
}

impl State<'_> {
    #[cold]
    fn close_and_report(&self) {
        let outcome = self.close();
        // Build the report only if it is observed.
        if is_listening() || self.scope.is_some() {
            self.give_report(self.report(outcome));
        }
    }

    /// Closes a call, also one that is dropped. Returns its outcome.
    fn close(&self) -> Outcome {
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
        self.frame.phase.set(Phase::Ended(outcome));
        if let (Some(charge), Some(budget)) = (phase.permit(), self.budget()) {
            budget.give_back(charge);
        }
        if phase.is_attempt() {
            self.count(Attempted::Unfinished);
        }
        self.on_call_ended(outcome);
        outcome
    }
}

/// A call that gives its report to a hook, also if it is dropped.
// Only `new` has a bound on `H`, so that a wrong hook is one compile error.
pub struct OnEnd<'p, H, C, K> {
    call: Call<'p, C, K>,
    hook: H,
    call_hook: fn(&H, &Report),
}

impl<'p, H, C, K> OnEnd<'p, H, C, K> {
    /// Gives the report of `call` to `hook` when it ends.
    #[inline]
    pub fn new(mut call: Call<'p, C, K>, hook: H) -> Self
    where
        H: Fn(&Report),
    {
        call.state.observed = true;
        Self {
            call,
            hook,
            call_hook: |hook, report| hook(report),
        }
    }
}

impl<'p, H, C, K> Deref for OnEnd<'p, H, C, K> {
    type Target = Call<'p, C, K>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.call
    }
}

impl<H, C, K> DerefMut for OnEnd<'_, H, C, K> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.call
    }
}

impl<H, C, K> Drop for OnEnd<'_, H, C, K> {
    /// # Panics
    ///
    /// - If the hook panics. While another panic unwinds, a panic of the hook is caught, because it would abort the
    ///   process.
    fn drop(&mut self) {
        // Before the hook, because an error may hold a connection or a permit.
        drop(self.call.kept.take());
        let state = &self.call.state;
        let report = state.report(state.close());
        state.give_report(report.clone());
        // The calls of the hook are no calls of the body around.
        let _restored = refusal_restored_after();
        if std::thread::panicking() {
            let _ = catch_unwind(AssertUnwindSafe(|| (self.call_hook)(&self.hook, &report)));
        } else {
            (self.call_hook)(&self.hook, &report);
            // Recorded again after the hook, whose own calls also made reports: the last report counts.
            listener(|listener| listener.record(report));
        }
    }
}

opaque! { OnEnd [H, C, K] ['_, H, C, K]; }

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
}
