//! The wait between two attempts.

use std::time::Duration;

use tokio::time::sleep;

use super::attempt::{Cut, LONGEST_SLEEP};
use crate::budget::Permit;

/// How long to wait before the next attempt, and the right to make it.
///
/// # Cancel safety
///
/// Dropping it gives the right back to the budget.
#[derive(Debug)]
#[must_use]
pub struct Wait {
    pub(super) delay: Duration,
    pub(super) permit: Option<Permit<'static>>,
}

/// The right to make the next attempt, after the wait.
#[derive(Debug)]
#[must_use]
pub struct Waited(pub(super) Option<Permit<'static>>);

impl Wait {
    /// Waits. A wait of zero lets other tasks run once and does not sleep, which would take a step of
    /// the timer, 1 ms.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait.
    pub async fn pause(self) -> Waited {
        let mut rest = self.delay;
        if rest.is_zero() {
            // So that a body that fails without ever being pending does not keep its worker from
            // the other tasks.
            tokio::task::yield_now().await;
        }
        while !rest.is_zero() {
            let step = rest.min(LONGEST_SLEEP);
            sleep(step).await;
            rest = rest.saturating_sub(step);
        }
        Waited(self.permit)
    }

    /// The same, in the form that a `cancel` future can cut.
    #[expect(clippy::missing_errors_doc, reason = "it never is one")]
    pub async fn pause_to_cut(self) -> Result<Waited, Cut> {
        Ok(self.pause().await)
    }
}
