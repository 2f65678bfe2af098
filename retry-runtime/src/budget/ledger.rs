//! The shared word of a budget, and what changes it.

use super::numbers::{BudgetNumbers, Charge, FaultState, LedgerState, Request};
use crate::atomics::Word;

/// A shared level, with the numbers of its budget.
pub(super) struct Ledger<'b, W> {
    pub(super) word: &'b W,
    pub(super) numbers: &'b BudgetNumbers,
}

impl<W: Word> Ledger<'_, W> {
    /// Asks for the permit of one retry. Returns what the retry is charged, or `None` if it is refused.
    #[inline]
    pub(super) fn take(&self, of: Request, now: u64) -> Option<Charge> {
        self.update(|state| {
            let state = self.numbers.at(state, now);
            let state = state.add(self.numbers.share(of.number == 1));
            self.numbers.take(state, of)
        })
    }

    /// Adds `amount`, in thousandths of a token.
    pub(super) fn give(&self, amount: u32) {
        self.update(|state| (state.add(amount), ()));
    }

    /// Records a call that succeeded. `now` is asked only in a serious fault.
    #[inline]
    pub(super) fn succeed(&self, last_retry: Option<Charge>, now: impl Fn() -> u64) {
        if LedgerState::is_at_rest(self.word.load()) {
            return;
        }
        self.update(|state| {
            // Whether all tokens are back depends on the time that passed.
            let state = match state.fault {
                FaultState::Serious => self.numbers.at(state, now()),
                FaultState::None | FaultState::Slight => state,
            };
            (self.numbers.succeed(state, last_retry), ())
        });
    }

    /// Credits the time that has passed.
    #[cfg(feature = "config")]
    pub(super) fn settle(&self, now: u64) {
        self.update(|state| (self.numbers.at(state, now), ()));
    }

    pub(super) fn level(&self, now: u64) -> u32 {
        let state = self.numbers.at(LedgerState::unpack(self.word.load()), now);
        self.numbers.level(state)
    }

    /// Applies `step` to the state. While calls succeed it changes nothing: a success with a full budget, or a second
    /// refusal within a tick.
    #[inline]
    fn update<T>(&self, step: impl Fn(LedgerState) -> (LedgerState, T)) -> T {
        self.word.change(|word| {
            let (state, result) = step(LedgerState::unpack(word));
            (state.pack(), result)
        })
    }
}
