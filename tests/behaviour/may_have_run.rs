//! Whether a call may have run: the table of `src/guide/idempotency.md`. The report, the `Stopped` and the error use one word.

use std::future::{pending, ready};

use reattempt::{
    Attempt, Budget, Jitter, Outcome, Policy, Retryable, Stopped, Verdict, retry, with_report,
};
use tokio::time::{sleep, timeout};

use crate::script::ms;

/// How an attempt ends.
#[derive(Clone, Copy, Debug)]
enum Ends {
    Succeeds,
    Fails(Verdict),
    /// Fails for good, with an error that knows that it had no effect.
    Finds404,
    Hangs,
}

use Ends::{Fails, Finds404, Hangs, Succeeds};
use Verdict::{Conflict, Permanent, Refused, Transient, Unknown};

#[derive(Debug)]
struct Inner(Ends);

impl Retryable for Inner {
    fn verdict(&self) -> Verdict {
        match self.0 {
            Fails(verdict) => verdict,
            _ => Permanent,
        }
    }

    fn may_have_run(&self) -> bool {
        !matches!(self.0, Finds404) && self.verdict().may_have_run()
    }
}

#[derive(Debug, thiserror::Error, Retryable)]
#[error("{self:?}")]
enum Failed {
    #[retryable(forward)]
    Forwards(Inner),
    #[retryable(transient)]
    Late,
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

type Ended = Result<(), Failed>;

async fn attempt(ends: Ends) -> Ended {
    match ends {
        Succeeds => Ok(()),
        Fails(_) | Finds404 => Err(Failed::Forwards(Inner(ends))),
        Hangs => pending().await,
    }
}

/// Two attempts, with a wait of one second between them.
const POLICY: Policy = Policy::new()
    .with_attempts(2)
    .with_base(ms(1_000))
    .with_jitter(Jitter::None);

/// Awaits the call, and compares what its report and its error say.
async fn check(
    what: &str,
    may_have_run: bool,
    outcome: Outcome,
    call: impl Future<Output = Ended>,
) {
    let (ended, report) = with_report(timeout(ms(5_000), call)).await;
    let report = report.expect("a call ended");
    assert_eq!(report.outcome(), outcome, "{what}");
    assert_eq!(report.may_have_run(), may_have_run, "{what}");
    match ended {
        Ok(Err(Failed::Stopped(stopped))) => {
            assert_eq!(stopped.may_have_run(), may_have_run, "{what}");
        }
        Ok(Err(error)) => assert_eq!(error.may_have_run(), may_have_run, "{what}"),
        Ok(Ok(())) | Err(_) => (),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_may_have_run_unless_each_attempt_provably_had_no_effect() {
    use Outcome::{AttemptsExhausted, NotRetryable, Success, SuccessAfterRetry};
    for (first, then, may_have_run, outcome) in [
        (Succeeds, Hangs, true, Success),
        (Fails(Refused), Succeeds, true, SuccessAfterRetry),
        (Fails(Refused), Fails(Refused), false, AttemptsExhausted),
        (Fails(Refused), Fails(Conflict), false, AttemptsExhausted),
        (Fails(Conflict), Fails(Transient), true, AttemptsExhausted),
        (Fails(Conflict), Fails(Unknown), true, NotRetryable),
        (Fails(Refused), Fails(Permanent), true, NotRetryable),
        (Fails(Refused), Finds404, false, NotRetryable),
        (Hangs, Hangs, true, Outcome::Timeout),
        (Fails(Refused), Hangs, true, Outcome::Timeout),
    ] {
        let policy = POLICY.with_timeout(ms(100));
        let call = policy.run(async || {
            let number = Attempt::current().unwrap().number();
            attempt(if number == 1 { first } else { then }).await
        });
        let what = format!("{first:?}, {then:?}");
        check(&what, may_have_run, outcome, call.into_future()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_a_call_in_an_attempt_may_cut_what_runs_and_in_a_wait_it_does_not() {
    for (ends, may_have_run) in [
        (Fails(Refused), false),
        (Fails(Transient), true),
        (Hangs, true),
    ] {
        let run = |policy: &'static Policy| policy.run(move || attempt(ends));
        let what = format!("{ends:?}");
        let call = run(&POLICY).with_cancel(sleep(ms(50))).into_future();
        check(&what, may_have_run, Outcome::Cancelled, call).await;
        let call = run(&POLICY).with_cancel(ready(())).into_future();
        check(&what, false, Outcome::Cancelled, call).await;
        let dropped = async {
            timeout(ms(50), run(&POLICY).into_future())
                .await
                .unwrap_or(Ok(()))
        };
        check(&what, may_have_run, Outcome::Dropped, dropped).await;

        const SHORT: Policy = POLICY.with_deadline(ms(50));
        let call = run(&SHORT).into_future();
        check(&what, may_have_run, Outcome::Deadline, call).await;
        if !matches!(ends, Hangs) {
            let empty = POLICY.with_budget(Budget::new().with_capacity(1));
            let call = empty.run(|| attempt(ends)).into_future();
            check(&what, may_have_run, Outcome::Budget, call).await;
        }

        #[retry(policy = POLICY, cancel = sleep(ms(1_500)), before_retry = pending::<()>())]
        async fn prepares(ends: Ends) -> Ended {
            let ended = timeout(ms(100), attempt(ends)).await;
            ended.unwrap_or(Err(Failed::Late))
        }
        check(&what, may_have_run, Outcome::Cancelled, prepares(ends)).await;

        // The inner call is cancelled in its attempt, or in its wait.
        let outer = POLICY.run(async || {
            let inner = run(&POLICY).with_cancel(sleep(ms(50)));
            inner.await
        });
        check(
            &what,
            may_have_run,
            Outcome::NotRetryable,
            outer.into_future(),
        )
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn with_a_hedge_both_attempts_count() {
    #[retry(policy = POLICY, hedge = "20ms", timeout = "100ms")]
    async fn hedged(first: Ends, hedge: Ends) -> Ended {
        let is_first = Attempt::current().unwrap().number() == 1;
        sleep(ms(30)).await;
        attempt(if is_first { first } else { hedge }).await
    }
    for (first, hedge, may_have_run, outcome) in [
        (
            Fails(Refused),
            Fails(Refused),
            false,
            Outcome::AttemptsExhausted,
        ),
        (Fails(Refused), Hangs, true, Outcome::Timeout),
        (Fails(Permanent), Hangs, true, Outcome::NotRetryable),
        (Hangs, Fails(Refused), true, Outcome::Timeout),
    ] {
        let what = format!("{first:?}, {hedge:?}");
        check(&what, may_have_run, outcome, hedged(first, hedge)).await;
    }
}
