//! What a call that was stopped says to the retried call around it.

use crate::classify::{Retryable, Verdict};
use crate::stopped::{Outcome, Stopped};

/// A timeout of the last attempt is transient. What was refused for the deadline, the budget, a hint
/// or because of cancellation is permanent: no outer layer tries it again.
#[diagnostic::do_not_recommend]
impl Retryable for Stopped {
    fn verdict(&self) -> Verdict {
        match self.outcome() {
            Outcome::Timeout => Verdict::Transient,
            _ => Verdict::Permanent,
        }
    }
}

#[cfg(test)]
mod tests;
