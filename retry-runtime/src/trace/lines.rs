//! Limits the lines of one function: ten of each message in a second, and one in a minute that says "still failing".

use crate::atomics::{AtomicU64, Word};
use crate::clock::Stamp;

/// The limits of the messages of one function.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(super) retrying: Limit,
    pub(super) not_retryable: Limit,
    pub(super) gave_up: Limit,
    pub(super) succeeded: Limit,
    pub(super) paused: Limit,
    pub(super) hedged: Limit,
    pub(super) set_aside: Limit,
    pub(super) cancelled: Limit,
    pub(super) still_failing: Limit,
}

impl Lines {
    pub(crate) const fn new() -> Self {
        Self {
            retrying: Limit::EACH_SECOND,
            not_retryable: Limit::EACH_SECOND,
            gave_up: Limit::EACH_SECOND,
            succeeded: Limit::EACH_SECOND,
            paused: Limit::EACH_SECOND,
            hedged: Limit::EACH_SECOND,
            set_aside: Limit::EACH_SECOND,
            cancelled: Limit::EACH_SECOND,
            still_failing: Limit::new(1, 60_000),
        }
    }
}

/// The lines of one message in the current period, which begins with its first line.
#[derive(Debug)]
pub(super) struct Limit {
    /// When the period began, in milliseconds (32 bits, which wrap after 49 days), how many lines passed in it (4 bits),
    /// and how many were left out since the last one that passed (28 bits).
    word: AtomicU64,
    /// The most lines in a period: at most 15.
    most: u64,
    /// The length of the period, in milliseconds.
    period: u64,
}

impl Limit {
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "each use makes a limit of its own"
    )]
    pub(super) const EACH_SECOND: Self = Self::new(10, 1_000);

    const fn new(most: u64, period: u64) -> Self {
        Self {
            word: AtomicU64::new(0),
            most,
            period,
        }
    }

    /// Counts a line. Returns how many lines were left out since the last logged line, or `None` if this line is left
    /// out too.
    pub(super) fn pass(&self, now: Stamp) -> Option<u64> {
        const MOST_LEFT_OUT: u64 = (1 << 28) - 1;
        let now = (now.as_nanos() / 1_000_000) & u64::from(u32::MAX);
        self.word.change(|word| {
            let (began, passed, left_out) = (word >> 32, (word >> 28) & 0xf, word & MOST_LEFT_OUT);
            if passed == 0 || self.is_over(began, now) {
                ((now << 32) | (1 << 28), Some(left_out))
            } else if passed < self.most {
                ((began << 32) | ((passed + 1) << 28), Some(left_out))
            } else {
                let left_out = (left_out + 1).min(MOST_LEFT_OUT);
                ((began << 32) | (passed << 28) | left_out, None)
            }
        })
    }

    /// Whether the period that began at `began` is over. `began` may be later than `now`, because another thread read the
    /// clock later.
    fn is_over(&self, began: u64, now: u64) -> bool {
        let age = now.wrapping_sub(began) & u64::from(u32::MAX);
        (self.period..=u64::from(u32::MAX) - self.period).contains(&age)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64 as Sum, Ordering};

    use proptest::prelude::*;

    use super::*;

    const START: u64 = 1 << 60;

    fn at(millis: u64) -> Stamp {
        Stamp::from_nanos(START + millis * 1_000_000)
    }

    #[test]
    fn ten_lines_pass_in_a_second_and_the_next_one_says_how_many_did_not() {
        let limit = Limit::EACH_SECOND;
        let passed = (0..1_000).filter(|&millis| limit.pass(at(millis)) == Some(0));
        assert_eq!(passed.count(), 10);
        assert_eq!(limit.pass(at(999)), None);
        assert_eq!(limit.pass(at(1_000)), Some(991));
        assert_eq!(limit.pass(at(1_001)), Some(0));
    }

    #[test]
    fn one_line_passes_in_a_minute_whoever_asks() {
        let limit = Limit::new(1, 60_000);
        let passed = (0..180_000)
            .step_by(7)
            .filter(|&millis| limit.pass(at(millis)).is_some());
        assert_eq!(passed.collect::<Vec<_>>(), [0, 60_004, 120_008]);
        assert_eq!(limit.pass(at(100_000)), None, "read a little earlier");
    }

    #[test]
    fn a_clock_that_was_read_a_little_earlier_begins_no_new_second() {
        let limit = Limit::EACH_SECOND;
        for _ in 0..10 {
            limit.pass(at(2_000));
        }
        assert_eq!(limit.pass(at(1_998)), None);
        assert_eq!(limit.pass(at(500)), Some(1), "another clock");
    }

    #[test]
    fn threads_lose_no_line() {
        let (limit, sum) = (Limit::EACH_SECOND, Sum::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        if let Some(left_out) = limit.pass(at(0)) {
                            sum.fetch_add(left_out + 1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), 10);
        assert_eq!(limit.pass(at(1_000)), Some(3_990));
    }

    proptest! {
        #[test]
        fn what_passed_and_what_was_left_out_is_all(steps in prop::collection::vec(0_u64..300, 1..200)) {
            let limit = Limit::EACH_SECOND;
            let (mut now, mut logged, mut times) = (0, 0, Vec::new());
            for step in &steps {
                now += step;
                if let Some(left_out) = limit.pass(at(now)) {
                    logged += 1 + left_out;
                    times.push(now);
                }
            }
            let last = limit.pass(at(now + 1_000)).expect("a new second");
            prop_assert_eq!(logged + last, steps.len() as u64);
            for &time in &times {
                let near = times.iter().filter(|&&other| (time..time + 1_000).contains(&other));
                prop_assert!(near.count() < 20, "ten, and those of a second that began before");
            }
        }
    }
}
