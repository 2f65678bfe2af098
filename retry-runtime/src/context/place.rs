//! Where in a tree of calls the code runs, in one register.

use super::Nested;

/// Which attempt it is of how many, and what lies around it, in one register.
///
/// ```text
/// bit 63   52 51       51 50      49 48     48 47       24 23      0
///     | level |  written  |  nested  |  again  |  attempts  |  number  |
/// ```
///
/// Bounds: numbers count to 16,777,215 and stay there; so many attempts or more are shown as no limit.
/// 4,095 levels deep, a stack is long at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(u64);

/// What a function says of each of its attempts, worked out before it is called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind(u64);

impl Kind {
    /// `attempts` is what the policy of the call allows, `u32::MAX` for no limit.
    pub(crate) const fn new(attempts: u32, nested: Nested) -> Self {
        let attempts = if attempts < COUNT { attempts } else { COUNT };
        Self(((attempts as u64) << 24) | ((nested as u64) << 49))
    }
}

const COUNT: u32 = (1 << 24) - 1;
const LEVEL: u32 = (1 << 12) - 1;

impl Place {
    pub(super) const OUTSIDE: Self = Self(0);

    #[inline]
    pub(super) fn new(number: u32, kind: Kind, again: bool, level: u32) -> Self {
        Self(
            u64::from(number.min(COUNT))
                | kind.0
                | (u64::from(again) << 48)
                | (u64::from(level.min(LEVEL)) << 52),
        )
    }

    /// Of the attempt; 0 outside of any.
    #[inline]
    pub(super) fn number(self) -> u32 {
        self.count(0)
    }

    /// What the policy of the call allows; `u32::MAX` for no limit.
    #[inline]
    pub(super) fn attempts(self) -> u32 {
        match self.count(24) {
            COUNT => u32::MAX,
            attempts => attempts,
        }
    }

    #[inline]
    fn count(self, shift: u32) -> u32 {
        u32::try_from((self.0 >> shift) & u64::from(COUNT)).unwrap_or(COUNT)
    }

    /// Whether any attempt around, this one included, is not the first of its call.
    #[inline]
    pub(super) fn again(self) -> bool {
        self.0 & (1 << 48) != 0
    }

    pub(super) fn nested(self) -> Nested {
        match (self.0 >> 49) & 3 {
            0 => Nested::Add,
            1 => Nested::Multiply,
            _ => Nested::Outermost,
        }
    }

    /// Whether no attempt lies around. Then nothing else is said either.
    #[inline]
    pub(super) fn is_outside(self) -> bool {
        self.0 == 0
    }

    /// How many attempts lie around, this one included.
    #[inline]
    pub(super) fn level(self) -> u32 {
        (self.0 >> 52) as u32
    }

    /// Whether something in the frame belongs to the call when the poll is over.
    #[inline]
    pub(super) fn is_written(self) -> bool {
        self.0 & (1 << 51) != 0
    }

    pub(super) fn written(self) -> Self {
        Self(self.0 | (1 << 51))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_reads_back_and_what_is_too_large_stays_in_its_own() {
        for nested in [Nested::Add, Nested::Multiply, Nested::Outermost] {
            let place = Place::new(7, Kind::new(9, nested), true, 3);
            assert_eq!((place.number(), place.attempts()), (7, 9));
            assert_eq!((place.nested(), place.level()), (nested, 3));
            assert!(place.again() && !place.is_written());
            assert!(place.written().is_written());
            assert_eq!(place.written().level(), 3);
        }
        let place = Place::new(u32::MAX, Kind::new(u32::MAX, Nested::Add), false, u32::MAX);
        assert_eq!((place.number(), place.attempts()), (COUNT, u32::MAX));
        assert_eq!((place.nested(), place.level()), (Nested::Add, LEVEL));
        assert!(!place.again() && !place.is_written());
    }
}
