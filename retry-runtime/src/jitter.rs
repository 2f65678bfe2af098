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

/// Cuts the range of a delay to the longest wait that reserves time for the next attempt to be useful, if so much is `left` of
/// a `deadline`. Returns `None` if no wait does, or if the shortest delay is longer.
///
/// The time for a useful attempt is a tenth of the deadline, at most 50 ms. Our choice, for a round trip and some work.
pub(crate) fn fit(range: DelayRange, deadline: Duration, left: Duration) -> Option<DelayRange> {
    const OF_USE: Duration = Duration::from_millis(50);
    let longest = left.checked_sub(OF_USE.min(deadline / 10))?;
    let (low, high) = range.into_inner();
    // A range that is cut to zero would give a loop without a pause.
    let is_busy = longest.is_zero() && !high.is_zero();
    if left.is_zero() || low > longest || is_busy {
        return None;
    }
    Some(low..=high.min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_wait_leaves_a_tenth_of_the_deadline_and_at_most_50_ms() {
        const NANO: Duration = Duration::from_nanos(1);
        let longest = |deadline, left| {
            let (low, high) = fit(Duration::ZERO..=Duration::MAX, deadline, left)?.into_inner();
            assert_eq!(low, Duration::ZERO);
            Some(high)
        };
        assert_eq!(longest(ms(100), ms(100)), Some(ms(90)));
        assert_eq!(longest(ms(10_000), ms(1_000)), Some(ms(950)));
        assert_eq!(longest(ms(1_000), ms(50) + NANO), Some(NANO));
        assert_eq!(longest(ms(1_000), ms(50)), None, "only a wait of zero");
        assert_eq!(longest(ms(1_000), ms(50).saturating_sub(NANO)), None);
        assert_eq!(longest(NANO * 9, NANO), Some(NANO));
        assert_eq!(
            longest(NANO * 9, Duration::ZERO),
            None,
            "the deadline is reached"
        );
        let at_once = Duration::ZERO..=Duration::ZERO;
        assert_eq!(
            fit(at_once.clone(), ms(1_000), ms(50)),
            Some(at_once.clone())
        );
        assert_eq!(fit(at_once, Duration::ZERO, Duration::ZERO), None);
    }
}
