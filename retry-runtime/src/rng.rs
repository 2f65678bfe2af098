//! The only randomness in the crate. Each thread counts its own seeds, and each draw has its own generator.

use std::cell::Cell;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::clock::{Stamp, nanos};

/// Draws a duration from the range, ends included, uniformly.
///
/// An empty range gives its start. Widths above 2^64 ns, five centuries, are cut.
///
/// A child process made by `fork` has its parent's memory, so the two would draw the same numbers. The instant `at` is
/// part of the seed and separates them. The process number would do so too, but costs a system call for each draw.
#[inline]
pub(crate) fn duration_in(range: &RangeInclusive<Duration>, at: Stamp) -> Duration {
    draw(next_seed() ^ at.as_nanos(), range)
}

/// Draws from the range as [`duration_in`] does. The same `place` gives the same delay in every run, but it may change
/// with a release of Rust or of this crate.
pub(crate) fn seeded_duration_in(place: impl Hash, range: &RangeInclusive<Duration>) -> Duration {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    draw(hasher.finish(), range)
}

/// The generator spreads the seed over its state, so consecutive seeds give unrelated numbers.
fn draw(seed: u64, range: &RangeInclusive<Duration>) -> Duration {
    let low = *range.start();
    let width = nanos(range.end().saturating_sub(low));
    if width == 0 {
        return low;
    }
    let drawn = SmallRng::seed_from_u64(seed).random_range(0..=width);
    low.saturating_add(Duration::from_nanos(drawn))
}

/// The seed of the next draw: one more than the last seed of this thread.
pub(crate) fn next_seed() -> u64 {
    thread_local! {
        static NEXT: Cell<Option<u64>> = const { Cell::new(None) };
    }
    let seed = NEXT.get().unwrap_or_else(first_seed);
    NEXT.set(Some(seed.wrapping_add(1)));
    seed
}

/// A seed that differs between threads, processes and machines.
///
/// `RandomState` holds keys from the operating system, drawn once for each thread and then counted up. A forked child
/// has the keys of its parent, so the process number and the time are hashed too.
#[cold]
fn first_seed() -> u64 {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    let place = (
        std::process::id(),
        std::thread::current().id(),
        std::time::SystemTime::now(),
    );
    // In a browser, std has no processes, no clock and no random keys.
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    let place = uuid();
    RandomState::new().hash_one(place)
}

/// A random UUID (version 4). Each UUID comes from the operating system.
///
/// So a forked process or a machine restored from a snapshot does not repeat a UUID.
///
/// # Panics
///
/// - If the operating system gives no randomness.
pub(crate) fn uuid() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NANO: Duration = Duration::from_nanos(1);

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    /// After a fork, the child has the parent's seed. Their draws are one nanosecond apart.
    #[test]
    fn the_same_seed_draws_other_numbers_at_another_instant() {
        let second = Duration::ZERO..=Duration::from_secs(1);
        let drawn: HashSet<_> = (0..1000).map(|now| draw(7 ^ now, &second)).collect();
        assert_eq!(drawn.len(), 1000);
        assert_eq!(draw(7, &second), draw(7, &second));
    }

    #[test]
    fn draws_of_one_instant_differ() {
        let second = Duration::ZERO..=Duration::from_secs(1);
        let drawn: HashSet<_> = (0..1000).map(|_| duration_in(&second, at(1))).collect();
        assert!(drawn.len() >= 999, "{}", drawn.len());
    }

    #[test]
    fn no_two_seeds_are_equal() {
        let mut seeds: HashSet<_> = (0..1000).map(|_| first_seed()).collect();
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(first_seed)).collect();
        for thread in threads {
            seeds.insert(thread.join().unwrap());
        }
        assert_eq!(seeds.len(), 1008);
    }

    /// Pearson's chi-squared test with 15 degrees of freedom. A fair generator exceeds 75 less than once in 10^9 runs.
    #[test]
    fn draws_are_uniform_and_both_ends_are_drawn() {
        const DRAWS: u32 = 160_000;
        let mut counts = [0_u32; 16];
        let low = Duration::from_millis(5);
        for _ in 0..DRAWS {
            let drawn = duration_in(&(low..=low + NANO * 15), at(1)).saturating_sub(low);
            counts[usize::try_from(drawn.as_nanos()).unwrap()] += 1;
        }
        let expected = f64::from(DRAWS) / 16.0;
        let chi: f64 = counts
            .iter()
            .map(|&count| (f64::from(count) - expected).powi(2) / expected)
            .sum();
        assert!(chi < 75.0, "{chi}: {counts:?}");
    }

    #[test]
    fn a_range_of_one_value_or_none_gives_its_start() {
        assert_eq!(duration_in(&(NANO..=NANO), at(1)), NANO);
        let empty = NANO * 3..=NANO;
        assert_eq!(duration_in(&empty, at(1)), NANO * 3);
        let nearly = Duration::MAX.saturating_sub(NANO);
        assert!(duration_in(&(nearly..=Duration::MAX), at(1)) >= nearly);
    }
}
