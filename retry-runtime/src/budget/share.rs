//! How many hedges a function may make: one for 16 calls.
//!
//! It bounds the load that hedges add to a service that is slow as a whole, at any rate of calls. The budget cannot: its tokens
//! come back with time, and a slow service does not fail.

use crate::atomics::{AtomicU64, Word};

/// What is missing from the share, in sixteenths of a hedge.
#[derive(Debug)]
pub(crate) struct Share<W = AtomicU64>(pub(super) W);

/// A call adds one of these sixteenths, so hedges add at most 6.25 % to the load. Finagle bounds its backup requests by calls
/// too.
const PRICE: u64 = 16;
/// Ten hedges saved up. Our choice: enough for a function that is seldom called.
const CAPACITY: u64 = 10 * PRICE;

impl Share {
    pub(crate) const fn full() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl<W: Word> Share<W> {
    pub(crate) fn add(&self) {
        self.0.change(|missing| (missing.saturating_sub(1), ()));
    }

    /// Takes a hedge. Returns `false` if there is none.
    pub(crate) fn take(&self) -> bool {
        self.0.change(|missing| match missing + PRICE {
            more @ ..=CAPACITY => (more, true),
            _ => (missing, false),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_share_has_ten_hedges_and_sixteen_calls_add_one() {
        let share = Share::full();
        share.add();
        assert!((0..10).all(|_| share.take()));
        assert!(!share.take());
        for _ in 0..15 {
            share.add();
        }
        assert!(!share.take());
        share.add();
        assert!(share.take());
        assert!(!share.take());
    }

    #[test]
    fn a_share_that_is_full_stays_full() {
        let share = Share::full();
        for _ in 0..1000 {
            share.add();
        }
        assert_eq!((0..100).filter(|_| share.take()).count(), 10);
    }
}
