//! What follows from a policy: the range of each delay, and the longest that a call can take.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Policy, UNLIMITED};
use crate::backoff;
use crate::{Backoff, Jitter};

impl Policy {
    /// Gives the range of the delay before retry `n`, counted from 0, ends included.
    ///
    /// `previous` is the delay before the last retry of the same call, if there was one; only
    /// decorrelated jitter asks for it.
    #[must_use]
    #[inline]
    pub fn delay_range(&self, n: u32, previous: Option<Duration>) -> RangeInclusive<Duration> {
        if let Backoff::Delays(delays) = self.backoff {
            return delays_range(delays, self.jitter, n, previous);
        }
        let ceiling = self
            .backoff
            .ceiling(n, self.base, self.max_delay, self.factor);
        self.jitter
            .range(ceiling, self.base, self.max_delay, previous)
    }

    /// The longest that a call can take, bodies that block their thread apart: `None` without a bound.
    ///
    /// Of more than 512 waits, those after the 512th are all counted as long as the last.
    ///
    /// # Formula
    ///
    /// ```text
    /// min(deadline, attempts * timeout + sum of the longest delays)
    /// ```
    #[must_use]
    pub fn worst_case(&self) -> Option<Duration> {
        let bounded = match (self.attempts(), self.timeout) {
            (Some(attempts), Some(timeout)) => Some(
                timeout
                    .saturating_mul(attempts)
                    .saturating_add(self.longest_waits(attempts - 1)),
            ),
            _ => None,
        };
        match (self.deadline, bounded) {
            (Some(deadline), Some(bounded)) => Some(deadline.min(bounded)),
            (deadline, bounded) => deadline.or(bounded),
        }
    }

    /// The sum of so many waits, each as long as its range allows.
    fn longest_waits(&self, waits: u32) -> Duration {
        // No wait is shorter than the one before, so very many need not be asked for one by one.
        const ONE_BY_ONE: u32 = 512;
        let (mut sum, mut previous) = (Duration::ZERO, None);
        for n in 0..waits.min(ONE_BY_ONE) {
            let longest = *self.delay_range(n, previous).end();
            sum = sum.saturating_add(longest);
            previous = Some(longest);
        }
        let more = waits.saturating_sub(ONE_BY_ONE);
        if more > 0 {
            let last = *self.delay_range(waits - 1, previous).end();
            sum = sum.saturating_add(last.saturating_mul(more));
        }
        sum
    }
}

/// How many attempts use up the delays.
pub(crate) const fn attempts_for(delays: &[Duration]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "below the limit")]
    if delays.len() < UNLIMITED as usize - 1 {
        delays.len() as u32 + 1
    } else {
        UNLIMITED - 1
    }
}

/// The range of the delay before retry `n` of a list of delays; zero where the list is empty.
pub(crate) fn delays_range(
    delays: &[Duration],
    jitter: Jitter,
    n: u32,
    previous: Option<Duration>,
) -> RangeInclusive<Duration> {
    let ceiling = backoff::nth(delays, n);
    jitter.range(ceiling, ceiling, Duration::MAX, previous)
}
