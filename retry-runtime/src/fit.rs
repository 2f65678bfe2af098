//! Which waits fit a deadline: pure arithmetic.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The range from which a delay is drawn, ends included.
pub(crate) type DelayRange = RangeInclusive<Duration>;

/// Cuts the range of a delay to the longest wait that reserves time for the next attempt to be useful, if `left` nanoseconds are left
/// of a `deadline`. Returns `None` if no wait does, or if the shortest delay is longer.
pub(crate) fn within(range: DelayRange, deadline: u64, left: u64) -> Option<DelayRange> {
    cut(range, Duration::from_nanos(longest_wait(deadline, left)?))
}

/// Returns the longest wait that reserves time for the next attempt to be useful, or `None` if no wait does.
///
/// All times are in nanoseconds; `left` is the time until the deadline. The time for a useful attempt is a tenth of the
/// deadline, at most 50 ms. Our choice, for a round trip and some work.
fn longest_wait(deadline: u64, left: u64) -> Option<u64> {
    const OF_USE: u64 = 50_000_000;
    let of_use = (deadline / 10).min(OF_USE);
    left.checked_sub(of_use).filter(|_| left > 0)
}

/// Cuts the range of a delay to the longest wait. Returns `None` if the shortest delay does not fit.
pub(crate) fn cut(range: DelayRange, longest: Duration) -> Option<DelayRange> {
    let (low, high) = range.into_inner();
    // A range that is cut to zero would give a loop without a pause.
    let fits = low <= longest && (high.is_zero() || !longest.is_zero());
    fits.then(|| low..=high.min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_leaves_a_tenth_of_the_deadline_and_at_most_50_ms() {
        const SECOND: u64 = 1_000_000_000;
        assert_eq!(longest_wait(SECOND / 10, SECOND / 10), Some(90_000_000));
        assert_eq!(longest_wait(10 * SECOND, SECOND), Some(950_000_000));
        assert_eq!(longest_wait(SECOND, 50_000_000), Some(0));
        assert_eq!(longest_wait(SECOND, 49_999_999), None);
        assert_eq!(longest_wait(9, 1), Some(1));
        assert_eq!(longest_wait(9, 0), None, "the deadline is reached");
    }
}
