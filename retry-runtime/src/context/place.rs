//! Where in a tree of calls the code runs, in one register.

use super::Nested;

/// Which attempt it is, and what lies around it, in one register.
///
/// ```text
/// bit 63   36 35       35 34      33 32     32 31       0
///     | level |  written  |  nested  |  again  |  number  |
/// ```
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(u64);

impl Place {
    pub(super) const OUTSIDE: Self = Self(0);

    #[inline]
    pub(super) fn new(number: u32, again: bool, nested: Nested, level: u32) -> Self {
        Self(
            u64::from(number)
                | (u64::from(again) << 32)
                | ((nested as u64) << 33)
                | (u64::from(level) << 36),
        )
    }

    /// Of the attempt; 0 outside of any.
    #[inline]
    pub(super) fn number(self) -> u32 {
        u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(u32::MAX)
    }

    /// Whether any attempt around, this one included, is not the first of its call.
    #[inline]
    pub(super) fn again(self) -> bool {
        self.0 & (1 << 32) != 0
    }

    pub(super) fn nested(self) -> Nested {
        match (self.0 >> 33) & 3 {
            0 => Nested::Add,
            1 => Nested::Multiply,
            _ => Nested::Outermost,
        }
    }

    /// How many attempts lie around, this one included.
    #[inline]
    pub(super) fn level(self) -> u32 {
        (self.0 >> 36) as u32
    }

    /// Whether something in the frame belongs to the call when the poll is over.
    #[inline]
    pub(super) fn is_written(self) -> bool {
        self.0 & (1 << 35) != 0
    }

    pub(super) fn written(self) -> Self {
        Self(self.0 | (1 << 35))
    }
}
