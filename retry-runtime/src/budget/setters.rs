//! The setters of a budget. A number out of range counts as the nearer end of the range, and NaN as 0.

use super::Budget;
use super::numbers::{BudgetConfig, thousandths};
use crate::getters::setters;

/// A number out of range counts as the nearer end of the range, and NaN as 0.
impl Budget {
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

        /// Sets how many tokens a retry takes after an attempt that reached its `timeout`, in `[0, 268_435]`.
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
    ///   then ends with the error of the last attempt.
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
}
