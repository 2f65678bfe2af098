//! A limit in time that may not have begun to run.

use std::time::Duration;

use tokio::time::Instant;

use crate::clock::{Stamp, nanos};

/// The nearest of several limits in time; which it is shows only when a clock is read.
///
/// A call reads no clock before its first suspension or failure. Until then its limits are durations,
/// and what lies outside may already be an instant; so both are kept, each the least of its kind, in
/// nanoseconds. Beyond five centuries is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// The [stamp](Stamp) of an instant; `u64::MAX` for none.
    at: u64,
    /// A length that begins when the clock is first read; `u64::MAX` for none.
    within: u64,
}

impl Limit {
    pub(crate) const NONE: Self = Self {
        at: u64::MAX,
        within: u64::MAX,
    };

    /// At an instant.
    pub(crate) fn at(instant: Instant) -> Self {
        Self {
            at: Stamp::of(instant).as_nanos(),
            ..Self::NONE
        }
    }

    /// So long from `from`, or from when the clock is first read.
    #[inline]
    pub(crate) fn after(from: Option<Stamp>, length: Option<Duration>) -> Self {
        match (from, length) {
            (_, None) => Self::NONE,
            (None, Some(length)) => Self {
                within: nanos(length),
                ..Self::NONE
            },
            (Some(from), Some(length)) => Self {
                at: from.as_nanos().saturating_add(nanos(length)),
                ..Self::NONE
            },
        }
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.at & self.within == u64::MAX
    }

    /// The nearer of two.
    #[inline]
    pub(crate) fn or_nearer(self, other: Self) -> Self {
        Self {
            at: self.at.min(other.at),
            within: self.within.min(other.within),
        }
    }

    /// The instant of the limit, if what has not begun to run begins now.
    #[inline]
    pub(crate) fn instant(self) -> Option<Instant> {
        if self.is_none() { None } else { self.nearest() }
    }

    fn nearest(self) -> Option<Instant> {
        let at = match self.within {
            u64::MAX => self.at,
            within => self.at.min(Stamp::now().as_nanos().saturating_add(within)),
        };
        Stamp::from_nanos(at).instant()
    }
}
