//! What inner calls leave for the call around them: how often they retried, and whether they were
//! refused to.

#![allow(
    clippy::cast_possible_truncation,
    reason = "fields of a packed word: each is masked to its width, and the number of levels is small"
)]

use crate::Outcome;

/// How many levels of nesting are told apart; deeper ones share the last.
const LEVELS: usize = 3;

/// Bits of one counter. Above the counters, in [`Notes`], stands the refusal.
const BITS: u32 = 16;

/// Retries made, by level below the outermost call: saturating counters, all in one register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Retries(u64);

impl Retries {
    pub(super) const NONE: Self = Self(0);

    /// As a count: saturated, or not known to be less.
    pub(super) const ALL: u16 = u16::MAX;

    const MASK: u64 = (1 << (LEVELS as u32 * BITS)) - 1;

    pub(super) const fn all() -> Self {
        Self(Self::MASK)
    }

    /// So many at one level.
    pub(super) fn at(level: u32, retries: u32) -> Self {
        let retries = retries.min(u32::from(Self::ALL));
        Self(u64::from(retries) << shift(level))
    }

    pub(super) fn get(self, level: u32) -> u16 {
        (self.0 >> shift(level)) as u16
    }

    #[inline]
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::NONE, only) | (only, Self::NONE) => only,
            (one, other) => one.zip(other, u16::saturating_add),
        }
    }

    #[cold]
    fn zip(self, other: Self, with: fn(u16, u16) -> u16) -> Self {
        (0..LEVELS as u32).fold(Self::NONE, |joined, level| {
            let count = with(self.get(level), other.get(level));
            Self(joined.0 | Self::at(level, u32::from(count)).0)
        })
    }
}

fn shift(level: u32) -> u32 {
    level.min(LEVELS as u32 - 1) * BITS
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
pub(super) struct Notes(u64);

impl Notes {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn retries(self) -> Retries {
        Retries(self.0 & Retries::MASK)
    }

    pub(super) fn with_retries(self, retries: Retries) -> Self {
        let most = self.retries().zip(retries, u16::max);
        Self(most.0 | (self.0 & !Retries::MASK))
    }

    pub(super) fn refusal(self) -> Option<Refusal> {
        match self.0 >> (LEVELS as u32 * BITS) {
            0 => None,
            1 => Some(Refusal::Budget),
            2 => Some(Refusal::Deadline),
            _ => Some(Refusal::Cancelled),
        }
    }

    pub(super) fn with_refusal(self, refusal: Refusal) -> Self {
        Self(self.without_refusal().0 | ((refusal as u64) << (LEVELS as u32 * BITS)))
    }

    #[inline]
    pub(super) fn without_refusal(self) -> Self {
        Self(self.0 & Retries::MASK)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counters_and_refusal_do_not_touch_each_other(
            counts in prop::collection::vec((0..5_u32, 0..70_000_u32), 0..6),
            more in prop::collection::vec((0..5_u32, 0..70_000_u32), 0..6),
        ) {
            let mut plain = [0_u32; LEVELS];
            let total = |counts: &[(u32, u32)], plain: &mut [u32; LEVELS]| {
                counts.iter().fold(Retries::NONE, |sum, (level, count)| {
                    let slot = &mut plain[(*level as usize).min(LEVELS - 1)];
                    *slot = (*slot + count).min(65_535);
                    sum.plus(Retries::at(*level, *count))
                })
            };
            let first = total(&counts, &mut plain);
            let mut others = [0; LEVELS];
            let second = total(&more, &mut others);
            let notes = Notes::NONE.with_refusal(Refusal::Budget).with_retries(first);
            let notes = notes.with_refusal(Refusal::Deadline).with_retries(second);
            prop_assert_eq!(notes.refusal(), Some(Refusal::Deadline));
            prop_assert_eq!(notes.without_refusal().refusal(), None);
            for level in 0..LEVELS {
                prop_assert_eq!(u32::from(first.get(level as u32)), plain[level]);
                let most = plain[level].max(others[level]);
                prop_assert_eq!(u32::from(notes.retries().get(level as u32)), most);
                prop_assert_eq!(notes.without_refusal().retries(), notes.retries());
            }
        }
    }
}
