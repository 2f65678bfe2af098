//! What bounds the load of retries.

mod ledger;
mod rule;

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;

use std::fmt;

use self::ledger::Ledger;
pub(crate) use self::rule::Charge;
use self::rule::{Rule, thousandths};
use crate::atomics::AtomicU64;
use crate::clock::Stamp;

/// Bounds how many retries a process may add to the load of a service that is failing.
///
/// Backoff spreads retries over time and sends as many of them; only a budget makes them fewer. A
/// budget holds tokens. A retry takes some, and where there are too few the call ends with its last
/// error instead. Successes fill it again, so that retries are plentiful while they are rare and
/// stop when most calls fail, which is when they do harm.
///
/// Every annotated function has a budget of its own unless it names one; functions that call the
/// same service should share one, as a `static`.
///
/// # Formula
///
/// ```text
///                              Budget::new()                    Budget::ratio(r)
/// level at the start           500 tokens (full)                1 token
/// capacity                     500 tokens                       10 tokens
/// a retry takes                14 tokens                        1 token
/// a throttled retry takes      5 tokens                         1 token
/// a call gives back            1 token if the first attempt     r tokens, once: when its first
///                              succeeded; what its last retry   attempt succeeded, or when it asks
///                              took if a retry succeeded;       for its first retry
///                              else nothing
/// ```
///
/// A "throttled" retry is one after an error that says the service had too many requests. The level
/// is kept in thousandths of a token, in `[0, capacity]`. Source of `new`: the standard retry mode
/// of the AWS SDKs, *Retry behavior*, AWS SDKs and Tools Reference Guide, 2026. Source of `ratio`:
/// *Fixing retries with token buckets and circuit breakers*, Marc Brooker, 2022. The capacity of
/// `ratio`, ten retries saved up, was chosen by us: with a hundred, a process of 20 calls a second
/// makes more retries in an outage than with `new` (`docs/LOAD.md` has the figures).
///
/// # Cost
///
/// A call that succeeds while the budget is full reads one word. Everything else is one
/// compare-and-swap, repeated only when another thread was faster; there is no lock, and no clock
/// is read unless the budget has a [`floor`](Self::floor).
///
/// # Examples
///
/// ```
/// use retry_runtime::Budget;
///
/// static PAYMENTS: Budget = Budget::new();
/// assert_eq!(PAYMENTS.level(), 500.0);
///
/// // One retry for every ten calls, and one a second however few the calls are.
/// static SEARCH: Budget = Budget::ratio(0.1).floor(1.0);
/// assert_eq!(SEARCH.level(), 1.0);
/// ```
pub struct Budget {
    ledger: Ledger<AtomicU64>,
}

impl Budget {
    /// Makes a full budget with the numbers of the AWS standard: 35 retries, then one for every
    /// fourteen calls that succeed at once.
    #[must_use]
    pub const fn new() -> Self {
        Self::of(Rule::AWS)
    }

