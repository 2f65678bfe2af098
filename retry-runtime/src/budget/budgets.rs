//! One budget for each key.

mod forgotten;

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use self::forgotten::ForgottenLevels;
use super::Budget;
use super::of_call::tick;
use crate::clock::Stamp;
use crate::rng;

/// Keeps one [`Budget`] for each key: a host, a shard, a tenant.
///
/// When one host is down, retries to that host stop. Retries to the others go on.
///
/// # Bounds
///
/// At most [`with_max_keys`](Self::with_max_keys) keys are known, 1,024 by default. Below that number, a new key starts
/// with the same level as the budget that was passed to [`new`](Self::new). At that number, a new key replaces another,
/// out of the 64 keys that were asked for or considered least recently:
///
/// - The first key with a full budget that no one holds, and that is in no [pause](Budget::with_pause), is forgotten. Nothing is
///   lost, because a new budget for that key would be full too.
/// - If there is none, the key with the fullest of such budgets is forgotten, and its level is remembered. The
///   new key starts with no more tokens than that budget had left, so new keys never create tokens.
///
/// A forgotten key comes back with no more tokens than it had, and those that time has given back since. So no one can
/// reset the drained budget of one key by asking for many other keys. If all budgets are drained, a new key starts
/// drained too, and earns its tokens by success and by time as every key does.
///
/// Four levels are remembered for each key that can be known. Keys with the same place among them share the lowest level,
/// so after many keys were forgotten while drained, a key may start lower than it would alone.
///
/// Asking for a known key takes a lock and one look-up, and allocates nothing. A new key is copied once, and at most
/// 64 levels are read. The lock is held while `Hash` and `Eq` of the key run, so these must not use the same
/// `Budgets`. All other code of the key runs outside the lock.
///
/// A call holds its budget until it ends. If the budgets of all 64 keys are held or in a pause, the fullest key is
/// forgotten: the calls that hold its budget keep it, and other calls with this key get a new one without the pause. Ask
/// for the budget in each call, and do not store it.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
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
    known: Mutex<Option<KnownKeys<K>>>,
}

/// The keys that are known, and what is left of those that were.
struct KnownKeys<K> {
    budgets: LruCache<K, Arc<Budget>, RandomState>,
    forgotten: ForgottenLevels,
    /// Gives a key its place among the forgotten ones.
    hasher: RandomState,
}

/// How many budgets are read to find a key to forget. Our choice, to bound the time that the lock is held.
const LOOKS: usize = 64;

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

    /// Sets how many keys can be known, at least 1. Default: 1,024.
    ///
    /// Each key is stored once, with one budget and 32 bytes for the levels of forgotten keys.
    ///
    /// # Panics
    ///
    /// - If `keys` is 0. In a `static`, that is a compile error.
    #[must_use]
    pub const fn with_max_keys(mut self, keys: usize) -> Self {
        assert!(keys > 0, "a number of keys is at least 1");
        self.max_keys = keys;
        self
    }

    fn lock(&self) -> MutexGuard<'_, Option<KnownKeys<K>>> {
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
    /// # use retry_runtime as reattempt;
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
        if let Some(known) = &mut *self.lock() {
            if let Some(budget) = known.budgets.get(key) {
                return Arc::clone(budget);
            }
        }
        // This calls the user's code, so the lock is free. Another thread may insert the key meanwhile.
        let owned = key.to_owned();
        let mut lock = self.lock();
        let known = lock.get_or_insert_with(|| KnownKeys {
            budgets: LruCache::unbounded_with_hasher(rng::hasher()),
            forgotten: ForgottenLevels::default(),
            hasher: rng::hasher(),
        });
        if let Some(budget) = known.budgets.get(key).map(Arc::clone) {
            drop(lock);
            return budget;
        }
        let (budget, forgotten) = known.put(owned, &self.numbers, self.max_keys);
        drop(lock);
        drop(forgotten);
        budget
    }
}

impl<K: Hash + Eq> KnownKeys<K> {
    /// Inserts a new key. Returns the key that it replaced, so that the user's `Drop` runs outside the lock.
    fn put(&mut self, key: K, numbers: &Budget, max_keys: usize) -> (Arc<Budget>, Option<K>) {
        let (clock, of) = (Stamp::now(), numbers.numbers);
        let now = tick(clock);
        let (mut most, mut replaced) = (u32::MAX, None);
        if self.budgets.len() >= max_keys {
            if let Some((old, left)) = self.take_fullest(clock) {
                let hash = self.hasher.hash_one(&old);
                self.forgotten.remember(hash, left, max_keys, of, now);
                let hash = self.hasher.hash_one(&key);
                most = left.min(self.forgotten.level(hash, of, now));
                replaced = Some(old);
            }
        }
        let budget = Arc::new(numbers.fresh_within(most, now));
        self.budgets.push(key, Arc::clone(&budget));
        (budget, replaced)
    }

    /// Takes out the first of the next keys whose budget is full, in no pause, and that no one holds. If there is none, takes the
    /// first of the fullest, those that are held or in a pause last. Returns its level too. The others go to the end of the queue.
    fn take_fullest(&mut self, now: Stamp) -> Option<(K, u32)> {
        let mut fullest: Option<(K, Arc<Budget>, (bool, u32))> = None;
        for _ in 0..self.budgets.len().min(LOOKS) {
            let (key, mut budget) = self.budgets.pop_lru()?;
            // After `get_mut`, the level has all that earlier holders took. If the key comes back, its budget has no pause.
            let held = Arc::get_mut(&mut budget).is_none();
            let free = !held && budget.of_call().paused_until(now).is_none();
            let level = budget.of_call().ledger().level(tick(now));
            let is_full = free && level >= budget.numbers.capacity;
            let looked_at = (key, budget, (free, level));
            let fuller = fullest
                .as_ref()
                .is_none_or(|(.., most)| (free, level) > *most);
            let other = if fuller {
                fullest.replace(looked_at)
            } else {
                Some(looked_at)
            };
            if let Some((key, budget, _)) = other {
                self.budgets.push(key, budget);
            }
            if is_full {
                break;
            }
        }
        fullest.map(|(key, _, (_, level))| (key, level))
    }
}

impl<K> Default for Budgets<K> {
    /// Keeps budgets with the default numbers.
    fn default() -> Self {
        Self::new(Budget::new())
    }
}

impl<K: Hash + Eq> fmt::Debug for Budgets<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.lock().as_ref().map_or(0, |known| known.budgets.len());
        f.debug_struct("Budgets")
            .field("keys", &keys)
            .field("max_keys", &self.max_keys)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
