//! The one shared word of a budget, and the one loop that changes it.

use super::rule::{Charge, Rule, State};
use crate::atomics::Word;

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
    /// Takes the price of one retry, if there is as much.
    pub(super) fn take(&self, charge: Charge, first: bool, now: u64) -> bool {
        let price = self.rule.price(charge);
        self.update(|state| {
            let state = self.rule.refill(state, now);
            let state = state.add(self.rule.share(first));
            match self.rule.take(state, price) {
                Some(taken) => (taken, true),
                None => (state, false),
            }
        })
    }

    /// Gives back what was taken for a retry that never began.
    pub(super) fn give(&self, amount: u32) {
        self.update(|state| (state.add(amount), ()));
    }

    #[inline]
    pub(super) fn succeed(&self, last_retry: Option<Charge>) {
        // One comparison while all is well; what a full ledger is given changes nothing.
        if State::unpack(self.word.load()).missing > 0 {
            self.give(self.rule.gain(last_retry));
        }
    }

    pub(super) fn level(&self, now: u64) -> u32 {
        let state = self.rule.refill(State::unpack(self.word.load()), now);
        self.rule.level(state)
    }

    /// Applies `step` to the state as if no other thread existed.
    ///
    /// A step that changes nothing (a success while the budget is full, a second refusal within a
    /// millisecond) writes nothing, so that a healthy fleet of threads does not fight over the cache line.
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
