//! `until`: a call never returns an `Ok` that is not ready.

use std::cell::Cell;
use std::error::Error as _;
use std::future::ready;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use reattempt::{
    Attempt, Budget, Error, Outcome, Policy, PreviousFailure, Stopped, Verdict, retry, with_report,
};
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, ending, ms, stopped};

#[tokio::test(start_paused = true)]
async fn a_call_returns_the_first_ok_that_is_ready() {
    plays!(job(attempts = 5, until = |call| *call >= ready), ready: usize);
    for ready in 1..=5 {
        let script = Script::new([Step::Succeed]);
        let (result, report) = with_report(job(&script, ready)).await;
        assert_eq!(result.unwrap(), ready);
        let outcome = match ready {
            1 => Outcome::Success,
            _ => Outcome::SuccessAfterRetry,
        };
        assert_eq!(report.unwrap().outcome(), outcome);
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_whose_ok_is_not_ready_failed_and_did_not_time_out() {
    #[retry(attempts = 2, until = Option::is_some)]
    async fn previous() -> io::Result<Option<PreviousFailure>> {
        Ok(Attempt::current().and_then(|attempt| attempt.previous()))
    }
    assert_eq!(previous().await.unwrap(), Some(PreviousFailure::NotReady));
}

#[derive(Debug, PartialEq)]
struct Job(&'static str);

impl Job {
    fn is_done(&self) -> bool {
        self.0 == "done"
    }
}

/// Each attempt takes 100 ms, each wait 1 s.
#[retry(
    attempts = attempts,
    base = "1s",
    backoff = "constant",
    jitter = "none",
    budget = budget,
    idempotent = idempotent,
    deadline = deadline,
    cancel = sleep(cancel),
    until = Job::is_done
)]
async fn never_done(
    attempts: u32,
    budget: &Budget,
    idempotent: bool,
    deadline: Duration,
    cancel: Duration,
) -> io::Result<Job> {
    sleep(ms(100)).await;
    Ok(Job("running"))
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_before_its_ok_is_ready_returns_its_outcome_in_each_case() {
    const LONG: Duration = Duration::from_secs(3600);
    let empty = Budget::new().with_capacity(1);
    let full = Budget::new();
    for (call, outcome, attempts, took, text) in [
        (
            never_done(3, &full, true, LONG, LONG),
            Outcome::AttemptsExhausted,
            3,
            2300,
            "not ready: attempts_exhausted (3 attempts, 2.3s)",
        ),
        (
            never_done(9, &full, true, ms(1500), LONG),
            Outcome::Deadline,
            2,
            1200,
            "not ready: deadline (2 attempts, 1.2s)",
        ),
        (
            never_done(9, &full, true, ms(1140), LONG),
            Outcome::Deadline,
            1,
            100,
            "not ready: deadline (1 attempt, 100ms)",
        ),
        (
            never_done(9, &empty, true, LONG, LONG),
            Outcome::Budget,
            1,
            100,
            "not ready: budget (1 attempt, 100ms)",
        ),
        (
            never_done(9, &full, false, LONG, LONG),
            Outcome::NotRetryable,
            1,
            100,
            "not ready: not_retryable (1 attempt, 100ms)",
        ),
        (
            never_done(9, &full, true, LONG, ms(500)),
            Outcome::Cancelled,
            1,
            500,
            "cancelled (1 attempt, 500ms)",
        ),
        (
            never_done(9, &full, true, LONG, ms(1150)),
            Outcome::Cancelled,
            2,
            1150,
            "cancelled (2 attempts, 1.15s)",
        ),
    ] {
        let began = Instant::now();
        let (result, report) = with_report(call).await;
        let error = result.unwrap_err();
        assert_eq!(ending(&error), (outcome, attempts, None));
        assert_eq!(stopped(&error).to_string(), text);
        assert_eq!(began.elapsed(), ms(took), "{text}");
        let report = report.unwrap();
        assert_eq!((report.outcome(), report.attempts()), (outcome, attempts));
        assert_eq!(report.verdict(), Some(Verdict::Transient));
    }
}

/// Unless attempts are limited, as in the cases above.
#[tokio::test(start_paused = true)]
async fn what_is_not_ready_takes_nothing_from_a_budget_if_attempts_are_unlimited() {
    #[retry(attempts = "unlimited", base = "1s", jitter = "none", backoff = "constant", budget = budget, until = |call| *call == 9)]
    async fn job(script: &Script, budget: &Budget) -> io::Result<usize> {
        script.play().await
    }
    let budget = Budget::new().with_capacity(2).with_refill(0.0);
    let script = Script::new([Step::Succeed]);
    assert_eq!(job(&script, &budget).await.unwrap(), 9);
    assert_eq!((script.elapsed(), budget.level() >= 2.0), (ms(8_000), true));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_hangs_after_one_that_was_not_ready_ends_as_any_other() {
    plays! { job(attempts = 2, timeout = "1s", base = "0s", until = |_| false) }
    let script = Script::new([Step::Succeed, Step::Hang]);
    let error = job(&script).await.unwrap_err();
    assert_eq!(
        stopped(&error).to_string(),
        "timed out after 1s (2 attempts, 1s)"
    );
}

#[tokio::test(start_paused = true)]
async fn the_source_is_the_error_of_an_earlier_attempt_and_the_last_error_comes_unchanged() {
    plays!(job(attempts = 2, until = |_| false));
    let reset = Step::Fail(io::ErrorKind::ConnectionReset);
    let error = job(&Script::new([reset, Step::Succeed])).await.unwrap_err();
    let told = (Outcome::AttemptsExhausted, 2, Some("call 1".to_owned()));
    assert_eq!(ending(&error), told);
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);

    let error = job(&Script::new([Step::Succeed, reset])).await.unwrap_err();
    assert_eq!(error.to_string(), "call 2");

    let error = job(&Script::new([Step::Fail(io::ErrorKind::NotFound)]))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "call 1");
}

/// A retry of a refusal inside would be refused too.
#[tokio::test(start_paused = true)]
async fn a_refusal_inside_ends_the_wait_for_an_ok() {
    static EMPTY: Budget = Budget::new().with_capacity(1);
    #[retry(budget = EMPTY)]
    async fn inner() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(until = |found| *found)]
    async fn outer() -> io::Result<bool> {
        Ok(inner().await.is_ok())
    }
    let error = outer().await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Budget, 1, None));
}

