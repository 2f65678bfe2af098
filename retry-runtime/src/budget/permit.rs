//! The right to one retry, as a value.

use std::sync::atomic::AtomicU64;

use super::ledger::{Ledger, Word};
use super::rule::Charge;

/// The right to one retry: gives its tokens back when dropped, unless the retry began.
///
/// So a call that is dropped, cancelled or unwound while it waits leaves the budget as it was.
#[derive(Debug)]
#[must_use = "dropping it gives the tokens back"]
pub(crate) struct Permit<'budget>(pub(super) Hold<'budget, AtomicU64>);

/// How much the last retry of a call took; the default is that there was none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken(u32);

impl Permit<'_> {
    /// Spends the permit: its retry begins now. Says what it took, for when the retry succeeds.
    #[must_use = "`Budget::succeed` wants it"]
    pub(crate) fn begin(self) -> Taken {
        self.0.begin()
    }
}

impl Taken {
    pub(super) const fn amount(self) -> u32 {
        self.0
    }
}

/// Tokens taken from a ledger and not spent yet.
#[derive(Debug)]
pub(super) struct Hold<'ledger, W: Word> {
    ledger: &'ledger Ledger<W>,
    amount: u32,
}

impl<'ledger, W: Word> Hold<'ledger, W> {
    pub(super) fn ask(
        ledger: &'ledger Ledger<W>,
        charge: Charge,
        first: bool,
        now: u64,
    ) -> Option<Self> {
        ledger
            .take(charge, first, now)
            .map(|amount| Self { ledger, amount })
    }

    pub(super) fn begin(mut self) -> Taken {
        // Nothing is left to give back when `self` is dropped.
        Taken(std::mem::take(&mut self.amount))
    }
}

impl<W: Word> Drop for Hold<'_, W> {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.ledger.give(self.amount);
        }
    }
}
