//! The only atomics in the crate.

use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that threads share, such as the switch of the process, or the mark of work that is done once. A second thread does
/// not wait for the first. So the first thread blocks no other if it panics or enters again.
#[derive(Debug, Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) const fn new() -> Self {
        Self::of(false)
    }

    pub(crate) const fn of(raised: bool) -> Self {
        Self(AtomicBool::new(raised))
    }

    #[inline]
    pub(crate) fn is_down(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    /// Raises the flag. Returns whether it was down.
    pub(crate) fn raise(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn set(&self, raised: bool) {
        self.0.store(raised, Ordering::Relaxed);
    }
}
