//! The only randomness in the crate. Each thread has a generator of seeds, and each draw has a seed.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use rand::rngs::{SmallRng, SysRng};
use rand::{RngExt, SeedableRng, TryRng};

use crate::clock::{Stamp, nanos};

/// Draws a duration from the range, ends included, uniformly.
///
/// An empty range gives its start. Widths above 2^64 ns, five centuries, are cut. A factor near 2^64 / φ spreads seeds that differ
/// in their last bits over the whole range, as Fibonacci hashing does.
pub(crate) fn draw(seed: u64, (low, high): (Duration, Duration)) -> Duration {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let values = u128::from(nanos(high.saturating_sub(low))) + 1;
    let drawn = (u128::from(seed.wrapping_mul(SPREAD)) * values) >> 64;
    low.saturating_add(Duration::from_nanos(drawn as u64))
}

/// A seed that differs between draws, threads, processes and machines.
///
/// A child process made by `fork` has the generator of its parent, so the instant is in the seed too.
pub(crate) fn seed(at: Stamp) -> u64 {
    thread_local!(static SEEDS: RefCell<SmallRng> = RefCell::new(generator()));
    SEEDS.with_borrow_mut(SmallRng::random::<u64>) ^ at.as_nanos()
}

/// A generator whose seed comes from the operating system. Without its randomness, only the instant tells seeds apart.
fn generator() -> SmallRng {
    SmallRng::seed_from_u64(SysRng.try_next_u64().unwrap_or_default())
}

/// A seed that is the same in every run, but it may change with a release of Rust or of this crate.
pub(crate) fn seed_of(place: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    hasher.finish()
}

/// A random UUID of version 4 (RFC 9562, section 5.4). Each UUID comes from the operating system.
///
/// So a forked process or a machine restored from a snapshot does not repeat a UUID.
///
/// # Panics
///
/// - If the operating system gives no randomness.
pub(crate) fn uuid() -> u128 {
    const VERSION: u128 = 0xF << 76;
    const VARIANT: u128 = 0b11 << 62;
    let mut bytes = [0; 16];
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the operating system gives no randomness");
    u128::from_ne_bytes(bytes) & !VERSION & !VARIANT | 4 << 76 | 0b10 << 62
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NANO: Duration = Duration::from_nanos(1);

    fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    fn drawn(range: (Duration, Duration)) -> Duration {
        draw(seed(at(1)), range)
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let second = (Duration::ZERO, Duration::from_secs(1));
        assert_eq!(draw(7, second), draw(7, second));
    }

    #[test]
    fn draws_of_one_instant_differ() {
        let second = (Duration::ZERO, Duration::from_secs(1));
        let drawn: HashSet<_> = (0..1000).map(|_| drawn(second)).collect();
        assert!(drawn.len() >= 999, "{}", drawn.len());
    }

    /// On several threads at one instant, and on one thread at several.
    #[test]
    fn no_two_seeds_are_equal() {
        let seeds_at = |now| (0..1000).map(move |_| seed(at(now))).collect::<Vec<_>>();
        let mut seeds: HashSet<_> = (1..1000).map(|now| seed(at(now))).collect();
        seeds.extend(seeds_at(1));
        let threads: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(move || seeds_at(1)))
            .collect();
        for thread in threads {
            seeds.extend(thread.join().unwrap());
        }
        assert_eq!(seeds.len(), 9_999);
    }

    /// After a fork, the child has the generator of its parent.
    #[test]
    fn the_same_generator_draws_other_delays_at_another_instant() {
        let second = (Duration::ZERO, Duration::from_secs(1));
        let number = seed(at(1)) ^ 1;
        let drawn: HashSet<_> = (1..=1000).map(|now| draw(number ^ now, second)).collect();
        assert!(drawn.len() >= 999, "{}", drawn.len());
    }

    /// Pearson's chi-squared test with 15 degrees of freedom. A fair generator exceeds 75 less than once in 10^9 runs.
    #[test]
    fn draws_are_uniform_and_both_ends_are_drawn() {
        const DRAWS: u32 = 160_000;
        let mut counts = [0_u32; 16];
        let low = Duration::from_millis(5);
        for _ in 0..DRAWS {
            let drawn = drawn((low, low + NANO * 15)).saturating_sub(low);
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
        assert_eq!(drawn((NANO, NANO)), NANO);
        let empty = (NANO * 3, NANO);
        assert_eq!(drawn(empty), NANO * 3);
        let nearly = Duration::MAX.saturating_sub(NANO);
        assert!(drawn((nearly, Duration::MAX)) >= nearly);
    }
}
