//! The hook `on_end`, which gets the report of the call.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Call;
use super::kept_error::Nothing;
use crate::context::Notes;
use crate::listen::listener;
use crate::report::Report;

/// A call that gives its report to a hook, also if it is dropped.
// Only `new` has a bound on `H`, so that a wrong hook is one compile error.
pub struct OnEnd<'p, H, const LIMITED: bool, K = Nothing> {
    call: Call<'p, LIMITED, K>,
    hook: H,
    tell: fn(&H, &Report),
}

impl<'p, H, const LIMITED: bool, K> OnEnd<'p, H, LIMITED, K> {
    /// Gives the report of `call` to `hook` when it ends.
    #[inline]
    pub fn new(call: Call<'p, LIMITED, K>, hook: H) -> Self
    where
        H: Fn(&Report),
    {
        call.state.frame.note(Notes::LISTENED, true);
        Self {
            call,
            hook,
            tell: |hook, report| hook(report),
        }
    }
}

impl<'p, H, const LIMITED: bool, K> Deref for OnEnd<'p, H, LIMITED, K> {
    type Target = Call<'p, LIMITED, K>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.call
    }
}

impl<H, const LIMITED: bool, K> DerefMut for OnEnd<'_, H, LIMITED, K> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.call
    }
}

impl<H, const LIMITED: bool, K> Drop for OnEnd<'_, H, LIMITED, K> {
    /// # Panics
    ///
    /// - If the hook panics. While another panic unwinds, a panic of the hook is caught, because it would abort the
    ///   process.
    fn drop(&mut self) {
        // Before the hook, because an error may hold a connection or a permit.
        drop(self.call.kept.take());
        let report = self.call.state.closed();
        if std::thread::panicking() {
            let _ = catch_unwind(AssertUnwindSafe(|| (self.tell)(&self.hook, &report)));
        } else {
            (self.tell)(&self.hook, &report);
            // Told again after the hook, whose own calls also told their reports: the last report counts.
            listener(|listener| listener.tell(report));
        }
    }
}

impl<H, const LIMITED: bool, K> fmt::Debug for OnEnd<'_, H, LIMITED, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnEnd")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
