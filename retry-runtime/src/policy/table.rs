//! The text of a policy: a table of its delays.

use std::fmt;

use super::{Nested, Policy};
use crate::Backoff;

/// Shows the policy as a table: the delay before each attempt, and the longest time that a call can take.
///
/// ```text
/// 3 attempts, timeout 500ms, deadline 2s, exponential backoff, throttled base 100ms, jitter full
///   attempt 1  at once
///   attempt 2  after 0ns to 10ms
///   attempt 3  after 0ns to 20ms
///   at most 1.8s
/// ```
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_ROWS: u32 = 12;
        match self.attempts() {
            Some(1) => f.write_str("1 attempt")?,
            Some(attempts) => write!(f, "{attempts} attempts")?,
            None => f.write_str("unlimited attempts")?,
        }
        if let Some(timeout) = self.timeout {
            write!(f, ", timeout {timeout:?}")?;
        }
        if let Some(deadline) = self.deadline {
            write!(f, ", deadline {deadline:?}")?;
        }
        if let Some(hedge) = self.hedge() {
            write!(f, ", hedge {hedge:?}")?;
        }
        if self.attempts == 1 {
            return Ok(());
        }
        match self.backoff {
            Backoff::Delays(delays) => write!(f, ", {} delays", delays.len())?,
            backoff => {
                write!(f, ", {backoff} backoff")?;
                let [base, throttled] = [self.base, self.base_when_throttled()];
                if throttled.min(self.max_delay) != base.min(self.max_delay) {
                    write!(f, ", throttled base {throttled:?}")?;
                }
            }
        }
        write!(f, ", jitter {}{}", self.jitter, self.budget)?;
        if self.nested != Nested::Add {
            write!(f, ", nested {}", self.nested)?;
        }
        write!(f, "\n  attempt 1  at once")?;
        let mut previous = None;
        for n in 0..(self.attempts - 1).min(MOST_ROWS) {
            let (low, high) = self.range_before(n, previous);
            previous = Some(high);
            write!(f, "\n  attempt {}  after {low:?}", n + 2)?;
            if low != high {
                write!(f, " to {high:?}")?;
            }
        }
        if self.attempts - 1 > MOST_ROWS {
            f.write_str("\n  …")?;
        }
        match self.worst_case() {
            Some(longest) => write!(f, "\n  at most {longest:?}"),
            None => f.write_str("\n  no limit on the time"),
        }
    }
}
