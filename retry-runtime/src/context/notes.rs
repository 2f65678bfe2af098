//! Facts about a call that its end needs to know.

/// A set of facts about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Notes(u8);

impl Notes {
    /// None of these facts: the call is in its first attempt, and has no cold part, no listener and no recorder. It ends
    /// inline.
    pub(crate) const NONE: Self = Self(0);
    /// It has a cold part.
    pub(crate) const COLD: Self = Self(1);
    /// There is a listener, or the hook `on_end`.
    pub(crate) const LISTENED: Self = Self(1 << 1);
    /// The call found a recorder when an attempt began.
    pub(crate) const RECORDED: Self = Self(1 << 2);
    /// One of the two above, which want to know how long the call takes.
    pub(crate) const HEARD: Self = Self(Self::LISTENED.0 | Self::RECORDED.0);
    /// It has failed retries, of its own or of calls inside it.
    pub(crate) const FAILED_RETRIES: Self = Self(1 << 3);
    /// The call around does not know of them all yet.
    pub(crate) const UNTOLD: Self = Self(1 << 4);
    /// During a poll: the deadline is that of a scope inside the attempt, so it is not the call's.
    pub(crate) const NARROWED: Self = Self(1 << 5);

    /// The last attempt returned an error, and neither was cut nor gave an `Ok` that means failure.
    pub(crate) const ERRED: Self = Self(1 << 6);

    /// The next wait is above the longest sleep.
    pub(crate) const LONG: Self = Self(1 << 7);

    /// Whether this fact is in the set, or one of several.
    pub(crate) fn has(self, fact: Self) -> bool {
        self.0 & fact.0 != 0
    }

    /// The set with this fact if it `holds`, and without it if not.
    pub(crate) fn with(self, fact: Self, holds: bool) -> Self {
        Self(if holds {
            self.0 | fact.0
        } else {
            self.0 & !fact.0
        })
    }
}
