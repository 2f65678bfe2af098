//! The verdict of a stopped call, for the outer annotated function.

use crate::classify::{Retryable, Verdict};
use crate::stopped::{Outcome, Stopped};

/// A timeout or an `Ok` that was not ready in the last attempt, a deadline, and a pause that is longer than the deadline are
/// transient, because the outer call may have more time. If it has the same deadline, it ends too.
///
/// A limit that cut a `COMMIT`, a request or a call that may not run twice is unknown, because that may have taken effect. If the budget, a hint
/// or cancellation stopped the call, the verdict is permanent, so that no outer call retries it.
#[diagnostic::do_not_recommend]
impl Retryable for Stopped {
    fn verdict(&self) -> Verdict {
        match self.outcome() {
            Outcome::Timeout | Outcome::Deadline if self.cut().is_some() => Verdict::Unknown,
            Outcome::Timeout | Outcome::AttemptsExhausted | Outcome::Deadline | Outcome::Paused => {
                Verdict::Transient
            }
            _ => Verdict::Permanent,
        }
    }

    fn may_have_run(&self) -> bool {
        self.may_have_run
    }
}

#[cfg(test)]
mod tests;
