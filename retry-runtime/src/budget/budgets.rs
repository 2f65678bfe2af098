//! One budget for each key.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Budget;
use crate::rng;

/// Keeps one [`Budget`] for each key: a host, a shard, a tenant.
///
/// When one host is down, retries to that host stop. Retries to the others go on.
///
/// # Bounds
///
/// At most [`with_max_keys`](Self::with_max_keys) keys are known, by default 1,024. Until then a new
/// key starts with a budget of its own, as full as the one that was passed to [`new`](Self::new).
/// After that a new key replaces another:
///
/// - The key to forget is the first one whose budget is full, among the next 64 in turn. A full
///   budget loses nothing by that: it would be full again.
/// - If none of the 64 is full, the fullest one is forgotten, and the new key starts with no more
///   tokens than this one had left. So asking for keys never makes tokens. Nobody can reset the
///   drained budget of one key by asking for many other keys.
///
/// Asking for a key that is known takes a lock and one look-up, and allocates nothing. Asking for a
/// new one also makes two owned copies of the key and reads at most 64 levels, however many keys
/// there are. The lock is held while `Hash` and `Eq` of the key run, so these must not use the same
/// `Budgets`. Everything else of the key runs outside it.
///
/// A budget stays usable after its key was forgotten, but it is no longer the one that other calls
/// with this key get. Ask for it in each call and do not store it.
///
/// # Examples
///
/// ```
/// use retry_runtime::{Budget, Budgets};
///
/// static HOSTS: Budgets<String> = Budgets::new(Budget::new());
///
/// let budget = HOSTS.of("db-1.example.org"); // a `&str` finds a `String`
/// assert_eq!(budget.level(), 500.0);
/// ```
pub struct Budgets<K> {
    numbers: Budget,
    max_keys: usize,
    /// `None` until the first key: a map with random keys of its hash is not const.
    known: Mutex<Option<KnownKeys<K>>>,
}

/// The keys that are known.
struct KnownKeys<K> {
    /// Where the budget of a key is.
    places: HashMap<K, usize, RandomState>,
    slots: Vec<KeySlot<K>>,
    /// The slot at which the search for a key to forget goes on.
    hand: usize,
}

struct KeySlot<K> {
    key: K,
    budget: Arc<Budget>,
}

/// How many budgets are looked at for one to forget. Chosen by us: it takes less than ten microseconds.
const LOOKS: usize = 64;

impl<K> Budgets<K> {
    /// Makes a set without keys, whose budgets have the numbers of `budget`.
    ///
    /// The level of `budget` does not matter: each budget starts as `budget` started.
    #[must_use]
    pub const fn new(budget: Budget) -> Self {
        Self {
            numbers: budget,
            max_keys: 1024,
            known: Mutex::new(None),
        }
    }

    /// Sets how many keys are known at most, at least 1; the default is 1,024.
    ///
    /// A key takes its own size twice, and about 150 bytes.
    ///
    /// # Panics
    ///
    /// - If `keys` is 0. In a `static` that is an error at compile time.
    #[must_use]
    pub const fn with_max_keys(mut self, keys: usize) -> Self {
        assert!(keys > 0, "a number of keys is at least 1");
        self.max_keys = keys;
        self
    }

    fn lock(&self) -> MutexGuard<'_, Option<KnownKeys<K>>> {
        // Where `Hash` or `Eq` panicked, a key is unknown at worst; no key has the budget of another.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq> Budgets<K> {
    /// The budget of a key. See [Bounds](Self#bounds) for what a new key starts with.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use retry_runtime::{Budget, Budgets};
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
        // The user's code; the lock is free meanwhile, so that another thread may be faster.
        let owned = [key.to_owned(), key.to_owned()];
        let mut lock = self.lock();
        let known = lock.get_or_insert_with(|| KnownKeys {
            places: HashMap::with_hasher(rng::hasher()),
            slots: Vec::new(),
            hand: 0,
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

    /// Puts a new key in, and gives what was forgotten for it: the user's code drops it.
    fn put(
        &mut self,
        [key, copy]: [K; 2],
        numbers: &Budget,
        max_keys: usize,
    ) -> (Arc<Budget>, Option<(K, KeySlot<K>)>) {
        if self.slots.len() < max_keys {
            let budget = Arc::new(numbers.fresh());
            self.places.insert(copy, self.slots.len());
            self.slots.push(KeySlot {
                key,
                budget: Arc::clone(&budget),
            });
            return (budget, None);
        }
        let (place, left) = self.fullest_of_the_next(numbers.tick_now());
        let budget = Arc::new(numbers.fresh_within(left));
        let old = self.places.remove_entry(&self.slots[place].key);
        self.places.insert(copy, place);
        let slot = KeySlot {
            key,
            budget: Arc::clone(&budget),
        };
        let slot = std::mem::replace(&mut self.slots[place], slot);
        (budget, old.map(|(key, _)| (key, slot)))
    }

    /// The first full one of the next slots, or else the fullest of them, and its level.
    fn fullest_of_the_next(&mut self, now: u64) -> (usize, u32) {
        let (mut fullest, mut most) = (self.hand, 0);
        for _ in 0..self.slots.len().min(LOOKS) {
            let place = self.hand;
            self.hand = (place + 1) % self.slots.len();
            let ledger = &self.slots[place].budget.ledger;
            let level = ledger.level(now);
            if level > most {
                (fullest, most) = (place, level);
            }
            if level >= ledger.numbers().capacity {
                break;
            }
        }
        (fullest, most)
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
mod tests;
