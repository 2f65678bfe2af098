//! What `on_retry` is told.

use std::time::Duration;

use crate::Verdict;

/// A retry that is about to be waited for: what `on_retry` is told.
///
/// `on_retry` runs before the wait, in the task of the call, and holds no lock of this crate's. It may call
/// other annotated functions through a task of its own.
#[derive(Debug)]
pub struct RetryEvent<'a, E> {
    pub(crate) function: &'static str,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) verdict: Verdict,
    pub(crate) delay: Duration,
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<&'a E>,
}

impl<'a, E> RetryEvent<'a, E> {
    /// The function's name: the attribute's `name`, or module path, type of `self` and function name.
    #[must_use]
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// The number of the attempt that failed, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many attempts there can be, or `None` for no limit.
    #[must_use]
    pub fn attempts(&self) -> Option<u32> {
        self.attempts
    }

    /// What the failure says of itself. An attempt that was cut counts as transient.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The wait before the next attempt.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The time since the call's first suspension or failure.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The error, or `None` where the attempt reached its timeout or returned an `Ok` that means failure.
    #[must_use]
    pub fn error(&self) -> Option<&'a E> {
        self.error
    }
}
