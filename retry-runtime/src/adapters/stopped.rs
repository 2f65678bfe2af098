//! The verdict of a stopped call, for the annotated function around it.

use crate::classify::{Retryable, Verdict};
use crate::stopped::{Outcome, Stopped};

/// A timeout of the last attempt is transient. A call that ended for its deadline, its budget, a hint or
/// cancellation is permanent, so that no outer function retries it.
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
