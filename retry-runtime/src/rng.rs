//! The only randomness in the crate: one small generator a thread.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::sync::LazyLock;
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

/// Gives a number to a call that wants to be told apart; never 0.
///
/// The numbers of a thread follow each other from a random start, so that two threads meet only if
/// their starts lie, of 2^64, as close as one of them makes calls.
pub(crate) fn call_id() -> u64 {
    thread_local! {
        static LAST: Cell<u64> = const { Cell::new(0) };
    }
    let last = match LAST.get() {
        0 => seed(std::process::id()),
        last => last,
    };
    let id = last.wrapping_add(1).max(1);
    LAST.set(id);
    id
}

/// The 128 bits that name a call to the world, from the number that names it in this process.
///
/// Two keyed hashes with keys from the operating system: the same whenever it is asked, and nobody
/// else's. A child process made by `fork` counts as its parent does, hence the process number.
pub(crate) fn key(call: u64) -> u128 {
    static KEYS: LazyLock<[RandomState; 2]> =
        LazyLock::new(|| [RandomState::new(), RandomState::new()]);
    let [high, low] = KEYS
        .each_ref()
        .map(|key| key.hash_one((std::process::id(), call)));
    (u128::from(high) << 64) | u128::from(low)
}
