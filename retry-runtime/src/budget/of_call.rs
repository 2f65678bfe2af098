//! A budget as calls use it: a cell that changes, and numbers that do not.

use super::numbers::{Balance, BudgetConfig, Charge, FaultState, Request, TICK_MILLIS};
use crate::atomics::{AtomicU64, Count, Latest, UniqueId, Word};
use crate::clock::Stamp;

/// What is missing from a budget. It is used with the numbers of one budget, or of several, one after the other.
#[derive(Debug)]
pub(crate) struct BudgetCell {
    state: AtomicU64,
    /// A number that no other cell has, by which a test scope knows it.
    id: UniqueId,
    /// When the pause ends, as a [`Stamp`].
    pause: Latest,
    /// How many faults began.
    faults: Count,
}

impl BudgetCell {
    /// A cell from which nothing is missing, so that a budget with any numbers is full.
    pub(crate) const fn full() -> Self {
        Self::of(0)
    }

    /// A cell with this packed state.
    pub(super) const fn of(state: u64) -> Self {
        Self {
            state: AtomicU64::new(state),
            id: UniqueId::new(),
            pause: Latest::none(),
            faults: Count::new(),
        }
    }

    /// Whether the budget is full, and has no fault. A success then changes nothing.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        self.balance().is_at_rest()
    }

    /// How many faults began so far. By this number, a call knows the fault in which it began.
    #[inline]
    pub(crate) fn faults(&self) -> u32 {
        self.faults.get()
    }

    /// Whether there is a fault. A call that begins now does not belong to its first wave.
    #[inline]
    pub(crate) fn has_fault(&self) -> bool {
        self.balance().fault != FaultState::None
    }

    #[inline]
    fn balance(&self) -> Balance {
        Balance::unpack(Word::load(&self.state))
    }

    /// Whether there may be a pause.
    #[inline]
    pub(crate) fn may_be_paused(&self) -> bool {
        self.pause.get() != 0
    }
}

/// The cell and the numbers of the budget of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BudgetRef<'b> {
    pub(crate) cell: &'b BudgetCell,
    pub(crate) numbers: &'b BudgetConfig,
}

impl<'b> BudgetRef<'b> {
    /// Asks for the permit of one retry. Returns what the retry is charged, or `None` if the budget refuses it.
    #[inline]
    pub(crate) fn take(self, of: Request, now: Stamp) -> Option<Charge> {
        // Counted before the fault is seen, so that each call that began before it has a smaller number.
        (self.ledger()).take_and(of, tick(now), || self.cell.faults.add())
    }

    /// Whether a call had begun before the present fault, if there is one. `faults` is how many had begun when the call did.
    pub(crate) fn had_begun(self, faults: u32) -> bool {
        faults != self.cell.faults() || !self.cell.has_fault()
    }

    /// Gives back what was taken for a retry that never began.
    pub(crate) fn give_back(self, charge: Charge) {
        self.ledger().give(self.numbers.price(charge));
    }

    /// Records a call that succeeded. `last_retry` is the charge of its last retry, if there was one. `now` is asked only in
    /// a serious fault.
    #[inline]
    pub(crate) fn succeed(self, last_retry: Option<Charge>, now: impl Fn() -> Stamp) {
        self.ledger().succeed(last_retry, || tick(now()));
    }

    /// Whether at least half of the tokens are left, so that a call may hedge (gRPC's proposal A6).
    pub(crate) fn is_half_full(&self) -> bool {
        self.level() * 2.0 >= f64::from(self.numbers.capacity())
    }

    /// Pauses all calls until `end`, or until the end of the present pause if that is later, if the hint of a server does so.
    pub(crate) fn pause_until(self, end: Stamp) {
        if self.numbers.pauses {
            self.cell.pause.raise_to(end.as_nanos());
        }
    }

    /// Returns when the present pause ends, if there is one.
    pub(crate) fn paused_until(self, now: Stamp) -> Option<Stamp> {
        let end = self.cell.pause.get();
        if end <= now.as_nanos() {
            self.cell.pause.forget(end);
            return None;
        }
        Some(Stamp::from_nanos(end))
    }

    /// The tokens in the budget now.
    pub(crate) fn level(&self) -> f64 {
        f64::from(self.ledger().level(tick_now())) / 1000.0
    }

    /// Credits the time that has passed, before the cell is used with other numbers.
    #[cfg(feature = "serde")]
    pub(crate) fn settle(&self) {
        self.ledger().settle(tick_now());
    }

    /// A number that no other budget of the process has.
    pub(crate) fn id(self) -> u64 {
        self.cell.id.get()
    }

    /// Makes the cell of another budget, with the same numbers and the same level at the start.
    pub(crate) fn fresh(self) -> BudgetCell {
        self.fresh_within(u32::MAX, tick_now())
    }

    /// Makes such a cell, but with at most `most` thousandths of a token. `now` is in ticks.
    pub(super) fn fresh_within(self, most: u32, now: u64) -> BudgetCell {
        let missing = self.numbers.capacity - self.numbers.start.min(most);
        BudgetCell::of(self.numbers.drained(missing, now).pack())
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

    pub(super) fn ledger(self) -> Ledger<'b, AtomicU64> {
        Ledger {
            word: &self.cell.state,
            numbers: self.numbers,
        }
    }
}

/// A shared level, with the numbers of its budget.
pub(super) struct Ledger<'b, W> {
    pub(super) word: &'b W,
    pub(super) numbers: &'b BudgetConfig,
}

impl<W: Word> Ledger<'_, W> {
    /// Asks for the permit of one retry. Returns what the retry is charged, or `None` if it is refused.
    #[cfg(test)]
    pub(super) fn take(&self, of: Request, now: u64) -> Option<Charge> {
        self.take_and(of, now, || ())
    }

    /// The same. `begins` is called before a fault begins, and may be called again if other threads are faster.
    #[inline]
    pub(super) fn take_and(&self, of: Request, now: u64, begins: impl Fn()) -> Option<Charge> {
        self.update(|state| {
            let state = self.numbers.at(state, now);
            let (after, charge) = self.numbers.take(state, of);
            if state.fault == FaultState::None && after.fault != FaultState::None {
                begins();
            }
            (after, charge)
        })
    }

    /// Adds `amount`, in thousandths of a token.
    pub(super) fn give(&self, amount: u32) {
        self.update(|state| (state.add(amount), ()));
    }

    /// Records a call that succeeded. `now` is asked only in a serious fault.
    #[inline]
    pub(super) fn succeed(&self, last_retry: Option<Charge>, now: impl Fn() -> u64) {
        if Balance::unpack(self.word.load()).is_at_rest() {
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
    #[cfg(feature = "serde")]
    pub(super) fn settle(&self, now: u64) {
        self.update(|state| (self.numbers.at(state, now), ()));
    }

    pub(super) fn level(&self, now: u64) -> u32 {
        let state = self.numbers.at(Balance::unpack(self.word.load()), now);
        self.numbers.level(state)
    }

    /// Applies `step` to the state. While calls succeed it changes nothing: a success with a full budget, or a second
    /// refusal within a tick.
    #[inline]
    fn update<T>(&self, step: impl Fn(Balance) -> (Balance, T)) -> T {
        self.word.change(|word| {
            let (state, result) = step(Balance::unpack(word));
            (state.pack(), result)
        })
    }
}

/// The current time as a budget counts it.
pub(super) fn tick_now() -> u64 {
    tick(Stamp::now())
}

/// Time as a budget counts it.
pub(super) fn tick(now: Stamp) -> u64 {
    now.as_nanos() / (TICK_MILLIS * 1_000_000)
}
