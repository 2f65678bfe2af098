//! What is remembered of the budgets whose keys were forgotten.

use crate::budget::numbers::{Balance, BudgetConfig};

/// How many levels are remembered for each key that can be known. Our choice: if as many drained keys were forgotten as
/// can be known, about one new key in five shares a place with one of them.
const PLACES: usize = 4;

/// The levels of forgotten keys, in a fixed number of places. The hash of a key is its place.
///
/// Keys can share a place, which keeps the lowest level. So for any key, the remembered level is at most the one it had
/// when it was forgotten, with the tokens that came back since.
#[derive(Default)]
pub(super) struct ForgottenLevels {
    /// What is missing and when, as a budget packs it. Zero is full. Empty until the first key is forgotten.
    words: Vec<u64>,
}

impl ForgottenLevels {
    /// Remembers the level of a key that is forgotten. `keys` is how many keys can be known.
    pub(super) fn remember(
        &mut self,
        hash: u64,
        level: u32,
        keys: usize,
        numbers: BudgetConfig,
        now: u64,
    ) {
        if self.words.is_empty() {
            self.words = vec![0; keys * PLACES];
        }
        let lowest = self.state(hash, numbers, now);
        let missing = lowest.missing.max(numbers.capacity - level);
        let place = self.place(hash);
        if let Some(word) = self.words.get_mut(place) {
            *word = Balance { missing, ..lowest }.pack();
        }
    }

    /// Returns the most that a key may have now, in thousandths of a token.
    pub(super) fn level(&self, hash: u64, numbers: BudgetConfig, now: u64) -> u32 {
        numbers.level(self.state(hash, numbers, now))
    }

    fn state(&self, hash: u64, numbers: BudgetConfig, now: u64) -> Balance {
        let word = self.words.get(self.place(hash));
        numbers.at(Balance::unpack(word.copied().unwrap_or_default()), now)
    }

    fn place(&self, hash: u64) -> usize {
        let places = self.words.len().max(1) as u64;
        usize::try_from(hash % places).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_share_the_place_of_a_drained_key_start_drained() {
        let (numbers, full) = (BudgetConfig::AWS, BudgetConfig::AWS.capacity);
        let mut forgotten = ForgottenLevels::default();
        for hash in 0..10 {
            forgotten.remember(hash, 0, 10, numbers, 0);
        }
        for hash in 0..80 {
            let expected = if hash % 40 < 10 { 0 } else { full };
            assert_eq!(forgotten.level(hash, numbers, 0), expected, "{hash}");
        }
        // The lowest level stays.
        forgotten.remember(40, full, 10, numbers, 0);
        assert_eq!(forgotten.level(0, numbers, 0), 0);
    }
}
