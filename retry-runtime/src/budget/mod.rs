//! The retry budget: bounds how many retries calls make.

mod budgets;
#[cfg(any(test, feature = "testing"))]
pub mod drive;
mod numbers;
mod of_call;

#[cfg(test)]
mod tests;

use std::fmt;

pub use self::budgets::Budgets;
use self::numbers::Balance;
pub(crate) use self::numbers::{BudgetConfig, Charge, Request, thousandths};
pub(crate) use self::of_call::{BudgetCell, BudgetRef};
use crate::clock::Stamp;
use crate::getters::setters;

/// Bounds how many retries a process may add to the load of a service that is failing.
///
/// Backoff spreads retries over time but does not reduce their number. A budget does. It holds tokens, and each retry
/// takes some. If too few are left, the call ends with its last error. Calls that succeed give tokens back. So retries
/// are possible while few calls fail, and stop when most calls fail, which is when they do harm.
///
/// Every annotated function has a budget of its own, unless its attribute or its policy names one, or its attempts are
/// unlimited. Functions that call the same service should share a budget: as a `static`, or in a [`Preset`](crate::Preset)
/// whose policy [has a budget](crate::Policy::with_budget). [`Budgets`] keeps one for each host or tenant.
///
/// # Formula
///
/// | in tokens | [`Budget::new()`](Self::new) | [`Budget::aws()`](Self::aws) | [`Budget::ratio(r)`](Self::ratio) |
/// |---|---|---|---|
/// | level at the start | 200 (full) | 500 (full) | 1 |
/// | capacity | 200 | 500 | 10 |
/// | a retry takes, after a timeout | 6 | 14 | 1 |
/// | after a throttled failure | 4 | 5 | 1 |
/// | after a conflict | 0 | 0 | 0 |
/// | after any other failure | 2 | 14 | 1 |
/// | a call gives | 0.2 if it succeeds without a retry | 1 if it succeeds without a retry | `r` once: if it succeeds without a retry, or when it asks for its first retry |
/// | a call that succeeds after retries gives | what its last retry took | what its last retry took | nothing more |
/// | comes back in a second | 2 | 0 | 0 |
/// | the first wave is free | yes | no | no |
///
/// So a full default budget allows 100 retries at once, or 33 if attempts time out. A failure is *throttled* if its
/// verdict is [`Verdict::Throttled`](crate::Verdict::Throttled). A retry after a timeout takes most, because the
/// service may still be working on the attempt before it.
///
/// The level is counted in thousandths of a token, in `[0, capacity]`.
///
/// # Free first wave
///
/// A *fault* begins with the first retry that takes tokens after a success. The first retry of a call that fails in its first
/// poll, as every `blocking` call does, begins one only if it leaves less than two thirds of the tokens. The *first wave* is the
/// calls that had begun by then. Once more than a third of the tokens are gone, the first five retries of each of these calls take nothing.
///
/// So a server that freezes for a moment costs no calls, also if hundreds were under way. Calls that begin in the fault
/// share the tokens that are left.
///
/// A call belongs to the first wave of each fault that began after it did, whatever faults there were before.
///
/// A fault ends with the next success. Once a third of the tokens are gone, it ends at the first success after the budget is full
/// again. It does not expire with time, so an outage has one first wave, however long it is. Its calls add at most five retries each to
/// those that the tokens pay for.
///
/// A retry after [progress](crate::Attempt::record_progress) is never free. It takes at least what a retry after a failure takes.
///
/// The page `docs/LOAD.md` has the calls that each budget refuses in a fault, and what the budget costs.
///
/// Sources:
///
/// - `new`: our choice, with the simulation in `docs/LOAD.md`.
/// - `aws`: the standard retry mode of the AWS SDKs, *Retry behavior*, AWS SDKs and Tools Reference
///   Guide, 2026.
/// - `ratio`: *Fixing retries with token buckets and circuit breakers*, Marc Brooker, 2022. We chose the capacity of
///   ten retries: with a hundred, a process that makes 20 calls a second makes more retries in an outage than with
///   `aws`.
///
/// # Cost
///
/// While the budget is full, a call reads one flag when it begins and again when it succeeds. Every other operation holds a
/// lock for a few nanoseconds. The budget reads the clock only for a success in a fault that took a third of the tokens,
/// and for its first use if it does not start full.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::Budget;
///
/// static PAYMENTS: Budget = Budget::new();
/// assert_eq!(PAYMENTS.level(), 200.0);
///
/// // One retry for every ten calls, and at least one a second.
/// static SEARCH: Budget = Budget::ratio(0.1).with_refill(1.0);
/// assert_eq!(SEARCH.capacity(), 10);
/// ```
pub struct Budget {
    cell: BudgetCell,
    numbers: BudgetConfig,
}

