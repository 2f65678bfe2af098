//! A budget as calls use it: a cell that changes, and numbers that do not.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::numbers::{Balance, BudgetConfig, Charge, FaultState, Request};
use crate::atomics::Flag;
use crate::clock::Stamp;
use crate::rng;

/// What is missing from a budget. It is used with the numbers of one budget, or of several, one after the other.
#[derive(Debug)]
pub(crate) struct BudgetCell {
    balance: Mutex<Balance>,
    /// Whether the balance is not at rest. Calls read it, so they need no lock while all is well.
    busy: Flag,
}

impl BudgetCell {
    /// A cell from which nothing is missing, so that a budget with any numbers is full.
    pub(crate) const fn full() -> Self {
        Self::of(Balance::new(0, Stamp::NEVER))
    }

    pub(super) const fn of(balance: Balance) -> Self {
        Self {
            busy: Flag::of(!balance.is_at_rest()),
            balance: Mutex::new(balance),
        }
    }

    /// Whether the budget is full, and has neither a fault nor a pause. A success then changes nothing.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.busy.is_down()
    }

    /// How many faults began so far, or 0 if there is none. By this number, a call knows the fault in which it began.
    #[inline]
    pub(crate) fn faults(&self) -> u32 {
        if self.is_at_rest() {
            0
        } else {
            self.lock().faults
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Balance> {
        self.balance.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cell and the numbers of the budget of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BudgetRef<'b> {
    pub(crate) cell: &'b BudgetCell,
    pub(crate) numbers: &'b BudgetConfig,
}

impl BudgetRef<'_> {
    /// Asks for the permit of one retry. Returns what the retry is charged, or `None` if the budget refuses it.
    pub(crate) fn take(self, of: Request, now: Stamp) -> Option<Charge> {
        self.change(|balance| {
            self.numbers.credit(balance, now);
            self.numbers.take(balance, of)
        })
    }

    /// Whether a call had begun before the present fault, if there is one. `faults` is how many had begun when the call did.
    pub(crate) fn had_begun(self, faults: u32) -> bool {
        let balance = self.cell.lock();
        faults != balance.faults || balance.fault == FaultState::None
    }

    /// Gives back what was taken for a retry that never began.
    pub(crate) fn give_back(self, charge: Charge) {
        self.change(|balance| balance.add(self.numbers.price(charge)));
    }

    /// Records a call that succeeded. `last_retry` is the charge of its last retry, if there was one. `now` is asked only in
    /// a serious fault, and at the first use.
    pub(crate) fn succeed(self, last_retry: Option<Charge>, now: impl FnOnce() -> Stamp) {
        if self.cell.is_at_rest() {
            return;
        }
        self.change(|balance| {
            // Whether all tokens are back depends on the time that passed, which counts from the first use.
            if balance.fault == FaultState::Serious || balance.credited == Stamp::NEVER {
                self.numbers.credit(balance, now());
            }
            self.numbers.succeed(balance, last_retry);
        });
    }

    /// Whether at least half of the tokens are left, so that a call may hedge (gRPC's proposal A6).
    pub(crate) fn is_half_full(&self) -> bool {
        self.level() * 2.0 >= f64::from(self.numbers.capacity())
    }

    /// Pauses all calls until `end`, or until the end of the present pause if that is later, if the hint of a server does so.
    pub(crate) fn pause_until(self, end: Stamp) {
        if self.numbers.pauses {
            self.change(|balance| balance.pause_end = balance.pause_end.max(Some(end)));
        }
    }

    /// Returns when the present pause ends, if there is one.
    pub(crate) fn paused_until(self, now: Stamp) -> Option<Stamp> {
        self.change(|balance| {
            balance.pause_end = balance.pause_end.filter(|end| *end > now);
            balance.pause_end
        })
    }

    /// The tokens in the budget now.
    pub(crate) fn level(&self) -> f64 {
        f64::from(self.level_at(Stamp::now())) / 1000.0
    }

    /// The level in thousandths of a token.
    pub(super) fn level_at(&self, now: Stamp) -> u32 {
        let mut balance = *self.cell.lock();
        self.numbers.credit(&mut balance, now);
        self.numbers.level(&balance)
    }

    /// Credits the time that has passed, before the cell is used with other numbers.
    #[cfg(feature = "serde")]
    pub(crate) fn settle(&self) {
        self.change(|balance| self.numbers.credit(balance, Stamp::now()));
    }

    /// A number that no other budget of the process has.
    pub(crate) fn id(self) -> u64 {
        let mut balance = self.cell.lock();
        *balance.id.get_or_insert_with(|| rng::seed(Stamp::now()))
    }

    /// Makes the cell of another budget, with the same numbers and the same level at the start.
    pub(crate) fn fresh(self) -> BudgetCell {
        self.fresh_within(u32::MAX, Stamp::now())
    }

    /// Makes such a cell, but with at most `most` thousandths of a token.
    pub(super) fn fresh_within(self, most: u32, now: Stamp) -> BudgetCell {
        let numbers = self.numbers;
        let mut balance = Balance::new(numbers.capacity - numbers.start.min(most), now);
        if numbers.is_serious(balance.missing) {
            balance.begin(FaultState::Serious);
        }
        BudgetCell::of(balance)
    }

    /// Describes how many retries a full budget allows at once, for a message.
    pub(crate) fn retries_when_full(self) -> String {
        let [failures, timeouts] = [Charge::Failure, Charge::Timeout].map(|charge| {
            self.numbers
                .capacity
                .checked_div(self.numbers.price(charge))
        });
        let after_failures = match failures {
            None => "any number of retries".to_owned(),
            Some(0) => "no retries".to_owned(),
            Some(1) => "1 retry".to_owned(),
            Some(retries) => format!("{retries} retries"),
        };
        let after_timeouts = match timeouts {
            _ if timeouts == failures => return after_failures,
            None => "any number".to_owned(),
            Some(0) => "none".to_owned(),
            Some(retries) => retries.to_string(),
        };
        format!("{after_failures} after failures, {after_timeouts} after timeouts")
    }

    fn change<T>(self, step: impl FnOnce(&mut Balance) -> T) -> T {
        let mut balance = self.cell.lock();
        let result = step(&mut balance);
        self.cell.busy.set(!balance.is_at_rest());
        result
    }
}
