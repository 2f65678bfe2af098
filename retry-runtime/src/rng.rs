//! The only randomness in the crate: one small generator a thread.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Draws a duration from the range, ends included, uniformly.
///
/// An empty range gives its start. Widths above 2^64 ns, five centuries, are cut.
pub(crate) fn duration_in(range: &RangeInclusive<Duration>) -> Duration {
    let low = *range.start();
    let width = range.end().saturating_sub(low).as_nanos();
    match u64::try_from(width).unwrap_or(u64::MAX) {
        0 => low,
        width => low.saturating_add(Duration::from_nanos(with_generator(|generator| {
            generator.random_range(0..=width)
        }))),
    }
}

/// A thread's generator, and the process that seeded it.
struct Seeded {
    generator: SmallRng,
    process: u32,
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
    SEEDED.with_borrow_mut(|slot| {
        let seeded = match slot {
            Some(seeded) if seeded.process == process => seeded,
            stale => stale.insert(Seeded {
                generator: SmallRng::seed_from_u64(seed(process)),
                process,
            }),
        };
        draw(&mut seeded.generator)
    })
}

/// A seed that differs between threads, processes and machines.
///
/// `RandomState` holds keys from the operating system, drawn once a thread and then counted up; a
/// forked child would count as its parent does, hence the process number and the time.
fn seed(process: u32) -> u64 {
    RandomState::new().hash_one((
        process,
        std::thread::current().id(),
        std::time::SystemTime::now(),
    ))
}
