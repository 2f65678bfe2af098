//! What inner calls leave for the call around them: how often they retried, and whether they were
//! refused to.
//!
//! ```text
//! bit 15     14 13        7 6         0
//!     | refusal | 2nd level | 1st level |      levels below the outermost call
//! ```
//!
//! Small, because each call keeps two of them in its future. The bounds are on the safe side: what
//! lies deeper than two levels shares the counter of the second, and a counter that reached 127 counts
//! as "all", so that a call is never allowed more retries for it, only fewer.

#![allow(
    clippy::cast_possible_truncation,
    reason = "fields of a packed word: each is masked to its width, and the number of levels is small"
)]

use crate::Outcome;

const LEVELS: u32 = 2;
const BITS: u32 = 7;
const COUNTER: u16 = (1 << BITS) - 1;
const COUNTERS: u16 = (1 << (LEVELS * BITS)) - 1;

/// Retries made, by level below the outermost call: saturating counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Retries(u16);

impl Retries {
    pub(super) const NONE: Self = Self(0);

    /// As a count: saturated, or not known to be less.
    pub(super) const ALL: u16 = COUNTER;

    pub(super) const fn all() -> Self {
        Self(COUNTERS)
    }

    /// So many at one level.
    pub(super) fn at(level: u32, retries: u32) -> Self {
        let retries = u16::try_from(retries).unwrap_or(COUNTER).min(COUNTER);
        Self(retries << shift(level))
    }

    pub(super) fn get(self, level: u32) -> u16 {
        (self.0 >> shift(level)) & COUNTER
    }

    pub(super) fn plus(self, other: Self) -> Self {
        // Two counters of seven bits do not overflow sixteen.
        self.zip(other, |one, other| one + other)
    }

    fn zip(self, other: Self, with: fn(u16, u16) -> u16) -> Self {
        (0..LEVELS).fold(Self::NONE, |joined, level| {
            let count = with(self.get(level), other.get(level));
            Self(joined.0 | Self::at(level, count.into()).0)
        })
    }
}

fn shift(level: u32) -> u32 {
    level.min(LEVELS - 1) * BITS
}

/// Why a call was refused more attempts, so that no call around it makes any either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Budget = 1,
    Deadline = 2,
    Cancelled = 3,
}

impl Refusal {
    /// The refusal in how a call ended, if it was one.
    pub(crate) fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Budget => Some(Self::Budget),
            Outcome::Deadline => Some(Self::Deadline),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// How the call around ends for it.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Budget => Outcome::Budget,
            Self::Deadline => Outcome::Deadline,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}

/// The notes of one attempt: the retries of the inner call that made most, at each level, and why
/// the last that was refused was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Notes(u16);

impl Notes {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn retries(self) -> Retries {
        Retries(self.0 & COUNTERS)
    }

    pub(super) fn with_retries(self, retries: Retries) -> Self {
        let most = self.retries().zip(retries, u16::max);
        Self(most.0 | (self.0 & !COUNTERS))
    }

    pub(super) fn refusal(self) -> Option<Refusal> {
        match self.0 >> (LEVELS * BITS) {
            0 => None,
            1 => Some(Refusal::Budget),
            2 => Some(Refusal::Deadline),
            _ => Some(Refusal::Cancelled),
        }
    }

    pub(super) fn with_refusal(self, refusal: Refusal) -> Self {
        Self(self.retries().0 | ((refusal as u16) << (LEVELS * BITS)))
    }

    pub(super) fn without_refusal(self) -> Self {
        Self(self.retries().0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sum of some counts, as registers and as plain numbers.
    fn total(counts: &[(u32, u32)]) -> (Retries, [u32; 2]) {
        let mut plain = [0; 2];
        let sum = counts.iter().fold(Retries::NONE, |sum, (level, count)| {
            let counter = &mut plain[(*level as usize).min(1)];
            *counter = (*counter + count).min(127);
            sum.plus(Retries::at(*level, *count))
        });
        (sum, plain)
    }

    proptest! {
        #[test]
        fn counters_and_refusal_do_not_touch_each_other(
            counts in prop::collection::vec((0..5_u32, 0..150_u32), 0..6),
            more in prop::collection::vec((0..5_u32, 0..150_u32), 0..6),
        ) {
            let (first, plain) = total(&counts);
            let (second, others) = total(&more);
            let notes = Notes::NONE.with_refusal(Refusal::Budget).with_retries(first);
            let notes = notes.with_refusal(Refusal::Deadline).with_retries(second);
            prop_assert_eq!(notes.refusal(), Some(Refusal::Deadline));
            prop_assert_eq!(notes.without_refusal().refusal(), None);
            prop_assert_eq!(notes.without_refusal().retries(), notes.retries());
            for (level, (one, other)) in (0..).zip(plain.into_iter().zip(others)) {
                prop_assert_eq!(u32::from(first.get(level)), one);
                prop_assert_eq!(u32::from(notes.retries().get(level)), one.max(other));
            }
        }
    }
}
