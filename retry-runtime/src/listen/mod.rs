//! Listeners, which want to know how calls end. A pointer that is set around each poll leads to them.
//!
//! It is not the pointer to the frame: `observe` and a test scope do not change what a call sees of the calls around
//! it.

mod observe;

use std::cell::{Cell, OnceCell, RefCell};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use scoped_tls_hkt::ScopedKey;

pub use self::observe::{Observe, observe};
use crate::context::{Frame, around, is_within};
use crate::report::Report;
use crate::test_scope::{self, TestScope};

/// A `const` for the same reason as the pointer to the frame.
const LISTENER: ScopedKey<Listener> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Listener>> = const { Cell::new(None) });
        &POINTER
    },
};

/// Receives the reports of the calls that end while it is lent.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// The frame around the listener, as an address to compare; 0 for none.
    mark: Cell<usize>,
    /// The report of the outermost call that ended last.
    last: RefCell<Option<Report>>,
    /// The test scope of the calls inside: its own, or that of a listener around.
    scope: OnceCell<TestScope>,
}

impl Listener {
    /// Makes the listener of a test scope.
    pub(crate) fn of(scope: TestScope) -> Self {
        Self {
            scope: OnceCell::from(scope),
            ..Self::default()
        }
    }

    /// Runs one poll of the code inside.
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.mark.set(mark());
        if self.scope.get().is_none() {
            if let Some(scope) = test_scope_around() {
                let _ = self.scope.set(scope);
            }
        }
        if is_within() {
            LISTENER.set(self, poll)
        } else {
            // A call looks for a listener only if there is a frame around it.
            Frame::outside().lend(|| LISTENER.set(self, poll))
        }
    }

    /// Polls a future. Once it is ready, the future is dropped, so that the calls it still holds end too. Then the last
    /// report is told to the listener around, and returned.
    ///
    /// # Panics
    ///
    /// - If the future was ready before.
    pub(crate) fn lend_to<F: Future>(
        &self,
        mut slot: Pin<&mut Option<F>>,
        context: &mut Context<'_>,
    ) -> Poll<(F::Output, Option<Report>)> {
        let output = ready!(self.lend(|| {
            let future = slot.as_mut().as_pin_mut();
            let polled = future.expect("polled after it was ready").poll(context);
            if polled.is_ready() {
                slot.set(None);
            }
            polled
        }));
        Poll::Ready((output, self.hand_on()))
    }

    /// Returns the last report, and tells it to the listener around.
    pub(crate) fn hand_on(&self) -> Option<Report> {
        let report = self.last.take();
        if let Some(report) = &report {
            listener(|outer| outer.tell(report.clone()));
        }
        report
    }

    /// Records the report of a call that ended.
    pub(crate) fn tell(&self, report: Report) {
        if self.is_outermost() {
            *self.last.borrow_mut() = Some(report);
        }
    }

    /// Whether no call is between the listener and the running code.
    fn is_outermost(&self) -> bool {
        around(|frame| !frame.is_call() || mark() == self.mark.get()).unwrap_or(true)
    }
}

/// Whether there is a listener.
#[inline]
pub(crate) fn is_listening() -> bool {
    LISTENER.is_set()
}

/// Shows the listener around to `f`, if there is one.
pub(crate) fn listener<T>(f: impl FnOnce(&Listener) -> T) -> Option<T> {
    LISTENER.is_set().then(|| LISTENER.with(f))
}

/// The test scope that the code is in, if it is in one.
#[inline]
pub(crate) fn test_scope_around() -> Option<TestScope> {
    test_scope::find(|| listener(|listener| listener.scope.get().cloned())?)
}

/// The frame around, as an address to compare while it is lent; 0 for none.
fn mark() -> usize {
    around(|frame| std::ptr::from_ref(frame).addr()).unwrap_or(0)
}
