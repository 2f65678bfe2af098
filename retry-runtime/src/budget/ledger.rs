//! The one atomic word of a budget, and the one loop that changes it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::rule::{Charge, Rule, State};

/// A word that several threads share: std's in life, loom's in the model of its interleavings.
pub(super) trait Word {
    fn load(&self) -> u64;
    /// Stores `new` if the word is still `old`, else gives what it is. May fail for no reason.
    fn swap(&self, old: u64, new: u64) -> Result<(), u64>;
}

impl Word for AtomicU64 {
    // Relaxed, here and below: the word is all that is shared; it guards no other memory.
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

/// A shared level under a rule.
#[derive(Debug)]
pub(super) struct Ledger<W> {
    word: W,
    rule: Rule,
}

impl<W> Ledger<W> {
    pub(super) const fn new(word: W, rule: Rule) -> Self {
        Self { word, rule }
    }

    pub(super) const fn rule(&self) -> Rule {
        self.rule
    }
}

impl<W: Word> Ledger<W> {
    /// Takes the price of one retry, if there is as much, and says how much it was.
    pub(super) fn take(&self, charge: Charge, first: bool, now: u64) -> Option<u32> {
        let price = self.rule.price(charge);
        self.update(|state| {
            let state = self.rule.refill(state, now);
            let state = self.rule.add(state, self.rule.share(first));
            match state.level.checked_sub(price) {
                Some(level) => (State { level, ..state }, Some(price)),
                None => (state, None),
            }
        })
    }

    /// Gives back what was taken for a retry that never began.
    pub(super) fn give(&self, amount: u32) {
        self.update(|state| (self.rule.add(state, amount), ()));
    }

    #[inline]
    pub(super) fn succeed(&self, last_retry: Option<Charge>) {
        // One comparison while all is well; what a full ledger is given changes nothing.
        if State::unpack(self.word.load()).level < self.rule.capacity {
            self.give(self.rule.gain(last_retry));
        }
    }

    pub(super) fn level(&self, now: u64) -> u32 {
        self.rule.refill(State::unpack(self.word.load()), now).level
    }

    /// Applies `step` to the state as if no other thread existed.
    ///
    /// A step that changes nothing (a success while the budget is full, a refusal) writes nothing,
    /// so that a healthy fleet of threads does not fight over the cache line.
    #[inline]
    fn update<T>(&self, step: impl Fn(State) -> (State, T)) -> T {
        let mut old = self.word.load();
        loop {
            let (state, result) = step(State::unpack(old));
            let new = state.pack();
            if new == old {
                return result;
            }
            match self.word.swap(old, new) {
                Ok(()) => return result,
                Err(seen) => old = seen,
            }
        }
    }
}
