//! The only randomness in the crate: one small generator a thread.

use std::cell::RefCell;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::clock::nanos;

/// Draws a duration from the range, ends included, uniformly.
///
/// An empty range gives its start. Widths above 2^64 ns, five centuries, are cut.
pub(crate) fn duration_in(range: &RangeInclusive<Duration>) -> Duration {
    let low = *range.start();
    match nanos(range.end().saturating_sub(low)) {
        0 => low,
        width => low.saturating_add(Duration::from_nanos(with_generator(|generator| {
            generator.random_range(0..=width)
        }))),
    }
}

/// Draws from the range as [`duration_in`] does, the same for the same `place` in every run. The numbers may
/// change with a release of Rust or of this crate.
pub(crate) fn seeded_duration_in(place: impl Hash, range: &RangeInclusive<Duration>) -> Duration {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    let mut generator = SmallRng::seed_from_u64(hasher.finish());
    let low = *range.start();
    let width = nanos(range.end().saturating_sub(low));
    low.saturating_add(Duration::from_nanos(generator.random_range(0..=width)))
}

/// A thread's generator, and the process that seeded it.
struct Seeded {
    generator: SmallRng,
    process: u32,
}

impl Seeded {
    fn new(process: u32) -> Self {
        Self {
            generator: SmallRng::seed_from_u64(seed(process)),
            process,
        }
    }

    /// What is in the slot, unless another process put it there.
    fn of_process(slot: &mut Option<Self>, process: u32) -> &mut Self {
        if slot.as_ref().is_none_or(|seeded| seeded.process != process) {
            *slot = None;
        }
        slot.get_or_insert_with(|| Self::new(process))
    }
}

/// Lends this thread's generator, seeded afresh in a thread or process that never drew.
///
/// A child process made by `fork` has its parent's memory and would draw its parent's numbers, so
/// the process number is kept beside the state. Asking for it is a system call; only retries pay it.
fn with_generator<T>(draw: impl FnOnce(&mut SmallRng) -> T) -> T {
    thread_local! {
        static SEEDED: RefCell<Option<Seeded>> = const { RefCell::new(None) };
    }
    let process = std::process::id();
    SEEDED.with_borrow_mut(|slot| draw(&mut Seeded::of_process(slot, process).generator))
}

/// A seed that differs between threads, processes and machines.
///
/// `RandomState` holds keys from the operating system, drawn once a thread and then counted up; a
/// forked child would count as its parent does, hence the process number and the time.
#[cold]
fn seed(process: u32) -> u64 {
    RandomState::new().hash_one((
        process,
        std::thread::current().id(),
        std::time::SystemTime::now(),
    ))
}

/// Hashes the keys of one map so that nobody can choose keys which collide.
pub(crate) fn hasher() -> RandomState {
    RandomState::new()
}

/// A random UUID (version 4), from the operating system each time it is asked for.
///
/// So neither a process that `fork` made nor a machine restored from a snapshot gives one twice.
///
/// # Panics
///
/// - If the operating system has no randomness to give.
pub(crate) fn uuid() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const NANO: Duration = Duration::from_nanos(1);

    fn numbers(seeded: &mut Seeded) -> Vec<u64> {
        (0..5).map(|_| seeded.generator.random()).collect()
    }

    /// After a fork, the child has the parent's generator and another process number.
    #[test]
    fn another_process_draws_other_numbers() {
        let parent = Seeded::new(1);
        let copy = |of: &Seeded| Seeded {
            generator: of.generator.clone(),
            process: of.process,
        };
        let (mut same, mut first, mut second) = (
            Some(copy(&parent)),
            Some(copy(&parent)),
            Some(copy(&parent)),
        );
        let same = numbers(Seeded::of_process(&mut same, 1));
        let first = numbers(Seeded::of_process(&mut first, 2));
        let second = numbers(Seeded::of_process(&mut second, 2));
        assert_eq!(same, numbers(&mut copy(&parent)));
        assert_ne!(first, same);
        assert_ne!(first, second, "two children of one parent");
    }

    #[test]
    fn no_two_seeds_are_equal() {
        let mut seeds: HashSet<_> = (0..1000).map(|_| seed(1)).collect();
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| seed(1))).collect();
        for thread in threads {
            seeds.insert(thread.join().unwrap());
        }
        assert_eq!(seeds.len(), 1008);
    }

    /// Pearson's test with 15 degrees of freedom, which a fair generator fails once in 10^9 runs
    /// at 75.
    #[test]
    fn draws_are_uniform_and_both_ends_are_drawn() {
        const DRAWS: u32 = 160_000;
        let mut counts = [0_u32; 16];
        let low = Duration::from_millis(5);
        for _ in 0..DRAWS {
            let drawn = duration_in(&(low..=low + NANO * 15)).saturating_sub(low);
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
        assert_eq!(duration_in(&(NANO..=NANO)), NANO);
        let empty = NANO * 3..=NANO;
        assert_eq!(duration_in(&empty), NANO * 3);
        let nearly = Duration::MAX.saturating_sub(NANO);
        assert!(duration_in(&(nearly..=Duration::MAX)) >= nearly);
    }
}
