//! The range from which a delay is drawn, and which delays fit a deadline: pure arithmetic.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::words::words;

/// How the delay is drawn below the ceiling that [`Backoff`](crate::Backoff) sets.
///
/// # Formula
///
/// ```text
/// none           delay = ceiling
/// full           delay uniform in [0, ceiling]
/// equal          delay uniform in [ceiling / 2, ceiling]
/// decorrelated   delay uniform in [base, min(max_delay, 3 * previous)]
/// ```
///
/// `previous` is the delay before this one, or `base` for the first delay. Source: *Exponential Backoff And Jitter*,
/// AWS Architecture Blog, 2015. We differ in one point. `decorrelated` cuts the range at `max_delay` before it draws,
/// so delays do not pile up on `max_delay`. The article cuts the number after the draw. With a list of delays,
/// `decorrelated` is `full`.
///
/// Full jitter may draw a delay near zero, but it spreads simultaneous calls best. The [budget](crate::Budget) bounds
/// the load, so delays do not have to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum Jitter {
    /// The delay is the ceiling. Calls that fail together retry together.
    None,
    /// From zero to the ceiling. The default.
    #[default]
    Full,
    /// From half the ceiling to the ceiling.
    Equal,
    /// From `base` to three times the delay before. The backoff has no effect. With a list of delays it is the same as
    /// [`Full`](Self::Full), so that no delay is longer than the list says.
    Decorrelated,
}

words! {
    Jitter, "Returns the word used in the attribute, in configuration and in logs.",
    Self::None => "none",
    Self::Full => "full",
    Self::Equal => "equal",
    Self::Decorrelated => "decorrelated",
}

impl Jitter {
    /// Returns the range from which a delay is drawn, ends included, within `[0, max_delay]`.
    ///
    /// `ceiling` comes from the backoff. `previous` is the last delay of this call, if there was one.
    #[inline]
    pub(crate) fn range(
        self,
        ceiling: Duration,
        base: Duration,
        max_delay: Duration,
        previous: Option<Duration>,
    ) -> DelayRange {
        let ceiling = ceiling.min(max_delay);
        match self {
            Self::None => ceiling..=ceiling,
            Self::Full => Duration::ZERO..=ceiling,
            Self::Equal => ceiling / 2..=ceiling,
            Self::Decorrelated => {
                let low = base.min(max_delay);
                let high = previous.unwrap_or(base).saturating_mul(3).min(max_delay);
                low..=high.max(low)
            }
        }
    }
}

/// The range from which a delay is drawn, ends included.
pub(crate) type DelayRange = RangeInclusive<Duration>;

/// Cuts the range of a delay to the longest wait that reserves time for the next attempt to be useful, if `left` nanoseconds are left
/// of a `deadline`. Returns `None` if no wait does, or if the shortest delay is longer.
pub(crate) fn fit(range: DelayRange, deadline: u64, left: u64) -> Option<DelayRange> {
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
