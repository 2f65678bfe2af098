//! The range from which a delay is drawn: pure arithmetic.

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
    ) -> RangeInclusive<Duration> {
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
