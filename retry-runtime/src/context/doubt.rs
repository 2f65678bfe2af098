//! Work that may have taken effect if a timeout cuts it, so it must not be repeated.

use std::sync::Arc;

use super::cold::Cold;
use super::frame::around;

/// Runs a future that may have taken effect as soon as it has begun, such as a `COMMIT`.
///
/// If the timeout of the attempt cuts this future, the attempt is not retried. Only the call of this attempt takes note
/// of the future, not the calls around.
pub(crate) async fn in_doubt<F: Future>(future: F) -> F::Output {
    let begun = Begun::here();
    let output = future.await;
    begun.end();
    output
}

/// Work that began in an attempt. If it is dropped before its end, the call stays in doubt.
struct Begun(Option<Arc<Cold>>);

impl Begun {
    fn here() -> Self {
        let call = around(|frame| frame.is_attempt().then(|| Arc::clone(frame.cold())));
        let call = call.flatten();
        if let Some(call) = &call {
            call.noted().in_doubt += 1;
        }
        Self(call)
    }

    fn end(self) {
        if let Some(call) = self.0 {
            call.noted().in_doubt -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::io;
    use std::time::Duration;

    use super::*;
    use crate::classify::{Retryable, Verdict};
    use crate::policy::Policy;
    use crate::stopped::{Outcome, Stopped};

    const POLICY: Policy = Policy::new()
        .with_attempts(3)
        .with_timeout(Duration::from_secs(1));

    async fn hang() -> Result<(), Stopped> {
        pending().await
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_that_cuts_a_commit_is_not_retried() {
        let attempts = Cell::new(0);
        let cut = |commit: bool| {
            attempts.set(attempts.get() + 1);
            async move {
                // A commit that ended is not in doubt.
                in_doubt(async { io::Result::Ok(()) }).await.ok();
                if commit {
                    in_doubt(hang()).await
                } else {
                    hang().await
                }
            }
        };
        let stopped = POLICY.run(|| cut(true)).unboxed().await.unwrap_err();
        assert_eq!(stopped.outcome(), Outcome::Timeout);
        assert_eq!((stopped.attempts(), attempts.replace(0)), (1, 1));
        assert_eq!(stopped.verdict(), Verdict::Transient);

        let stopped = POLICY.run(|| cut(false)).unboxed().await.unwrap_err();
        assert_eq!((stopped.attempts(), attempts.get()), (3, 3));
    }

    #[tokio::test]
    async fn outside_of_a_call_the_future_is_only_awaited() {
        assert_eq!(in_doubt(async { 7 }).await, 7);
    }
}