impl Budget {
    /// Makes a full budget of 200 tokens, as each function has by default.
    ///
    /// It allows 100 retries at once and then one a second. If attempts time out, it allows 33 at once and then one in
    /// three seconds. Calls that had begun when a fault began have five free retries each. See [Formula](Self#formula).
    #[must_use]
    pub const fn new() -> Self {
        Self::of(BudgetConfig::DEFAULT)
    }

    /// Makes a full budget with the numbers of the AWS SDKs: 35 retries, then one for every fourteen calls that
    /// succeed at their first attempt.
    ///
    /// A retry costs the same after a failure as after a timeout, and no tokens come back over time. See
    /// [Formula](Self#formula).
    #[must_use]
    pub const fn aws() -> Self {
        Self::of(BudgetConfig::AWS)
    }

    /// Makes a budget that allows `ratio` retries for each call, and one retry at the start.
    ///
    /// `ratio` is in `[0, 1]`, rounded to thousandths, and to 0.001 if it is less but not 0. `0.1` is one retry for ten calls.
    /// A number out of range counts as the nearer end of the range, and NaN as 0.
    #[must_use]
    pub const fn ratio(ratio: f64) -> Self {
        Self::of(BudgetConfig {
            reward: thousandths(ratio.max(0.0).min(1.0)),
            ..BudgetConfig::RATIO
        })
    }

