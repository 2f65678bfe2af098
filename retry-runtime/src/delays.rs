//! The range of each delay: how its ceiling grows, how much below that it may be, and what fits a deadline. Pure arithmetic.

use std::time::Duration;

use crate::words::words;

/// How the ceiling of the delay grows with each retry.
///
/// The ceiling is never above `max_delay`. [`Jitter`] then draws the delay below it. In the formulas,
/// `n` counts retries from 0: `n = 0` is the delay after the first attempt.
///
/// # Formula
///
/// ```text
/// exponential   min(max_delay, base * factor^n)
/// constant      min(max_delay, base)
/// linear        min(max_delay, base * (n + 1))
/// fibonacci     min(max_delay, base * F(n + 1))       F = 1, 1, 2, 3, 5, 8, …
/// delays        the delay number n, or the last       base and max_delay have no effect
/// ```
///
/// `base` and `max_delay` are durations, and `factor` is a number in `[1, 1000]`. The arithmetic uses whole
/// nanoseconds (exponential: thousandths of a nanosecond) and saturates. So no retry number and no setting overflows
/// into a short delay. Source of the exponential form: *Exponential Backoff And Jitter*, AWS Architecture Blog, 2015.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Backoff, Policy};
/// use std::time::Duration;
///
/// let policy = Policy::new().with_backoff(Backoff::Exponential).with_max_delay(Duration::from_secs(1));
/// let ceilings: Vec<_> = (0..5).map(|n| policy.delay_range(n, None).end().as_millis()).collect();
/// assert_eq!(ceilings, [100, 200, 400, 800, 1000]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum Backoff {
    /// Multiplies the ceiling by `factor` each time. The default.
    #[default]
    Exponential,
    /// Keeps the ceiling at `base`.
    Constant,
    /// Adds `base` each time.
    Linear,
    /// Multiplies `base` by the Fibonacci numbers. After the first retries, each ceiling is about 1.6 times the last.
    Fibonacci,
    /// Takes each ceiling from a list, and repeats the last one.
    #[cfg_attr(feature = "serde", serde(skip))]
    Delays(&'static [Duration]),
}

words! {
    Backoff, "Returns the word used in the attribute, in configuration and in logs.",
    Self::Exponential => "exponential",
    Self::Constant => "constant",
    Self::Linear => "linear",
    Self::Fibonacci => "fibonacci",
    Self::Delays(_) => "delays",
}

impl Backoff {
    /// Returns the ceiling of the delay before retry `n`, counted from 0, in `[0, max_delay]`. A list of delays has none: see
    /// [`nth`]. The factor is in thousandths.
    pub(crate) fn ceiling(
        self,
        n: u32,
        base: Duration,
        max_delay: Duration,
        factor: u32,
    ) -> Duration {
        const PER_SECOND: u128 = 1_000_000_000;
        // No ceiling is below `base` or above `max_delay`.
        if n == 0 || base >= max_delay {
            return base.min(max_delay);
        }
        let (base, max) = (base.as_nanos(), max_delay.as_nanos());
        let nanos = match self {
            Self::Exponential => exponential(n, base, max, factor),
            Self::Linear => base.saturating_mul(u128::from(n).saturating_add(1)),
            Self::Fibonacci => base.saturating_mul(fibonacci(n)),
            Self::Constant | Self::Delays(_) => base,
        };
        let nanos = nanos.min(max);
        let seconds = u64::try_from(nanos / PER_SECOND).unwrap_or(u64::MAX);
        Duration::new(seconds, (nanos % PER_SECOND) as u32)
    }
}

/// Returns the delay number `n` of a list, counted from 0, or the last one, or zero if the list is empty.
pub(crate) fn nth(delays: &[Duration], n: u32) -> Duration {
    let nth = usize::try_from(n).ok().and_then(|n| delays.get(n));
    nth.or(delays.last()).copied().unwrap_or_default()
}

/// `base * factor^n` nanoseconds, or less, but not below `max`.
///
/// Computed in thousandths of a nanosecond. Bounds: `max` is a `Duration`, below 2^95 ns. So a value below it is under
/// 2^105 thousandths, and its product with a factor of at most 10^6 is under 2^125: no step overflows. A step that does
/// not grow the value (factor 1, or base 0) ends the loop.
fn exponential(n: u32, base: u128, max: u128, factor: u32) -> u128 {
    let mut value = base.saturating_mul(1000);
    let max = max.saturating_mul(1000);
    for _ in 0..n {
        let next = value.saturating_mul(u128::from(factor)) / 1000;
        if value >= max || next <= value {
            break;
        }
        value = next;
    }
    value / 1000
}

/// The Fibonacci number `F(n + 1)`: 1, 1, 2, 3, 5, …
///
/// `F(187)` is the first number that does not fit in 128 bits. The loop stops there, saturated.
fn fibonacci(n: u32) -> u128 {
    let (mut current, mut next) = (1_u128, 1_u128);
    for _ in 0..n.min(187) {
        (current, next) = (next, current.saturating_add(next));
    }
    current
}

