//! The wait between two attempts.

use std::time::Duration;

use tokio::time::sleep;

use super::attempt::LONGEST_SLEEP;

/// How long to wait before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Wait(pub(super) Duration);

impl Wait {
    /// Waits. A wait of zero lets other tasks run once and does not sleep, which would take a step of
    /// the timer, 1 ms.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait.
    pub async fn pause(self) {
        let mut rest = self.0;
        if rest.is_zero() {
            // So that a body that fails without ever being pending does not keep its worker from
            // the other tasks.
            tokio::task::yield_now().await;
            return;
        }
        while !rest.is_zero() {
            let step = rest.min(LONGEST_SLEEP);
            sleep(step).await;
            rest = rest.saturating_sub(step);
        }
    }
}
