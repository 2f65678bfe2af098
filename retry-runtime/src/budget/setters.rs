//! The setters of a budget.

use super::Budget;
use super::numbers::{BudgetNumbers, thousandths};

impl Budget {
    /// Sets how many tokens the budget holds at most.
    ///
    /// In `[1, 268_435]`; the default is 500 for [`new`](Self::new) and [`aws`](Self::aws), which
    /// start full whatever the capacity, and 10 for [`ratio`](Self::ratio), which starts with one
    /// token. A retry that takes more than the capacity never happens.
    ///
    /// # Panics
    ///
    /// - If `tokens` is not in that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_capacity(self, tokens: u32) -> Self {
        assert!(tokens > 0, "a capacity is at least 1");
        let capacity = BudgetNumbers::tokens(tokens);
        let numbers = self.ledger.numbers();
        // A budget that starts full stays one; one that starts with a single retry keeps it.
        let full = numbers.start == numbers.capacity || numbers.start > capacity;
        let start = if full { capacity } else { numbers.start };
        Self::of(BudgetNumbers {
            start,
            capacity,
            ..numbers
        })
    }

    /// Sets how many tokens a retry takes after a failure that is neither a timeout nor throttled.
    ///
    /// In `[0, 268_435]`; the default is 2 for [`new`](Self::new), 14 for [`aws`](Self::aws), 1 for
    /// [`ratio`](Self::ratio).
    ///
    /// # Panics
    ///
    /// - If `tokens` is above that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_retry_cost(self, tokens: u32) -> Self {
        Self::of(BudgetNumbers {
            failure: BudgetNumbers::tokens(tokens),
            ..self.ledger.numbers()
        })
    }

    /// Sets how many tokens a retry takes after an attempt that was cut by its `timeout`.
    ///
    /// In `[0, 268_435]`; the default is 14 for [`new`](Self::new) and [`aws`](Self::aws), 1 for
    /// [`ratio`](Self::ratio).
    ///
    /// # Panics
    ///
    /// - If `tokens` is above that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_timeout_cost(self, tokens: u32) -> Self {
        Self::of(BudgetNumbers {
            timeout: BudgetNumbers::tokens(tokens),
            ..self.ledger.numbers()
        })
    }

    /// Sets how many tokens a retry takes after an error which says that the service had too many
    /// requests ([`Verdict::Throttled`](crate::Verdict::Throttled)).
    ///
    /// In `[0, 268_435]`; the default is 5 for [`new`](Self::new) and [`aws`](Self::aws), 1 for
    /// [`ratio`](Self::ratio).
    ///
    /// # Panics
    ///
    /// - If `tokens` is above that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_throttled_cost(self, tokens: u32) -> Self {
        Self::of(BudgetNumbers {
            throttled: BudgetNumbers::tokens(tokens),
            ..self.ledger.numbers()
        })
    }

    /// Sets how many tokens a call gives if it succeeds at its first attempt.
    ///
    /// In `[0.0, 268_435.0]`, kept in thousandths; the default is 0.2 for [`new`](Self::new), 1 for
    /// [`aws`](Self::aws), and `ratio` for [`ratio`](Self::ratio), where every call gives it once.
    ///
    /// # Panics
    ///
    /// - If `tokens` is not in that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_reward(self, tokens: f64) -> Self {
        Self::of(BudgetNumbers {
            reward: thousandths(tokens),
            ..self.ledger.numbers()
        })
    }

    /// Sets how many tokens come back in a second by time alone, for functions that are called too
    /// seldom to earn them by success.
    ///
    /// In `[0.0, 268_435.0]`, kept in thousandths; the default is 5 for [`new`](Self::new), 0 for
    /// [`aws`](Self::aws) and [`ratio`](Self::ratio). The budget never holds more than its capacity.
    ///
    /// # Panics
    ///
    /// - If `tokens_per_second` is not in that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_refill(self, tokens_per_second: f64) -> Self {
        Self::of(BudgetNumbers {
            refill: thousandths(tokens_per_second),
            ..self.ledger.numbers()
        })
    }
}
