//! What a call records with the crate `metrics`, if a recorder is installed.
//!
//! Attempts and delays are recorded as they happen, and the rest when the call ends. The text of an error is never
//! recorded, so the number of series is bounded.

#[cfg(not(feature = "metrics"))]
mod off;
#[cfg(feature = "metrics")]
mod recorded;
#[cfg(feature = "metrics")]
mod series;

#[cfg(not(feature = "metrics"))]
pub(crate) use self::off::{attempted, delayed, ended, is_recording};
#[cfg(feature = "metrics")]
pub(crate) use self::recorded::{attempted, delayed, ended, is_recording};
use crate::classify::Verdict;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempted {
    Succeeded,
    Failed(Verdict),
    /// It was dropped or it panicked, so it has no verdict.
    Unfinished,
}

#[cfg(any(feature = "metrics", feature = "tracing"))]
impl Attempted {
    /// The value of the label: the verdict, if there is one.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "success",
            Self::Failed(verdict) => verdict.as_str(),
            Self::Unfinished => "none",
        }
    }
}
