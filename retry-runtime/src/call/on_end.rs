//! A hook that hears how the call went.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Call;
use crate::context::Notes;
use crate::listen::listener;
use crate::report::Report;

/// A call that tells a hook how it ended, also if it is dropped.
// No bound on `H` but where it is made: a hook that is none is then one error.
pub struct OnEnd<'p, H, const LIMITED: bool> {
    call: Call<'p, LIMITED>,
    hook: H,
    tell: fn(&H, &Report),
}

impl<'p, H, const LIMITED: bool> OnEnd<'p, H, LIMITED> {
    /// Has `hook` told of the end of `call`.
    #[inline]
    pub fn new(call: Call<'p, LIMITED>, hook: H) -> Self
    where
        H: Fn(&Report),
    {
        call.state.frame.notes.set(Notes::Listened);
        Self {
            call,
            hook,
            tell: |hook, report| hook(report),
        }
    }
}

impl<'p, H, const LIMITED: bool> Deref for OnEnd<'p, H, LIMITED> {
    type Target = Call<'p, LIMITED>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.call
    }
}

impl<H, const LIMITED: bool> DerefMut for OnEnd<'_, H, LIMITED> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.call
    }
}

impl<H, const LIMITED: bool> Drop for OnEnd<'_, H, LIMITED> {
    /// # Panics
    ///
    /// - If the hook does, and nothing panicked before. A panic of the hook while another one unwinds would end
    ///   the process; it ends here.
    fn drop(&mut self) {
        let report = self.call.state.closed();
        if std::thread::panicking() {
            let _ = catch_unwind(AssertUnwindSafe(|| (self.tell)(&self.hook, &report)));
        } else {
            (self.tell)(&self.hook, &report);
            // Not one of the calls that the hook made.
            listener(|listener| listener.tell(report));
        }
    }
}

impl<H, const LIMITED: bool> fmt::Debug for OnEnd<'_, H, LIMITED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnEnd")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
