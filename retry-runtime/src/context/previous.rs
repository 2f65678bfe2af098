//! How the attempt before this one failed.

use crate::classify::Verdict;

/// How the attempt before this one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Previous {
    /// It returned an error with this verdict, or an `Ok` that means failure.
    Failed(Verdict),
    /// It reached its timeout.
    TimedOut,
}

impl Previous {
    /// The verdict of that failure.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Failed(verdict) => verdict,
            Self::TimedOut => Verdict::Transient,
        }
    }
}
