//! Time as a budget counts it: where instants become ticks.

use std::sync::OnceLock;

use tokio::time::Instant;

/// The tick of the first instant that the process asked about.
///
/// Far from 0, because a paused clock may later ask about an earlier one; and a multiple of the
/// range of the packed tick, so that a budget that was never looked at, whose tick is 0, counts
/// from there.
const FIRST_TICK: u64 = 1 << 40;

/// Gives the tick of an instant: milliseconds since a point that is the same all over the process.
#[must_use]
pub(crate) fn tick(instant: Instant) -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    ticks_from(*FIRST.get_or_init(|| instant), instant)
}

pub(super) fn now() -> u64 {
    tick(Instant::now())
}

fn ticks_from(first: Instant, instant: Instant) -> u64 {
    let millis = |later: Instant, earlier: Instant| {
        u64::try_from(later.saturating_duration_since(earlier).as_millis()).unwrap_or(u64::MAX)
    };
    // One of the two differences is zero.
    FIRST_TICK
        .saturating_add(millis(instant, first))
        .saturating_sub(millis(first, instant))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ticks_are_milliseconds_before_and_after_the_first_instant() {
        let first = Instant::now() + Duration::from_secs(60);
        assert_eq!(ticks_from(first, first), FIRST_TICK);
        assert_eq!(
            ticks_from(first, first + Duration::from_micros(1_999)),
            FIRST_TICK + 1
        );
        assert_eq!(
            ticks_from(first, first - Duration::from_secs(60)),
            FIRST_TICK - 60_000
        );
    }
}