    /// Makes a budget that allows `ratio` retries for each call, and one to begin with.
    ///
    /// `ratio` is in `[0, 1]` and kept in thousandths: `0.1` is one retry for ten calls.
    ///
    /// # Panics
    ///
    /// - If `ratio` is not in `[0, 1]`. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn ratio(ratio: f64) -> Self {
        assert!(ratio >= 0.0 && ratio <= 1.0, "a ratio is in `0.0..=1.0`");
        Self::of(Rule {
            reward: thousandths(ratio),
            ..Rule::RATIO
        })
    }

    /// Sets how many tokens the budget holds at most; [`new`](Self::new) starts with as many.
    ///
    /// In `[1, 268_435]`. A retry that takes more than the capacity never happens.
    ///
    /// # Panics
    ///
    /// - If `tokens` is not in that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn capacity(self, tokens: u32) -> Self {
        assert!(tokens > 0, "a capacity is at least 1");
        let capacity = Rule::tokens(tokens);
        let rule = self.ledger.rule();
        // A budget that starts full stays one; one that starts with a single retry keeps it.
        let full = rule.start == rule.capacity || rule.start > capacity;
        let start = if full { capacity } else { rule.start };
        Self::of(Rule {
            start,
            capacity,
            ..rule
        })
    }

    /// Sets how many tokens a retry takes, in `[0, 268_435]`.
    ///
    /// # Panics
    ///
    /// - If `tokens` is above that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn retry_cost(self, tokens: u32) -> Self {
        Self::of(Rule {
            retry: Rule::tokens(tokens),
            ..self.ledger.rule()
        })
    }

    /// Sets how many tokens a retry takes when the service said that it had too many requests, in
    /// `[0, 268_435]`.
    ///
    /// # Panics
    ///
    /// - If `tokens` is above that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn throttled_cost(self, tokens: u32) -> Self {
        Self::of(Rule {
            throttled: Rule::tokens(tokens),
            ..self.ledger.rule()
        })
    }

    /// Sets how many tokens a call gives that succeeds at once, in `[0, 268_435]`.
    ///
    /// # Panics
    ///
    /// - If `tokens` is above that range. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn reward(self, tokens: u32) -> Self {
        Self::of(Rule {
            reward: Rule::tokens(tokens),
            ..self.ledger.rule()
        })
    }

    /// Sets how many retries a second the budget earns by time alone, for functions that are called
    /// too seldom to earn them by success.
    ///
    /// In `[0, 10_000]`, kept in thousandths: `0.1` is one retry in ten seconds. The default is 0:
    /// no clock is read. What was earned is saved up to the capacity, and a long idle time costs no
    /// more to account for than a short one.
    ///
    /// # Panics
    ///
    /// - If `retries_per_second` is not in that range. In a `static` that is an error at compile
    ///   time.
    #[must_use]
    pub const fn floor(self, retries_per_second: f64) -> Self {
        assert!(
            retries_per_second >= 0.0 && retries_per_second <= 10_000.0,
            "a floor is in `0.0..=10_000.0` retries a second"
        );
        Self::of(Rule {
            floor: thousandths(retries_per_second),
            ..self.ledger.rule()
        })
    }

    /// The tokens in the budget now, in `[0, capacity]`.
    #[must_use]
    pub fn level(&self) -> f64 {
        let now = if self.has_floor() {
            tick(Stamp::now())
        } else {
            0
        };
        f64::from(self.ledger.level(now)) / 1000.0
    }

    const fn of(rule: Rule) -> Self {
        Self {
            ledger: Ledger::new(AtomicU64::new(rule.first_word()), rule),
        }
    }
}

/// What the state machine of a call uses.
impl Budget {
    /// Takes the price of one retry; `false` where the budget refuses it.
    ///
    /// `first` says that the call never asked before. The clock is read only where there is a floor.
    pub(crate) fn take(&self, charge: Charge, first: bool) -> bool {
        let now = if self.has_floor() {
            tick(Stamp::now())
        } else {
            0
        };
        self.take_at(charge, first, now)
    }

    /// Gives back what was taken for a retry that never began.
    pub(crate) fn give_back(&self, charge: Charge) {
        self.ledger.give(self.ledger.rule().price(charge));
    }

    fn has_floor(&self) -> bool {
        self.ledger.rule().floor > 0
    }

    /// Takes it at a time, in ticks.
    fn take_at(&self, charge: Charge, first: bool, now: u64) -> bool {
        self.ledger.take(charge, first, now)
    }

    /// Takes note of a call that succeeded; `last_retry` is what its last retry was asked for as, if
    /// there was one.
    #[inline]
    pub(crate) fn succeed(&self, last_retry: Option<Charge>) {
        self.ledger.succeed(last_retry);
    }
}

/// Time as a budget counts it, in milliseconds.
fn tick(now: Stamp) -> u64 {
    now.as_nanos() / 1_000_000
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capacity = f64::from(self.ledger.rule().capacity) / 1000.0;
        f.debug_struct("Budget")
            .field("level", &self.level())
            .field("capacity", &capacity)
            .finish()
    }
}
