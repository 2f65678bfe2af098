//! What a call records with the crate `metrics`, if a recorder is installed.
//!
//! Attempts and delays are recorded as they happen, and the rest when the call ends. The text of an error is never
//! recorded, so the number of series is bounded.

#[cfg(feature = "metrics")]
mod recorded;
#[cfg(feature = "metrics")]
mod series;

use std::time::Duration;

use crate::classify::Verdict;
use crate::report::Report;

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

/// Whether a recorder is installed, for this thread or for the process.
#[inline]
pub(crate) fn is_recording() -> bool {
    #[cfg(feature = "metrics")]
    return recorded::is_recording();
    #[cfg(not(feature = "metrics"))]
    false
}

/// An attempt ended.
pub(crate) fn attempted(function: &'static str, how: Attempted) {
    #[cfg(feature = "metrics")]
    recorded::attempted(function, how);
    #[cfg(not(feature = "metrics"))]
    let _ = (function, how);
}

/// Another attempt will follow, after this delay.
pub(crate) fn delayed(function: &'static str, delay: Duration) {
    #[cfg(feature = "metrics")]
    recorded::delayed(function, delay);
    #[cfg(not(feature = "metrics"))]
    let _ = (function, delay);
}

/// A call ended.
pub(crate) fn ended(report: &Report) {
    #[cfg(feature = "metrics")]
    recorded::ended(report);
    #[cfg(not(feature = "metrics"))]
    let _ = report;
}
