//! The log of a test scope.

use std::fmt;
use std::time::Duration;

use crate::classify::Verdict;
use crate::report::Report;
use crate::test_scope::{LoggedCall, is_named};

/// The calls that ended in a [`Scope`](super::Scope), in the order in which they ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log(pub(super) Vec<LoggedCall>);

impl Log {
    /// Returns all calls, nested calls too.
    #[must_use]
    pub fn calls(&self) -> &[LoggedCall] {
        &self.0
    }

    /// Returns the calls of one function, by its whole name or by the last parts of it (`fetch`, `shop::fetch`).
    pub fn calls_of<'l>(&'l self, function: &'l str) -> impl Iterator<Item = &'l LoggedCall> {
        let calls = self.0.iter();
        calls.filter(move |call| is_named(call.report.function, function))
    }
}

/// Shows one line for each call: its report and its delays.
impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.0 {
            writeln!(f, "{}; delays {:?}", call.report, call.kept.delays)?;
        }
        Ok(())
    }
}

impl LoggedCall {
    /// Returns what the call did.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the delay before each retry, in order.
    #[must_use]
    pub fn delays(&self) -> &[Duration] {
        &self.kept.delays
    }

    /// Returns the verdict of each failed attempt, in order. An attempt that was cut counts as [`Verdict::Transient`], or as
    /// [`Verdict::Unknown`] if it was cut during a commit.
    #[must_use]
    pub fn verdicts(&self) -> &[Verdict] {
        &self.kept.verdicts
    }

    /// Returns the error of each failed attempt, in order, as events show it: `timed out` if a limit cut the attempt, and
    /// `(sensitive)` if the function is.
    #[must_use]
    pub fn errors(&self) -> &[String] {
        &self.kept.errors
    }
}
