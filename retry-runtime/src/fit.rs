//! Which waits fit a deadline: pure arithmetic.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Returns the longest wait, in nanoseconds, that leaves the attempt after it time to be of use.
///
/// That time is a tenth of the deadline, and at most 50 ms. Chosen by us: 50 ms is a round trip and some work.
/// `left` is what is left of the deadline. Both are in nanoseconds. Returns `None` if no wait leaves that much time.
#[inline]
pub(crate) fn longest_wait(deadline: u64, left: u64) -> Option<u64> {
    const OF_USE: u64 = 50_000_000;
    let of_use = (deadline / 10).min(OF_USE);
    left.checked_sub(of_use).filter(|_| left > 0)
}

/// Cuts the range of a delay to the longest wait. `None` if not even the shortest delay fits.
#[inline]
pub(crate) fn cut(
    low: Duration,
    high: Duration,
    longest: Duration,
) -> Option<RangeInclusive<Duration>> {
    // A wait of zero that the policy does not have would be a loop without a pause.
    let fits = low <= longest && (high.is_zero() || !longest.is_zero());
    fits.then(|| low..=high.min(longest))
}
