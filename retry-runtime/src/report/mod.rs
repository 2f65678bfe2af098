//! How a call went, told when it ended.

mod text;

use std::time::Duration;

use crate::classify::Verdict;
use crate::stopped::Outcome;

/// How one call of an annotated function went.
///
/// [`observe`](crate::observe) gives it to the caller, and the key `on_end` to a hook of the function.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub(crate) function: &'static str,
    pub(crate) attempts: u32,
    pub(crate) outcome: Outcome,
    pub(crate) elapsed: Duration,
    pub(crate) waited: Duration,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) budget_level: Option<f64>,
}

impl Report {
    /// The function's name: the attribute's `name`, or module path, type of `self` and function name.
    #[must_use]
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// How many attempts began.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// How the call ended. [`Outcome::Dropped`] also stands for a body that panicked.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The time from the call's first suspension or failure to its end: zero for a call that succeeded
    /// without ever being pending.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// How much of that the call waited between attempts.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// The verdict of the last failure, or `None` if no attempt failed. An attempt that was cut counts as
    /// [`Verdict::Transient`].
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    /// The tokens left in the call's budget when it ended, or `None` for a call without a budget.
    #[must_use]
    pub fn budget_level(&self) -> Option<f64> {
        self.budget_level
    }
}