#[tokio::test(start_paused = true)]
async fn a_call_around_has_more_time_for_what_is_not_ready() {
    plays! { inner(attempts = 2, base = "0s", until = |call| *call >= 4) -> Result<usize, Error<io::Error>> }
    #[retry(attempts = 3, base = "0s")]
    async fn outer(script: &Script) -> Result<usize, Error<io::Error>> {
        inner(script).await
    }
    let script = Script::new([Step::Succeed]);
    assert_eq!(outer(&script).await.unwrap(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_ok_that_is_not_ready_is_dropped_before_the_wait() {
    #[retry(base = "1s", jitter = "none", until = |held| Rc::strong_count(held) > 9, on_retry = |event| {
        assert!(event.error().is_none());
        assert_eq!(event.verdict(), Verdict::Transient);
        told.set(Rc::strong_count(&shared));
    })]
    async fn lend(shared: Rc<()>, told: &Cell<usize>) -> io::Result<Rc<()>> {
        Ok(Rc::clone(&shared))
    }
    let (shared, told) = (Rc::new(()), Cell::new(0));
    lend(Rc::clone(&shared), &told).await.unwrap_err();
    assert_eq!((told.get(), Rc::strong_count(&shared)), (2, 1));
}

#[test]
fn a_blocking_function_waits_until_an_ok_is_ready() {
    #[retry(blocking, attempts = 4, base = "1ms", until = |call| *call >= ready)]
    fn job(calls: &mut u32, ready: u32) -> Result<u32, Failure> {
        *calls += 1;
        Ok(*calls)
    }
    assert_eq!(job(&mut 0, 4).unwrap(), 4);
    let Failure::Stopped(stopped) = job(&mut 0, 5).unwrap_err();
    assert_eq!(stopped.outcome(), Outcome::AttemptsExhausted);
    assert_eq!(stopped.attempts(), 4);
    assert!(stopped.source().is_none());
}

