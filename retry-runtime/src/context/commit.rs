//! A commit that a timeout cuts may have taken effect, so its attempt must not be repeated.
//!
//! The doubt of an attempt counts the commits that began in it and have not ended. A frame does not know the frames
//! around it. So a call that is pending in doubt tells the attempt around it, which tells the next one in the same poll. A
//! timeout further out then finds its own attempt in doubt.

use std::sync::Arc;

use super::doubt::Doubt;
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
    let doubt = around(current).flatten();
    if let Some(doubt) = &doubt {
        doubt.enter();
    }
    // If the future is dropped before its end, the attempt stays in doubt.
    let output = future.await;
    if let Some(doubt) = &doubt {
        doubt.leave();
    }
    output
}

impl Frame {
    /// Whether a commit that began in this attempt is pending or was dropped.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.doubt().is_some_and(|doubt| doubt.is_present())
    }

    /// Tells the attempt around, if this call is pending in doubt.
    pub(crate) fn share_doubt(&self) {
        if let Some(doubt) = self.doubt().filter(|doubt| doubt.is_present()) {
            if let Some(outer) = around(current).flatten() {
                doubt.share_with(outer);
            }
        }
    }

    /// Begins without doubt: another attempt follows, although this one may have committed.
    pub(crate) fn forget_doubt(&self) {
        if let Some(cold) = self.if_cold() {
            cold.noted().doubt = None;
        }
    }

    fn doubt(&self) -> Option<Arc<Doubt>> {
        self.if_cold()?.noted().doubt.clone()
    }
}

/// The doubt of the present attempt of a call, or of its `before_retry`.
fn current(frame: &Frame) -> Option<Arc<Doubt>> {
    let within = frame.is_attempt() || frame.is_call();
    within.then(|| Arc::clone(frame.cold().noted().doubt.get_or_insert_default()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::io;
    use std::time::Duration;

    use tokio::task::{spawn, yield_now};
    use tokio::time::{sleep, timeout};

    use super::*;
    use crate::classify::{Retryable, Ruling, Said, Verdict};
    #[cfg(feature = "testing")]
    use crate::listen::observe;
    use crate::policy::Policy;
    use crate::propagate::propagate;
    use crate::site::{Shared, Site};
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

    #[cfg(feature = "testing")]
    #[tokio::test(start_paused = true)]
    async fn the_verdict_of_a_cut_commit_is_unknown_in_the_report_and_in_the_log() {
        use crate::testing::Scope;

        for (hangs, expected) in [
            (Hangs::InCommit, vec![Verdict::Unknown]),
            (Hangs::AfterCommit, vec![Verdict::Transient; 3]),
        ] {
            let call = observe(POLICY.run(|| transaction(hangs)).unboxed());
            let ((stopped, report), log) = Scope::new().run(call).await;
            assert_eq!(
                report.unwrap().verdict(),
                Some(stopped.unwrap_err().verdict())
            );
            assert_eq!(log.calls()[0].verdicts(), expected);
        }
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
    async fn a_cut_commit_is_not_repeated_while_nobody_has_read_its_error() {
        let attempts = Cell::new(0);
        let outer = || async {
            attempts.set(attempts.get() + 1);
            let inner = POLICY.run(|| transaction(Hangs::InCommit)).unboxed();
            let (_, hung) = tokio::join!(inner, hang());
            hung
        };
        let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
        assert_eq!(stopped.unwrap_err().verdict(), Verdict::Unknown);
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cut_commit_is_not_repeated_behind_an_io_error() {
        let attempts = Cell::new(0);
        let outer = || async {
            attempts.set(attempts.get() + 1);
            let inner = POLICY.run(|| transaction(Hangs::InCommit)).unboxed();
            inner.await.map_err(io::Error::from)
        };
        let error = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
        assert_eq!(error.unwrap_err().verdict(), Verdict::Unknown);
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rule_may_repeat_a_transaction_whose_commit_was_cut() {
        let attempts = Cell::new(0);
        let outer = || async {
            attempts.set(attempts.get() + 1);
            match attempts.get() {
                1 => POLICY.run(|| transaction(Hangs::InCommit)).unboxed().await,
                _ => hang().await,
            }
        };
        let policy = POLICY.with_timeout(MINUTE);
        let unknown = |stopped: &Stopped| stopped.verdict() == Verdict::Unknown;
        let stopped = policy.run(outer).when(unknown).unboxed().await;
        assert_eq!(stopped.unwrap_err().verdict(), Verdict::Transient);
        assert_eq!(attempts.get(), 3, "the later attempts are not in doubt");
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_in_before_retry_is_not_repeated_further_out() {
        static SHARED: Shared = Shared::new();
        static SITE: Site<true> = Site::new("test", NO_LIMITS, &SHARED);
        let attempts = Cell::new(0);
        let outer = || async {
            attempts.set(attempts.get() + 1);
            let mut call = SITE.begin();
            let _ = call.attempt(async {}).await;
            let lost = Ruling::retry(Said::new(Verdict::Transient));
            let at = call.failed(lost, &"lost").expect("another attempt");
            call.wait(at).await;
            let _ = call.prepare(in_doubt(pending::<()>())).await;
            hang().await
        };
        let stopped = POLICY.with_timeout(MINUTE).run(outer).unboxed().await;
        assert_eq!(stopped.unwrap_err().verdict(), Verdict::Unknown);
        assert_eq!(attempts.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_of_an_earlier_attempt_does_not_end_the_doubt_of_the_present_one() {
        let attempts = Cell::new(0);
        let call = || async {
            attempts.set(attempts.get() + 1);
            if attempts.get() > 1 {
                return in_doubt(hang()).await.map_err(io::Error::from);
            }
            let commit = in_doubt(sleep(Duration::from_millis(500)));
            drop(spawn(propagate(commit)));
            yield_now().await;
            Err(io::ErrorKind::ConnectionReset.into())
        };
        let policy = POLICY.with_base(Duration::from_millis(1));
        let error = policy.run(call).unboxed().await.unwrap_err();
        assert_eq!(error.verdict(), Verdict::Unknown);
        assert_eq!(attempts.get(), 2);
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
