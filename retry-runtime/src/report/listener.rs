//! Who wants to know how calls end, found through a pointer that is set around each poll.

use std::cell::{Cell, RefCell};

use scoped_tls_hkt::ScopedKey;

use super::Report;
use crate::context::around;

/// As the pointer to the frame, and for the same reason a `const`.
const LISTENER: ScopedKey<Listener> = ScopedKey {
    inner: {
        thread_local!(static POINTER: Cell<Option<&'static Listener>> = const { Cell::new(None) });
        &POINTER
    },
};

/// Hears of the calls that end while it is lent.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    /// The frame around the listener, as an address to compare; 0 for none.
    mark: Cell<usize>,
    /// Of the outermost call that ended last.
    last: RefCell<Option<Report>>,
}

impl Listener {
    /// Runs one poll of the code inside.
    pub(crate) fn lend<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.mark.set(mark());
        LISTENER.set(self, poll)
    }

    /// Takes note of a call that ended.
    pub(crate) fn tell(&self, report: Report) {
        if self.is_outermost() {
            *self.last.borrow_mut() = Some(report);
        }
    }

    /// The report of the outermost call that ended last, once.
    pub(super) fn take(&self) -> Option<Report> {
        self.last.take()
    }

    /// Whether no call lies between the listener and the code that runs now.
    fn is_outermost(&self) -> bool {
        around(|frame| !frame.is_call() || mark() == self.mark.get()).unwrap_or(true)
    }
}

/// Whether anybody listens.
#[inline]
pub(crate) fn is_listening() -> bool {
    LISTENER.is_set()
}

/// Shows the listener around to `f`, if there is one.
pub(crate) fn listener<T>(f: impl FnOnce(&Listener) -> T) -> Option<T> {
    LISTENER.is_set().then(|| LISTENER.with(f))
}

/// The frame around, as an address to compare while it is lent; 0 for none.
fn mark() -> usize {
    around(|frame| std::ptr::from_ref(frame).addr()).unwrap_or(0)
}