#[derive(Debug, reattempt::Retryable)]
enum Failure {
    #[retryable(forward)]
    Stopped(Stopped),
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Stopped(stopped) = self;
        stopped.fmt(f)
    }
}

const POLICY: Policy = Policy::new().with_attempts(4).with_base(ms(1));

#[tokio::test(start_paused = true)]
async fn a_run_waits_until_an_ok_is_ready() {
    let script = Script::new([Step::Succeed]);
    let mut told = Vec::new();
    let run = POLICY.run(|| script.play()).until(|call| *call >= 2);
    let run = run.until(|call| *call % 3 == 0);
    let run = run.on_retry(|event| told.push(event.error().is_none()));
    assert_eq!(run.await.unwrap(), 3);
    assert_eq!(told, [true, true]);

    let (result, report) = with_report(POLICY.run(|| script.play()).until(|_| false)).await;
    let told = (Outcome::AttemptsExhausted, 4, None);
    assert_eq!(ending(&result.unwrap_err()), told);
    assert_eq!(report.unwrap().outcome(), Outcome::AttemptsExhausted);

    let run = POLICY.run(|| script.play()).until(|_| false);
    let error = run.with_cancel(ready(())).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::Cancelled, 0, None));

    let run = POLICY.run(|| script.play()).until(|_| false);
    let error = run.with_idempotent(false).await.unwrap_err();
    assert_eq!(ending(&error), (Outcome::NotRetryable, 1, None));
}

/// `when_ok` says what to retry, `until` what to return.
#[tokio::test(start_paused = true)]
async fn a_run_with_both_rules_returns_only_what_until_accepts() {
    let script = Script::new([Step::Succeed]);
    let run = POLICY.run(|| script.play()).when_ok(|call| *call < 3);
    assert_eq!(run.until(|call| *call > 1).await.unwrap(), 3);

    let script = Script::new([Step::Succeed]);
    let run = POLICY.run(|| script.play()).when_ok(|_| true);
    assert_eq!(run.until(|call| *call == 4).await.unwrap(), 4);
}

/// In the order in which the rules are written, whichever kind they are.
#[tokio::test(start_paused = true)]
async fn of_several_hints_of_a_run_the_last_one_counts() {
    let hint = |seconds| move |call: &usize| (*call == 2, Some(Duration::from_secs(seconds)));
    let fails = |seconds| move |call: &usize| (*call == 1, Some(Duration::from_secs(seconds)));
    let script = Script::new([Step::Succeed]);
    let run = POLICY.run(|| script.play()).until(hint(3));
    run.until(hint(5)).await.unwrap();
    assert_eq!(script.elapsed().as_secs(), 5);

    let script = Script::new([Step::Succeed]);
    let run = POLICY.run(|| script.play()).when_ok(fails(3));
    run.when_ok(fails(5)).await.unwrap();
    assert_eq!(script.elapsed().as_secs(), 5);
}

#[test]
fn a_blocking_run_waits_until_an_ok_is_ready() {
    let mut calls = 0;
    let mut job = || {
        calls += 1;
        Ok::<_, Failure>(calls)
    };
    let run = POLICY.run_blocking(&mut job).until(|call| *call == 4);
    assert_eq!(run.call().unwrap(), 4);
    let run = POLICY.run_blocking(&mut job).until(|call| *call == 4);
    let error = run.call().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("not ready: attempts_exhausted (4 attempts, "),
        "{error}"
    );
}
