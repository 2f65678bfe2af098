//! The only atomics in the crate.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "tracing")]
pub(crate) use std::sync::atomic::AtomicU64;

/// A word that several threads share.
#[cfg(feature = "tracing")]
pub(crate) trait Word {
    fn load(&self) -> u64;
    /// Stores `new` if the word is still `old`, else returns the present value. It may fail spuriously.
    fn swap(&self, old: u64, new: u64) -> Result<(), u64>;

    /// Applies `step` to the word as if no other thread existed. Returns what it gives beside the new word.
    ///
    /// A step that changes nothing writes nothing, so threads do not contend for the cache line.
    #[inline]
    fn change<T>(&self, step: impl Fn(u64) -> (u64, T)) -> T {
        let mut old = self.load();
        loop {
            let (new, result) = step(old);
            if new == old {
                return result;
            }
            match self.swap(old, new) {
                Ok(()) => return result,
                Err(seen) => old = seen,
            }
        }
    }
}

// All orderings in this file are relaxed: nothing guards other memory.
#[cfg(feature = "tracing")]
impl Word for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        Self::load(self, Ordering::Relaxed)
    }

    #[inline]
    fn swap(&self, old: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed)
            .map(drop)
    }
}

/// A flag that threads share, such as the switch of the process, or the mark of work that is done once. A second thread does
/// not wait for the first. So the first thread blocks no other if it panics or enters again.
#[derive(Debug)]
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
