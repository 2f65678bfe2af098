//! Computed from a policy: the range of each delay, and the longest time that a call can take.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Policy, UNLIMITED};
use crate::delays::{Backoff, DelayRange, Jitter, nth};

impl Policy {
    /// Returns the range of the delay before retry `n`, counted from 0, ends included.
    ///
    /// `previous` is the delay before the last retry of the same call, if there was one. Only decorrelated jitter uses
    /// it.
    #[must_use]
    pub fn delay_range(&self, n: u32, previous: Option<Duration>) -> RangeInclusive<Duration> {
        let (low, high) = self.range_before(n, previous);
        low..=high
    }

    /// The same range, as the crate has it.
    pub(crate) fn range_before(&self, n: u32, previous: Option<Duration>) -> DelayRange {
        if let Backoff::Delays(delays) = self.backoff {
            return delays_range(delays, self.jitter, n);
        }
        let ceiling = self
            .backoff
            .ceiling(n, self.base, self.max_delay, self.thousandths());
        self.range_below(ceiling, previous)
    }

    /// Returns the range of the longest delay: `max_delay` with its jitter, or the last of a list.
    pub(crate) fn longest_delay_range(&self) -> DelayRange {
        if let Backoff::Delays(delays) = self.backoff {
            return delays_range(delays, self.jitter, u32::MAX);
        }
        self.range_below(self.max_delay, Some(self.max_delay))
    }

    /// Returns the range of a delay with this ceiling, both ends raised to `min_delay`.
    fn range_below(&self, ceiling: Duration, previous: Option<Duration>) -> DelayRange {
        let (low, high) = self.jitter.range(
            ceiling,
            self.base,
            self.max_delay,
            previous,
            self.thousandths(),
        );
        let shortest = self.min_delay.min(self.max_delay);
        (low.max(shortest), high.max(shortest))
    }

    /// The policy after a throttled failure without a hint.
    pub(crate) fn when_throttled(self) -> Self {
        let base = self.base_when_throttled();
        self.with_base(base)
    }

    /// The base after a throttled failure without a hint.
    pub(super) fn base_when_throttled(&self) -> Duration {
        self.throttled_base
            .unwrap_or_else(|| self.base.saturating_mul(10))
    }

    /// Returns the longest time that a call can take, or `None` if there is no bound. Only a `deadline` bounds a longer
    /// delay that a server asks for, and the time of `before_retry`: the sum below does not count them. A body that
    /// blocks its thread can take longer.
    ///
    /// Of a backoff, each delay after the 512th counts as long as the last one, so the result can be too long.
    ///
    /// # Formula
    ///
    /// ```text
    /// min(deadline, attempts * timeout + sum of the longest delays)
    /// ```
    #[must_use]
    pub fn worst_case(&self) -> Option<Duration> {
        let limited = self.attempts().zip(self.timeout);
        let bounded = limited.map(|(attempts, timeout)| {
            let base = self.base.max(self.base_when_throttled());
            let waits = self.clone().with_base(base).longest_waits(attempts - 1);
            timeout.saturating_mul(attempts).saturating_add(waits)
        });
        [self.deadline, bounded].into_iter().flatten().min()
    }

    /// The sum of `waits` delays, each as long as its range allows.
    fn longest_waits(&self, waits: u32) -> Duration {
        // The delays after these count as long as the last one. Computed delays never get shorter, and a list repeats
        // its last delay.
        let one_by_one = match self.backoff {
            Backoff::Delays(delays) => attempts_for(delays).max(512),
            _ => 512,
        };
        let (mut sum, mut previous) = (Duration::ZERO, None);
        for n in 0..waits.min(one_by_one) {
            let longest = self.range_before(n, previous).1;
            sum = sum.saturating_add(longest);
            previous = Some(longest);
        }
        let more = waits.saturating_sub(one_by_one);
        if more > 0 {
            let last = self.range_before(waits - 1, previous).1;
            sum = sum.saturating_add(last.saturating_mul(more));
        }
        sum
    }
}

/// The number of attempts that uses each delay once.
pub(crate) const fn attempts_for(delays: &[Duration]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "below the limit")]
    if delays.len() < UNLIMITED as usize - 1 {
        delays.len() as u32 + 1
    } else {
        UNLIMITED - 1
    }
}

/// The range of the delay before retry `n` of a list of delays; zero where the list is empty.
pub(crate) fn delays_range(delays: &[Duration], jitter: Jitter, n: u32) -> DelayRange {
    let ceiling = nth(delays, n);
    let jitter = match jitter {
        // Three times the delay before may be longer than any in the list.
        Jitter::Decorrelated => Jitter::Full,
        jitter => jitter,
    };
    jitter.range(ceiling, Duration::ZERO, Duration::MAX, None, 1_000)
}
