//! Work that may have taken effect if a timeout cuts it, so it must not be repeated.
//!
//! A frame does not know the frames around it. So when a call in doubt is pending, it tells the call around, which tells
//! the next one in the same poll. A timeout further out then finds its own call in doubt. Once the inner call returns an
//! error, its verdict tells the body around, and the doubt is over there.

use std::sync::Arc;

use super::cold::Cold;
use super::frame::{Frame, around};

/// Runs a future that may have taken effect as soon as it has begun, such as a `COMMIT`.
///
/// If a timeout cuts this future, the attempt that it cuts is not retried. This also holds for the attempts of the calls
/// around.
#[cfg(any(
    feature = "sqlx",
    feature = "sqlx-0_8",
    feature = "tokio-postgres",
    test
))]
pub(crate) async fn in_doubt<F: Future>(future: F) -> F::Output {
    let call = around(attempt).flatten();
    if let Some(call) = &call {
        call.enter_doubt();
    }
    // If the future is dropped before its end, the call stays in doubt.
    let output = future.await;
    if let Some(call) = &call {
        call.leave_doubt();
    }
    output
}

impl Frame {
    /// Whether work that began in this attempt was dropped before its end.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.if_cold().is_some_and(|cold| cold.noted().in_doubt > 0)
    }

    /// Tells the call around that this call, which is pending, is in doubt.
    pub(crate) fn share_doubt(&self) {
        let Some(cold) = self.if_cold() else { return };
        let noted = cold.noted();
        if noted.in_doubt == 0 || noted.doubts_around.is_some() {
            return;
        }
        drop(noted);
        if let Some(outer) = around(attempt).flatten() {
            outer.enter_doubt();
            cold.noted().doubts_around = Some(outer);
        }
    }

    /// Tells the call around that this call is no longer pending.
    pub(crate) fn end_shared_doubt(&self) {
        let outer = self
            .if_cold()
            .and_then(|cold| cold.noted().doubts_around.take());
        if let Some(outer) = outer {
            outer.leave_doubt();
        }
    }

    /// Forgets the doubt of an attempt that another one follows.
    pub(crate) fn forget_doubt(&self) {
        self.end_shared_doubt();
        if let Some(cold) = self.if_cold() {
            cold.noted().in_doubt = 0;
        }
    }
}

/// The call of this frame, if the code inside runs in an attempt.
fn attempt(frame: &Frame) -> Option<Arc<Cold>> {
    frame.is_attempt().then(|| Arc::clone(frame.cold()))
}

impl Cold {
    fn enter_doubt(&self) {
        self.noted().in_doubt += 1;
    }

    /// Tells the calls around too, if nothing else is in doubt here.
    fn leave_doubt(&self) {
        let mut noted = self.noted();
        // A task that carries an earlier attempt may still run.
        noted.in_doubt = noted.in_doubt.saturating_sub(1);
        let outer = match noted.in_doubt {
            0 => noted.doubts_around.take(),
            _ => None,
        };
        drop(noted);
        if let Some(outer) = outer {
            outer.leave_doubt();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::io;
    use std::time::Duration;

    use tokio::task::{spawn, yield_now};
    use tokio::time::timeout;

    use super::*;
    use crate::classify::{Retryable, Verdict};
    use crate::policy::Policy;
    use crate::propagate::propagate;
    use crate::stopped::{Outcome, Stopped};

    const POLICY: Policy = Policy::new()
        .with_attempts(3)
        .with_timeout(Duration::from_secs(1));

    const NO_LIMITS: Policy = Policy::new().with_attempts(3);
    const MINUTE: Duration = Duration::from_secs(60);

    async fn hang() -> Result<(), Stopped> {
        pending().await
    }

    /// Where an attempt hangs.
    #[derive(Clone, Copy, PartialEq)]
    enum Hangs {
        InCommit,
        AfterCommit,
    }

    /// Commits, and hangs.
    async fn transaction(hangs: Hangs) -> Result<(), Stopped> {
        if hangs == Hangs::InCommit {
            in_doubt(hang()).await
        } else {
            in_doubt(yield_now()).await;
            hang().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_that_cuts_a_commit_is_not_retried() {
        let attempts = Cell::new(0);
        let call = |hangs| {
            attempts.set(attempts.get() + 1);
            transaction(hangs)
        };
        let stopped = POLICY.run(|| call(Hangs::InCommit)).unboxed().await;
        let stopped = stopped.unwrap_err();
        assert_eq!(stopped.outcome(), Outcome::Timeout);
        assert_eq!((stopped.attempts(), attempts.replace(0)), (1, 1));
        assert_eq!(stopped.verdict(), Verdict::Unknown);

        let stopped = POLICY.run(|| call(Hangs::AfterCommit)).unboxed().await;
        let stopped = stopped.unwrap_err();
        assert_eq!((stopped.attempts(), attempts.get()), (3, 3));
        assert_eq!(stopped.verdict(), Verdict::Transient);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_further_out_that_cuts_a_commit_is_not_retried() {
        for (hangs, expected) in [(Hangs::InCommit, 1), (Hangs::AfterCommit, 3)] {
            let attempts = Cell::new(0);
            let inner = || NO_LIMITS.run(|| transaction(hangs)).unboxed();
            let outer = || {
                attempts.set(attempts.get() + 1);
                NO_LIMITS.run(inner).unboxed()
            };
            let stopped = POLICY.run(outer).unboxed().await.unwrap_err();
            assert_eq!(stopped.outcome(), Outcome::Timeout);
            assert_eq!((stopped.attempts(), attempts.get()), (expected, expected));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_that_an_inner_timeout_cut_is_not_retried_further_out() {
        let attempts = Cell::new(0);
        let outer = || {
            attempts.set(attempts.get() + 1);
            POLICY.run(|| transaction(Hangs::InCommit)).unboxed()
        };
        let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
        assert_eq!(stopped.unwrap_err().verdict(), Verdict::Unknown);
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_handled_a_cut_commit_is_retried_after_a_timeout() {
        let attempts = Cell::new(0);
        let outer = || async {
            attempts.set(attempts.get() + 1);
            let inner = POLICY.run(|| transaction(Hangs::InCommit)).unboxed().await;
            assert_eq!(inner.unwrap_err().verdict(), Verdict::Unknown);
            hang().await
        };
        let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
        assert_eq!(stopped.unwrap_err().verdict(), Verdict::Transient);
        assert_eq!(attempts.get(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_attempt_is_not_in_doubt() {
        let attempts = Cell::new(0);
        let call = || async {
            attempts.set(attempts.get() + 1);
            if attempts.get() > 1 {
                return hang().await.map_err(io::Error::from);
            }
            let cut = timeout(Duration::from_millis(1), in_doubt(hang())).await;
            assert!(cut.is_err());
            Err(io::ErrorKind::ConnectionReset.into())
        };
        let error = POLICY.run(call).unboxed().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(attempts.get(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_in_a_task_that_carries_the_attempt_is_not_retried() {
        let attempts = Cell::new(0);
        let call = || async {
            attempts.set(attempts.get() + 1);
            let task = spawn(propagate(in_doubt(pending::<()>())));
            task.await.map_err(io::Error::from)
        };
        let error = POLICY.run(call).unboxed().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test]
    async fn outside_of_a_call_the_future_is_only_awaited() {
        assert_eq!(in_doubt(async { 7 }).await, 7);
    }
}
