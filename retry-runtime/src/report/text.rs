//! The text of a report.

use std::fmt;

use super::Report;
use crate::stopped::rounded;

/// One line, with times to the millisecond.
///
/// ```text
/// shop::price: success_after_retry, 3 attempts in 412ms, 310ms of it waiting
/// shop::price: success, 2 attempts in 23ms, hedge won
/// ```
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.attempts == 1 { "" } else { "s" };
        write!(
            f,
            "{}: {}, {} attempt{plural} in {:?}",
            self.function,
            self.outcome,
            self.attempts,
            rounded(self.elapsed)
        )?;
        if !self.waited.is_zero() {
            write!(f, ", {:?} of it waiting", rounded(self.waited))?;
        }
        match self.hedge {
            Some(hedge) => write!(f, ", hedge {}", hedge.as_str()),
            None => Ok(()),
        }
    }
}
