//! The only clock: instants as numbers of 64 bits, far from both ends of their range.

#[cfg_attr(
    all(target_family = "wasm", target_os = "unknown"),
    path = "clock/browser.rs"
)]
mod timers;

use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::time::Duration;

#[cfg(feature = "http-1")]
pub(crate) use self::timers::date;
pub(crate) use self::timers::{Instant, SHORTEST, Sleep, sleep_until};

/// An instant as nanoseconds since a point that is the same in the whole process.
///
/// `Option<Stamp>` is half as large as `Option<Instant>`, and the future of every call contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(NonZeroU64);

impl Stamp {
    /// The first instant that the process asked about.
    ///
    /// It is 2^32 seconds above 0, 136 years, because a paused clock may later show an earlier instant.
    pub(crate) const FIRST: Self = Self(NonZeroU64::new((1 << 32) * 1_000_000_000).unwrap());

    /// Later than any instant.
    pub(crate) const NEVER: Self = Self(NonZeroU64::MAX);

    pub(crate) fn now() -> Self {
        Self::of(Instant::now())
    }

    pub(crate) fn of(instant: Instant) -> Self {
        let first = *FIRST_INSTANT.get_or_init(|| instant);
        match instant.checked_duration_since(first) {
            Some(later) => Self::FIRST.plus(later),
            None => Self::FIRST.minus(first.saturating_duration_since(instant)),
        }
    }

    /// What the clock shows then.
    pub(crate) fn instant(self) -> Instant {
        let first = *FIRST_INSTANT.get_or_init(Instant::now);
        let instant = if self >= Self::FIRST {
            first.checked_add(self.since(Self::FIRST))
        } else {
            first.checked_sub(Self::FIRST.since(self))
        };
        instant.unwrap_or(first)
    }

    pub(crate) fn from_nanos(nanos: u64) -> Self {
        Self(NonZeroU64::new(nanos).unwrap_or(NonZeroU64::MIN))
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0.get()
    }

    /// The time from an earlier stamp to this one, or zero if that stamp is later.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.as_nanos().saturating_sub(earlier.as_nanos()))
    }

    /// This stamp plus `length`, or never if that is later than any instant.
    pub(crate) fn plus(self, length: Duration) -> Self {
        Self(self.0.saturating_add(nanos(length)))
    }

    /// When a limit of this length ends that begins now, or never without one.
    pub(crate) fn after(self, limit: Option<Duration>) -> Self {
        self.plus(limit.unwrap_or(Duration::MAX))
    }

    /// This stamp minus `length`, saturating. What never comes, does not come sooner.
    pub(crate) fn minus(self, length: Duration) -> Self {
        if self == Self::NEVER {
            return self;
        }
        Self::from_nanos(self.as_nanos().saturating_sub(nanos(length)))
    }

    /// The time left until then, or `None` if it never comes.
    pub(crate) fn left(self) -> Option<Duration> {
        (self != Self::NEVER).then(|| self.since(Self::now()))
    }
}

/// The length in nanoseconds. It saturates at `u64::MAX`, after 584 years.
#[inline]
pub(crate) const fn nanos(length: Duration) -> u64 {
    // `as_nanos` computes with 128 bits.
    let seconds = length.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(length.subsec_nanos() as u64)
}

/// The first instant that the process asked about.
static FIRST_INSTANT: OnceLock<Instant> = OnceLock::new();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_nanoseconds_before_and_after_the_first_instant() {
        let now = Instant::now();
        let here = Stamp::of(now).as_nanos();
        let later = Stamp::of(now + Duration::from_nanos(1_999));
        assert_eq!(later.as_nanos(), here + 1_999);
        assert_eq!(later.since(Stamp::of(now)), Duration::from_nanos(1_999));
        assert_eq!(Stamp::of(now).since(later), Duration::ZERO);
        let earlier = Stamp::of(now - Duration::from_secs(3600));
        assert_eq!(earlier.as_nanos(), here - 3_600_000_000_000);
        for stamp in [Stamp::of(now), later, earlier] {
            assert_eq!(Stamp::of(stamp.instant()), stamp);
        }
    }

    #[test]
    fn the_first_instant_has_136_years_before_it() {
        let years = Duration::from_nanos(Stamp::FIRST.as_nanos()).as_secs() / (365 * 24 * 60 * 60);
        assert_eq!(years, 136);
    }

    #[test]
    fn lengths_saturate() {
        assert_eq!(Stamp::FIRST.after(None), Stamp::NEVER);
        assert_eq!(nanos(Duration::MAX), u64::MAX);
        assert_eq!(nanos(Duration::new(1, 5)), 1_000_000_005);
    }
}