    /// Returns the tokens in the budget now, in `[0, capacity]`.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.of_call().level()
    }

    /// Returns how many tokens the budget can hold.
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.numbers.capacity()
    }

    /// Sets how many tokens the budget can hold, in `[1, 268_435]`.
    ///
    /// The default is 200 for [`new`](Self::new) and 500 for [`aws`](Self::aws), which start full with any capacity. It is
    /// 10 for [`ratio`](Self::ratio), which starts with one token. A retry that costs more than the capacity is always
    /// refused.
    #[must_use]
    pub const fn with_capacity(self, tokens: u32) -> Self {
        let capacity = BudgetConfig::tokens(if tokens == 0 { 1 } else { tokens });
        let numbers = self.into_numbers();
        // A budget that starts full starts with the new capacity. Any other starts with one token, which always fits.
        let full = numbers.start == numbers.capacity;
        let start = if full { capacity } else { numbers.start };
        Self::of(BudgetConfig {
            start,
            capacity,
            ..numbers
        })
    }

    setters! {
        /// Sets how many tokens a retry takes after a failure that is neither a timeout nor throttled, in `[0, 268_435]`.
        ///
        /// The default is 2 for [`new`](Self::new), 14 for [`aws`](Self::aws), and 1 for [`ratio`](Self::ratio).
        with_retry_cost(tokens: u32) => numbers.failure = BudgetConfig::tokens(tokens);

        /// Sets how many tokens a retry takes after an attempt that reached its `timeout`, or had a transient failure at most 1 ms before it, in
        /// `[0, 268_435]`.
        ///
        /// The default is 6 for [`new`](Self::new), 14 for [`aws`](Self::aws), and 1 for [`ratio`](Self::ratio).
        with_timeout_cost(tokens: u32) => numbers.timeout = BudgetConfig::tokens(tokens);

        /// Sets how many tokens a retry takes after a throttled failure
        /// ([`Verdict::Throttled`](crate::Verdict::Throttled)), in `[0, 268_435]`.
        ///
        /// The default is 4 for [`new`](Self::new), 5 for [`aws`](Self::aws), and 1 for [`ratio`](Self::ratio).
        with_throttled_cost(tokens: u32) => numbers.throttled = BudgetConfig::tokens(tokens);

        /// Sets how many tokens a call gives if it succeeds without a retry, in `[0.0, 268_435.0]`, rounded to
        /// thousandths, and to 0.001 if it is less but not 0.
        ///
        /// The default is 0.2 for [`new`](Self::new), 1 for [`aws`](Self::aws), and `ratio` for [`ratio`](Self::ratio),
        /// where every call gives it once.
        with_reward(tokens: f64) => numbers.reward = thousandths(tokens);

        /// Sets how many tokens come back each second, in `[0.0, 268_435.0]`, rounded to thousandths, and to 0.001 if it is less
        /// but not 0. Time counts from the first use of the budget. It helps functions that are called too seldom to earn tokens by
        /// success.
        ///
        /// The default is 2 for [`new`](Self::new), and 0 for [`aws`](Self::aws) and [`ratio`](Self::ratio). The budget
        /// never holds more than its capacity.
        with_refill(tokens_per_second: f64) => numbers.refill = thousandths(tokens_per_second);
    }

    /// Lets the hint of a server pause all calls that use the budget.
    ///
    /// When a call fails with a throttled error that has a hint, such as status 429 with `Retry-After: 2`, a pause begins, or
    /// the present one goes on until the later end. A success does not end it. A hint above the call's
    /// [`max_retry_after`](crate::Policy::with_max_retry_after) begins no pause.
    ///
    /// In a pause, no attempt begins:
    ///
    /// - A call that begins waits before its first attempt, until the end of the pause and then up to the ceiling of its first
    ///   delay. A retry waits in the same way after its own delay, and again after `before_retry`. A hedge is refused.
    /// - If that does not fit the deadline, the call ends at once, with [`Outcome::Paused`](crate::Outcome::Paused). A retry
    ///   then ends with the error of the last attempt. A call whose error type cannot hold a `Stopped` has no limit of its own: it
    ///   begins its attempt when the deadline of the outer call is reached, unless that ends the outer call.
    /// - Before an attempt, no call follows a pause longer than its own `max_retry_after`, and it waits for at most 1.25 times that.
    ///
    /// A function takes part if its attribute names the budget, or a [`Run`](crate::Run) does. Give each tenant a budget of its
    /// own if the server limits each tenant, because one tenant's limit would stop all: `Budgets::new(Budget::new().with_pause())`
    /// keeps one for each.
    ///
    /// # Cost
    ///
    /// One relaxed load for each attempt of a function whose attribute names a budget. During a pause, and while tokens are
    /// missing, a call reads the clock before its first attempt.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::Budget;
    ///
    /// static MODEL_API: Budget = Budget::new().with_pause();
    /// # assert_eq!(MODEL_API.capacity(), 200);
    /// ```
    #[must_use]
    pub const fn with_pause(mut self) -> Self {
        self.numbers.pauses = true;
        self
    }

    /// The budget as calls use it.
    pub(crate) const fn of_call(&self) -> BudgetRef<'_> {
        BudgetRef {
            cell: &self.cell,
            numbers: &self.numbers,
        }
    }

    #[allow(
        clippy::forget_non_drop,
        reason = "only on some systems, a lock has something to free"
    )]
    pub(crate) const fn into_numbers(self) -> BudgetConfig {
        let numbers = self.numbers;
        // Constant code cannot drop a lock. No one used this one, so it has nothing to free.
        std::mem::forget(self);
        numbers
    }

    pub(crate) const fn of(numbers: BudgetConfig) -> Self {
        Self {
            cell: BudgetCell::of(Balance::new(numbers.capacity - numbers.start, Stamp::NEVER)),
            numbers,
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("level", &self.level())
            .field("capacity", &self.capacity())
            .field(
                "retries_when_full",
                &format_args!("{}", self.of_call().retries_when_full()),
            )
            .finish()
    }
}
