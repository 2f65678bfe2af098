//! The only atomics in the crate.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub(crate) use std::sync::atomic::AtomicU64;

/// A word that several threads share: std's `AtomicU64`, or loom's in the tests of all interleavings.
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

// All orderings in this file are relaxed: each word guards no other memory.
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
        Self(AtomicBool::new(false))
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

/// How often something happened. It wraps around after 2^32.
#[derive(Debug)]
pub(crate) struct Count(AtomicU32);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The latest of several instants, or none: 0.
#[derive(Debug)]
pub(crate) struct Latest(AtomicU64);

impl Latest {
    pub(crate) const fn none() -> Self {
        Self(AtomicU64::new(0))
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Moves to `instant`, unless it is there or later already.
    pub(crate) fn raise_to(&self, instant: u64) {
        self.0.fetch_max(instant, Ordering::Relaxed);
    }

    /// Forgets `instant`, unless a later one came meanwhile.
    pub(crate) fn forget(&self, instant: u64) {
        let _ = (self.0).compare_exchange(instant, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A number that no other value in the process has, assigned at the first use. An address cannot be the number, because
/// addresses are reused.
#[derive(Debug)]
pub(crate) struct UniqueId(AtomicU64);

impl UniqueId {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn get(&self) -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        match self.0.load(Ordering::Relaxed) {
            0 => {
                let id = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
                let first = self
                    .0
                    .compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
                first.map_or_else(|given| given, |_| id)
            }
            given => given,
        }
    }
}