/// How the delay is drawn below or around the ceiling that [`Backoff`] sets.
///
/// # Formula
///
/// ```text
/// none           delay = ceiling
/// full           delay uniform in [0, ceiling]
/// equal          delay uniform in [ceiling / 2, ceiling]
/// around p %     delay uniform in [ceiling * (1 - p / 100), min(max_delay, ceiling * (1 + p / 100))]
/// decorrelated   delay uniform in [base, min(max_delay, factor * previous)]
/// ```
///
/// `previous` is the delay before this one, or `base` for the first delay, and `factor` is that of the policy, or 3. Source: *Exponential Backoff And Jitter*,
/// AWS Architecture Blog, 2015. We differ in one point. `decorrelated` cuts the range at `max_delay` before it draws,
/// so delays do not pile up on `max_delay`. The article cuts the number after the draw. With a list of delays,
/// `decorrelated` is `full`.
///
/// Full jitter may draw a delay near zero, but it spreads simultaneous calls best. The [budget](crate::Budget) bounds
/// the load, so delays do not have to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Jitter {
    /// The delay is the ceiling. Calls that fail together retry together.
    None,
    /// From zero to the ceiling. The default.
    #[default]
    Full,
    /// From half the ceiling to the ceiling.
    Equal,
    /// From `base` to the delay before times the [factor](crate::Policy::with_factor), which is 3 by default. The backoff has no effect. With a list of delays it is the same as
    /// [`Full`](Self::Full), so that no delay is longer than the list says.
    Decorrelated,
    /// From this percentage below the ceiling to this percentage above it, but never above `max_delay`. The attribute and
    /// configuration write `"20%"` for `Around(20)`. More than 100 counts as 100. With a list of delays, which has no
    /// `max_delay`, a delay may be longer than the list says.
    Around(u8),
}

words! {
    Jitter, "Returns the word used in the attribute and in configuration, or `around` for a percentage.",
    Self::None => "none",
    Self::Full => "full",
    Self::Equal => "equal",
    Self::Decorrelated => "decorrelated",
    Self::Around(_) => "around",
    ; Self::Around(percent) => "{percent}%"
}

impl Jitter {
    /// Returns the range from which a delay is drawn, ends included, within `[0, max_delay]`.
    ///
    /// `ceiling` comes from the backoff, and is not above `max_delay`. `previous` is the last delay of this call, if there was one.
    #[inline]
    pub(crate) fn range(
        self,
        ceiling: Duration,
        base: Duration,
        max_delay: Duration,
        previous: Option<Duration>,
        factor: u32,
    ) -> DelayRange {
        match self {
            Self::None => (ceiling, ceiling),
            Self::Full => (Duration::ZERO, ceiling),
            Self::Equal => (ceiling / 2, ceiling),
            Self::Around(percent) => {
                let spread = ceiling.saturating_mul(percent.into()) / 100;
                let high = ceiling.saturating_add(spread).min(max_delay);
                (ceiling.saturating_sub(spread), high)
            }
            Self::Decorrelated => {
                let low = base.min(max_delay);
                let previous = previous.unwrap_or(base);
                let high = Backoff::Exponential.ceiling(1, previous, max_delay, factor);
                (low, high.max(low))
            }
        }
    }
}

/// The range from which a delay is drawn, ends included.
pub(crate) type DelayRange = (Duration, Duration);

/// Cuts the range of a delay to the longest wait that reserves time for the next attempt to be useful, if so much is `left` of
/// a `deadline`. Returns `None` if no wait does, or if the shortest delay is longer.
///
/// The time for a useful attempt is a tenth of the deadline, at most 50 ms. Our choice, for a round trip and some work.
pub(crate) fn fit(
    (low, high): DelayRange,
    deadline: Duration,
    left: Duration,
) -> Option<DelayRange> {
    const OF_USE: Duration = Duration::from_millis(50);
    let longest = left.checked_sub(OF_USE.min(deadline / 10))?;
    // A range that is cut to zero would give a loop without a pause.
    let is_busy = longest.is_zero() && !high.is_zero();
    if left.is_zero() || low > longest || is_busy {
        return None;
    }
    Some((low, high.min(longest)))
}

/// Cuts the range of a delay after a failure. Returns also whether it had to be cut: then its upper half is left, and the attempt after
/// it is the last of the call. Draws from ever shorter ranges would crowd attempts just before the deadline, which calls may share.
pub(crate) fn fit_or_last(
    range: DelayRange,
    deadline: Duration,
    left: Duration,
) -> Option<(DelayRange, bool)> {
    let (low, high) = fit(range, deadline, left)?;
    let is_cut = high < range.1;
    let low = if is_cut { low.max(high / 2) } else { low };
    Some(((low, high), is_cut))
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
            let (low, high) = fit((Duration::ZERO, Duration::MAX), deadline, left)?;
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
        let at_once = (Duration::ZERO, Duration::ZERO);
        assert_eq!(fit(at_once, ms(1_000), ms(50)), Some(at_once));
        assert_eq!(fit(at_once, Duration::ZERO, Duration::ZERO), None);
    }

    #[test]
    fn a_range_that_has_to_be_cut_is_its_upper_half() {
        let micros = Duration::from_micros;
        for (low, high, left, expected) in [
            (0, 100, 150, Some(((0, 100_000), false))),
            (0, 100, 149, Some(((49_500, 99_000), true))),
            (80, 120, 160, Some(((80_000, 110_000), true))),
            (80, 120, 129, None),
        ] {
            let fitted = fit_or_last((ms(low), ms(high)), ms(1_000), ms(left));
            let expected = expected.map(|((low, high), cut)| ((micros(low), micros(high)), cut));
            assert_eq!(fitted, expected, "{low} to {high} with {left}");
        }
    }
}
