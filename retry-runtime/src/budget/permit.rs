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

impl Permit<'_> {
    /// Spends the permit: its retry begins now.
    pub(crate) fn begin(self) {
        self.0.begin();
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

    pub(super) fn begin(mut self) {
        // Nothing is left to give back when `self` is dropped.
        self.amount = 0;
    }
}

impl<W: Word> Drop for Hold<'_, W> {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.ledger.give(self.amount);
        }
    }
}
