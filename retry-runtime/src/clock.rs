//! Instants as numbers: one register, comparable, and far from both ends of their range.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;

/// The stamp of the first instant that the process asked about.
///
/// 146 years from 0, because a paused clock may later ask about an earlier one. It is also a whole
/// number of rounds of the budget's tick, 2^36 ms, so that a budget which was never looked at, whose
/// tick is 0, counts from there.
const FIRST: u64 = 67 * (1 << 36) * 1_000_000;

/// Gives the stamp of an instant: nanoseconds since a point that is the same all over the process.
pub(crate) fn stamp(instant: Instant) -> u64 {
    let first = first(|| instant);
    FIRST
        .saturating_add(nanos(instant.saturating_duration_since(first)))
        .saturating_sub(nanos(first.saturating_duration_since(instant)))
}

/// The instant of a stamp; `None` for what the clock cannot say.
pub(crate) fn instant(stamp: u64) -> Option<Instant> {
    // A stamp was made from an instant, so that the first one is known, unless it is no stamp.
    let first = first(Instant::now);
    match stamp.checked_sub(FIRST) {
        Some(later) => first.checked_add(Duration::from_nanos(later)),
        None => first.checked_sub(Duration::from_nanos(FIRST - stamp)),
    }
}

/// Whole nanoseconds, five centuries at most.
#[inline]
pub(crate) fn nanos(length: Duration) -> u64 {
    // As `as_nanos`, without its 128 bits.
    length
        .as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(length.subsec_nanos()))
}

fn first(if_none: impl FnOnce() -> Instant) -> Instant {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    *FIRST.get_or_init(if_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_nanoseconds_before_and_after_the_first_instant() {
        let now = Instant::now();
        let here = stamp(now);
        assert_eq!(stamp(now + Duration::from_nanos(1_999)), here + 1_999);
        assert_eq!(
            stamp(now - Duration::from_secs(3600)),
            here - 3_600_000_000_000
        );
        for instant_of in [
            now,
            now + Duration::from_secs(86_400),
            now - Duration::from_secs(5),
        ] {
            assert_eq!(instant(stamp(instant_of)), Some(instant_of));
        }
    }

    #[test]
    fn lengths_saturate() {
        assert_eq!(nanos(Duration::MAX), u64::MAX);
        assert_eq!(nanos(Duration::new(1, 5)), 1_000_000_005);
    }
}
