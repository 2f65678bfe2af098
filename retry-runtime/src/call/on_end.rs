//! `on_end`: a hook that gets the report of a call, also of one that is dropped.

use std::ops::{Deref, DerefMut};

use super::Call;
use crate::classify::Answers;
use crate::context::beside_body;
use crate::listen::{listener, notify};
use crate::opaque::opaque;
use crate::report::Report;
use crate::stopped::Outcome;

/// A call that gives its report to a hook, also if it is dropped.
// Only `new` has a bound on `H`, so that a wrong hook is one compile error.
pub struct OnEnd<'p, H, C, K> {
    call: Call<'p, C, K>,
    hook: H,
    call_hook: fn(&mut H, &Report),
}

impl<'p, H, C, K> OnEnd<'p, H, C, K> {
    /// Gives the report of `call` to `hook` when it ends.
    #[inline]
    pub fn new(mut call: Call<'p, C, K>, hook: H) -> Self
    where
        H: Answers<Report>,
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
        drop(self.call.last.take());
        let state = &mut self.call.state;
        let mut outcome = Outcome::Dropped;
        notify(|| outcome = state.close());
        let report = state.report(outcome);
        state.give_report(report.clone());
        notify(|| beside_body(|| (self.call_hook)(&mut self.hook, &report)));
        // Recorded again after the hook, whose own calls also made reports: the last report counts.
        listener(|listener| listener.record(report));
    }
}

opaque! { OnEnd [H, C, K] ['_, H, C, K]; }
