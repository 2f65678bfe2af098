//! One budget for each key.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Budget;
use crate::clock::Stamp;

/// Keeps one [`Budget`] for each key: a host, a shard, a tenant.
///
/// When one host is down, retries to that host stop. Retries to the others go on.
///
/// # Bounds
///
/// At most [`with_max_keys`](Self::with_max_keys) keys are known, 1,024 by default. Below that number, a new key starts
/// with the same level as the budget that was passed to [`new`](Self::new). At that number, a new key replaces another:
///
/// - The key with the fullest budget is forgotten, out of those that no one holds and that are in no
///   [pause](Budget::with_pause). If that budget is full, nothing is lost, because a new budget for its key would be full too.
/// - Otherwise, the new key starts with no more tokens than that budget had left, so new keys never create tokens.
///
/// So no one can reset the drained budget of one key by asking for many other keys: it is forgotten last, when all others are
/// drained too. A new key then starts drained, and earns its tokens by success and by time as every key does.
///
/// Asking for a known key takes a lock and one look-up, and allocates nothing. A new key is copied once. At the bound, the
/// level of each known key is read. The lock is held while code of the key runs, such as `Hash` and `Eq`, so that code must
/// not use the same `Budgets`.
///
/// A call holds its budget until it ends. If the budgets of all keys are held or in a pause, the fullest of these is
/// forgotten: the calls that hold its budget keep it, and other calls with this key get a new one without the pause. Ask
/// for the budget in each call, and do not store it.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Budget, Budgets};
///
/// static HOSTS: Budgets<String> = Budgets::new(Budget::new());
///
/// let budget = HOSTS.of("db-1.example.org"); // a `&str` finds a `String`
/// assert_eq!(budget.level(), 200.0);
/// ```
pub struct Budgets<K> {
    numbers: Budget,
    max_keys: usize,
    /// `None` until the first key, because a map with a random hasher cannot be made in a `const`.
    known: Mutex<Option<HashMap<K, Arc<Budget>>>>,
}

impl<K> Budgets<K> {
    /// Makes an empty set, whose budgets will have the numbers of `budget`.
    ///
    /// Each budget starts with the level with which `budget` started. Its present level does not matter.
    #[must_use]
    pub const fn new(budget: Budget) -> Self {
        Self {
            numbers: budget,
            max_keys: 1024,
            known: Mutex::new(None),
        }
    }

    /// Sets how many keys can be known, at least 1. Default: 1,024. 0 counts as 1.
    #[must_use]
    pub const fn with_max_keys(mut self, keys: usize) -> Self {
        self.max_keys = if keys == 0 { 1 } else { keys };
        self
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<K, Arc<Budget>>>> {
        // If `Hash` or `Eq` panicked, a key may be missing, but no key has the budget of another.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq> Budgets<K> {
    /// Returns the budget of a key. Makes the budget if the key is new; see [Bounds](Self#bounds) for its first level.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use std::sync::Arc;
    ///
    /// use reattempt::{Budget, Budgets};
    ///
    /// let tenants: Budgets<u64> = Budgets::new(Budget::ratio(0.1)).with_max_keys(100);
    /// assert!(Arc::ptr_eq(&tenants.of(&7), &tenants.of(&7)));
    /// assert!(!Arc::ptr_eq(&tenants.of(&7), &tenants.of(&8)));
    /// ```
    #[must_use]
    pub fn of<Q>(&self, key: &Q) -> Arc<Budget>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let mut lock = self.lock();
        let known = lock.get_or_insert_default();
        if let Some(budget) = known.get(key) {
            return Arc::clone(budget);
        }
        let (mut most, now) = (u32::MAX, Stamp::now());
        if known.len() >= self.max_keys {
            let of_all = known.iter().map(|(key, budget)| (usable(budget, now), key));
            if let Some(((_, level), fullest)) = of_all.max_by_key(|(usable, _)| *usable) {
                most = level;
                let fullest: K = fullest.borrow().to_owned();
                known.remove(fullest.borrow());
            }
        }
        let budget = Arc::new(Budget {
            cell: self.numbers.of_call().fresh_within(most, now),
            numbers: self.numbers.numbers,
        });
        known.insert(key.to_owned(), Arc::clone(&budget));
        budget
    }
}

/// Whether no call needs this very budget, and its level.
fn usable(budget: &Arc<Budget>, now: Stamp) -> (bool, u32) {
    let budget_of_call = budget.of_call();
    let free = Arc::strong_count(budget) == 1 && budget_of_call.paused_until(now).is_none();
    (free, budget_of_call.level_at(now))
}

impl<K> Default for Budgets<K> {
    /// Keeps budgets with the default numbers.
    fn default() -> Self {
        Self::new(Budget::new())
    }
}

impl<K: Hash + Eq> fmt::Debug for Budgets<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.lock().as_ref().map_or(0, HashMap::len);
        f.debug_struct("Budgets")
            .field("keys", &keys)
            .field("max_keys", &self.max_keys)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
