//! One budget for each key.

mod forgotten;

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::forgotten::ForgottenLevels;
use super::Budget;
use super::of_call::tick_now;
use crate::rng;

/// Keeps one [`Budget`] for each key: a host, a shard, a tenant.
///
/// When one host is down, retries to that host stop. Retries to the others go on.
///
/// # Bounds
///
/// At most [`with_max_keys`](Self::with_max_keys) keys are known, 1,024 by default. Below that number, a new key starts
/// with the same level as the budget that was passed to [`new`](Self::new). At that number, a new key replaces another,
/// out of the next 64 keys in turn:
///
/// - The first key with a full budget that nobody holds is forgotten. Nothing is lost, because a new budget for that key
///   would be full too.
/// - If there is none, the key with the fullest budget that nobody holds is forgotten, and its level is remembered. The
///   new key starts with no more tokens than that budget had left, so new keys never create tokens.
///
/// A forgotten key comes back with no more tokens than it had, and those that time has given back since. So nobody can
/// reset the drained budget of one key by asking for many other keys. If all budgets are drained, a new key starts
/// drained too, and earns its tokens by success and by time as every key does.
///
/// Four levels are remembered for each key that can be known. Keys with the same place among them share the lowest level,
/// so after many keys were forgotten while drained, a key may start lower than it would alone.
///
/// Asking for a known key takes a lock and one look-up, and allocates nothing. A new key is copied twice, and at most
/// 64 levels are read. The lock is held while `Hash` and `Eq` of the key run, so these must not use the same
/// `Budgets`. All other code of the key runs outside the lock.
///
/// A call holds its budget until it ends. If the budgets of all 64 keys are held, the fullest key is forgotten: the calls
/// that hold its budget keep it, and other calls with this key get a new one. Ask for the budget in each call, and do not
/// store it.
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

/// The keys that are known.
struct KnownKeys<K> {
    /// Where the budget of a key is.
    places: HashMap<K, usize, RandomState>,
    slots: Vec<KeySlot<K>>,
    /// The slot at which the next search for a key to forget begins.
    hand: usize,
    forgotten: ForgottenLevels,
}

struct KeySlot<K> {
    key: K,
    hash: u64,
    budget: Arc<Budget>,
}

/// How many budgets are read to find a key to forget. Chosen by us, to bound the time that the lock is held.
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
    /// Each key is stored twice, with one budget and 32 bytes for the levels of forgotten keys.
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
        if let Some(known) = &*self.lock() {
            if let Some(budget) = known.get(key) {
                return budget;
            }
        }
        // This calls the user's code, so the lock is free. Another thread may insert the key meanwhile.
        let owned = [key.to_owned(), key.to_owned()];
        let mut lock = self.lock();
        let known = lock.get_or_insert_with(|| KnownKeys {
            places: HashMap::with_hasher(rng::hasher()),
            slots: Vec::new(),
            hand: 0,
            forgotten: ForgottenLevels::default(),
        });
        if let Some(budget) = known.get(key) {
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
    fn get<Q>(&self, key: &Q) -> Option<Arc<Budget>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let slot = self.slots.get(*self.places.get(key)?)?;
        Some(Arc::clone(&slot.budget))
    }

    /// Inserts a new key. Returns the key that it replaced, so that the user's `Drop` runs outside the lock.
    fn put(
        &mut self,
        [key, copy]: [K; 2],
        numbers: &Budget,
        max_keys: usize,
    ) -> (Arc<Budget>, Option<(K, KeySlot<K>)>) {
        // The user's code may panic here, before anything has changed.
        let hash = self.places.hasher().hash_one(&key);
        if self.slots.len() < max_keys {
            let budget = Arc::new(numbers.fresh());
            self.places.insert(copy, self.slots.len());
            self.slots.push(KeySlot {
                key,
                hash,
                budget: Arc::clone(&budget),
            });
            return (budget, None);
        }
        let (now, of) = (tick_now(), numbers.numbers);
        let (place, left) = self.fullest_of_the_next(now);
        let hash_of_old = self.slots[place].hash;
        self.forgotten
            .remember(hash_of_old, left, max_keys, of, now);
        let most = left.min(self.forgotten.level(hash, of, now));
        let budget = Arc::new(numbers.fresh_within(most, now));
        let old = self.places.remove_entry(&self.slots[place].key);
        self.places.insert(copy, place);
        let slot = KeySlot {
            key,
            hash,
            budget: Arc::clone(&budget),
        };
        let slot = std::mem::replace(&mut self.slots[place], slot);
        (budget, old.map(|(key, _)| (key, slot)))
    }

    /// Returns the first of the next slots whose budget is full and that nobody holds. If there is none, returns the first
    /// of the fullest, held ones last. Returns its level too.
    fn fullest_of_the_next(&mut self, now: u64) -> (usize, u32) {
        let (mut fullest, mut most) = (self.hand, (false, 0));
        for _ in 0..self.slots.len().min(LOOKS) {
            let place = self.hand;
            self.hand = (place + 1) % self.slots.len();
            let budget = &mut self.slots[place].budget;
            // If nobody holds the budget, its level has all that earlier holders took.
            let free = Arc::get_mut(budget).is_some();
            let level = budget.of_call().ledger().level(now);
            if (free, level) > most {
                (fullest, most) = (place, (free, level));
            }
            if free && level >= budget.numbers.capacity {
                break;
            }
        }
        (fullest, most.1)
    }
}

impl<K> Default for Budgets<K> {
    /// Keeps budgets with the default numbers.
    fn default() -> Self {
        Self::new(Budget::new())
    }
}

impl<K> fmt::Debug for Budgets<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.lock().as_ref().map_or(0, |known| known.slots.len());
        f.debug_struct("Budgets")
            .field("keys", &keys)
            .field("max_keys", &self.max_keys)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod histories;
#[cfg(test)]
mod tests;
