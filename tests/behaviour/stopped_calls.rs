//! A stopped call returns a `Stopped`, whose source is the error of an earlier attempt. The call never returns
//! that error as if it were the error of the last attempt.

use std::cell::Cell;
use std::error::Error;
use std::future::ready;
use std::io;
use std::time::Duration;

use reattempt::{Backoff, Budget, Jitter, Outcome, Policy, Stopped, retry};
use tokio::sync::Notify;
use tokio::time::{advance, sleep};

use crate::script::{RESET, Script, Step, ending, ms, stopped};

/// The expected end of a call: the outcome, the number of attempts that began, and the text of the source.
fn told(outcome: Outcome, attempts: u32, source: &str) -> (Outcome, u32, Option<String>) {
    let source = (!source.is_empty()).then(|| source.to_owned());
    (outcome, attempts, source)
}

// Each attempt takes 100 ms, each wait 1 s, and `before_retry` 100 ms.
plays! {
    cancelled(attempts = 3, base = "1s", backoff = "constant", jitter = "none", budget = "none",
        cancel = sleep(after), before_retry = async || sleep(ms(100)).await), after: Duration
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_that_outcome_wherever_cancel_strikes() {
    let first = Step::FailAfter(ms(100));
    for (at, attempts, source) in [
        // `cancel` strikes in the first attempt, in the wait, in `before_retry`, in the second attempt, and so on.
        (50, 1, ""),
        (150, 1, "call 1"),
        (1099, 1, "call 1"),
        (1150, 1, "call 1"),
        (1250, 2, "call 1"),
        (1350, 2, "call 2"),
        (2350, 2, "call 2"),
        (2450, 3, "call 2"),
    ] {
        let script = Script::new([first]);
        let error = cancelled(&script, ms(at)).await.unwrap_err();
        let expected = told(Outcome::Cancelled, attempts, source);
        assert_eq!(ending(&error), expected, "at {at} ms");
        assert_eq!(error.kind(), io::ErrorKind::Interrupted, "at {at} ms");
        assert_eq!(script.elapsed(), ms(at));
    }
    // The last attempt fails before `cancel` strikes.
    let script = Script::new([first]);
    let error = cancelled(&script, ms(2550)).await.unwrap_err();
    assert_eq!(error.to_string(), "call 3");
}

/// `cancel` strikes between an attempt and a wait.
#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_that_outcome_between_two_steps_too() {
    #[retry(
        attempts = 3,
        base = base,
        jitter = "none",
        budget = "none",
        cancel = stop.notified(),
        on_retry = |_| if at == "wait" { stop.notify_one() },
        before_retry = async || if at == "retry" { stop.notify_one() },
    )]
    async fn call(script: &Script, at: &str, base: Duration, stop: &Notify) -> io::Result<usize> {
        let ended = script.play().await;
        if at == "failure" {
            stop.notify_one();
        }
        ended
    }
    for base in [Duration::ZERO, ms(100)] {
        for at in ["failure", "wait", "retry"] {
            let (script, stop) = (Script::new([RESET]), Notify::new());
            let error = call(&script, at, base, &stop).await.unwrap_err();
            let expected = told(Outcome::Cancelled, 1, "call 1");
            assert_eq!(ending(&error), expected, "{at} {base:?}");
            assert_eq!(script.calls(), 1);
        }
    }
}

/// An attempt that was cut has no error, so the error of the attempt before it is the source.
#[tokio::test(start_paused = true)]
async fn cancel_after_a_timeout_has_the_error_before_it_as_its_source() {
    plays! {
        call(attempts = 4, timeout = "100ms", base = "1s", backoff = "constant", jitter = "none", budget = "none",
            cancel = sleep(after)), after: Duration
    }
    let script = Script::new([RESET, Step::Hang]);
    let error = call(&script, ms(1500)).await.unwrap_err();
    assert_eq!(ending(&error), told(Outcome::Cancelled, 2, "call 1"));
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("input or output")]
    Io(#[from] io::Error),
    #[error("stopped")]
    Stopped(#[from] Stopped),
}

/// Every error type that can hold a `Stopped` gets it.
#[tokio::test(start_paused = true)]
async fn every_error_type_can_report_a_cancelled_wait() {
    plays! { own(base = "1s", jitter = "none", cancel = sleep(ms(500)), on = "io::Error") -> Result<usize, Failure> }
    #[retry(base = "1s", jitter = "none", cancel = sleep(ms(500)), on = "io::Error")]
    async fn boxed(script: &Script) -> Result<usize, Box<dyn Error + Send + Sync>> {
        Ok(script.play().await?)
    }
    #[retry(base = "1s", jitter = "none", cancel = sleep(ms(500)), on = "io::Error")]
    async fn local_box(script: &Script) -> Result<usize, Box<dyn Error>> {
        Ok(script.play().await?)
    }
    plays! { anyhow(base = "1s", jitter = "none", cancel = sleep(ms(500)), on = "io::Error") -> anyhow::Result<usize> }
    #[retry(base = "1s", jitter = "none", cancel = sleep(ms(500)), when = |_| true)]
    async fn text(script: &Script) -> Result<usize, String> {
        script.play().await.map_err(|error| error.to_string())
    }
    #[retry(base = "1s", jitter = "none", cancel = sleep(ms(500)))]
    async fn wrapped(script: &Script) -> Result<usize, reattempt::Error<io::Error>> {
        Ok(script.play().await?)
    }
    let script = || Script::new([RESET]);
    let is_cancelled = |stopped: &Stopped| {
        assert_eq!(
            (stopped.outcome(), stopped.attempts()),
            (Outcome::Cancelled, 1)
        );
    };
    match own(&script()).await.unwrap_err() {
        Failure::Stopped(stopped) => is_cancelled(&stopped),
        Failure::Io(error) => panic!("{error}"),
    }
    is_cancelled(boxed(&script()).await.unwrap_err().downcast_ref().unwrap());
    is_cancelled(
        local_box(&script())
            .await
            .unwrap_err()
            .downcast_ref()
            .unwrap(),
    );
    is_cancelled(anyhow(&script()).await.unwrap_err().downcast_ref().unwrap());
    assert_eq!(
        text(&script()).await.unwrap_err(),
        "cancelled (1 attempt, 500ms)"
    );
    match wrapped(&script()).await.unwrap_err() {
        reattempt::Error::Stopped(stopped) => is_cancelled(&stopped),
        reattempt::Error::Failed(error) => panic!("{error}"),
    }
}

plays! {
    limited(attempts = 4, timeout = "200ms", deadline = "1s", base = "300ms", backoff = "constant", jitter = "none",
        budget = "none")
}

#[tokio::test(start_paused = true)]
async fn the_error_before_an_attempt_that_was_cut_is_the_source() {
    plays! { twice(attempts = 2, timeout = "200ms", jitter = "none", budget = "none") }
    let error = twice(&Script::new([RESET, Step::Hang])).await.unwrap_err();
    assert_eq!(ending(&error), told(Outcome::Timeout, 2, "call 1"));

    // Attempts begin at 0, 300 and 600 ms. The third is cut at 800 ms, and a fourth at 1.1 s would be too late.
    let script = Script::new([RESET, RESET, Step::Hang]);
    let error = limited(&script).await.unwrap_err();
    assert_eq!(stopped(&error).attempts(), 3);
    assert_eq!(ending(&error).2.as_deref(), Some("call 2"));
    assert_eq!(script.elapsed(), ms(800));

    // The last attempt fails with its own error, whatever was before it.
    let script = Script::new([Step::Hang, RESET, Step::Fail(io::ErrorKind::NotFound)]);
    assert_eq!(limited(&script).await.unwrap_err().to_string(), "call 3");
}

/// A busy runtime wakes a wait long after the deadline, so that the next attempt does not begin. The call returns
/// the error of the last attempt, and never that of an earlier attempt.
#[tokio::test(start_paused = true)]
async fn no_error_of_an_earlier_attempt_is_returned_as_the_last() {
    for (steps, attempts, source) in [
        (vec![RESET], 1, Err("call 1")),
        (vec![RESET, RESET], 2, Err("call 2")),
        // The attempt before the wait is cut, so it has no error.
        (vec![RESET, Step::Hang], 2, Ok("call 1")),
        (vec![Step::Hang], 1, Ok("")),
    ] {
        let script = Script::new(steps.clone());
        let mut call = Box::pin(limited(&script));
        // The call runs up to the wait after the last of the steps.
        while script.calls() < steps.len() {
            assert!(futures::poll!(&mut call).is_pending());
            sleep(ms(1)).await;
        }
        sleep(ms(220)).await;
        assert!(futures::poll!(&mut call).is_pending());
        advance(ms(60_000)).await;
        let error = call.await.unwrap_err();
        match source {
            Ok(source) => {
                let expected = told(Outcome::Deadline, attempts, source);
                assert_eq!(ending(&error), expected, "{steps:?}");
            }
            Err(last) => assert_eq!(error.to_string(), last, "{steps:?}"),
        }
        assert_eq!(script.calls(), steps.len());
    }
}

/// If `before_retry` takes the rest of the time, no attempt follows.
#[tokio::test(start_paused = true)]
async fn the_error_before_a_before_retry_that_was_cut_is_the_source() {
    plays! {
        call(attempts = 4, deadline = "1s", base = "100ms", jitter = "none", budget = "none",
            before_retry = async || prepare(late, stuck).await), late: bool, stuck: &Cell<bool>
    }
    async fn prepare(late: bool, stuck: &Cell<bool>) {
        if late {
            // This `before_retry` is never pending, so nothing can cut it.
            let now = tokio::time::Instant::now();
            let clock = advance(ms(60_000));
            let _ = futures::poll!(std::pin::pin!(clock));
            assert!(now.elapsed() >= ms(60_000));
        } else {
            stuck.set(true);
            std::future::pending::<()>().await;
        }
    }
    for late in [false, true] {
        let (script, stuck) = (Script::new([RESET]), Cell::new(false));
        let error = call(&script, late, &stuck).await.unwrap_err();
        if late {
            assert_eq!(error.to_string(), "call 1");
            continue;
        }
        assert_eq!(
            ending(&error),
            told(Outcome::Deadline, 1, "call 1"),
            "{late}"
        );
        assert_eq!((script.calls(), stuck.get()), (1, !late));
    }
}

/// After an attempt that was cut, something else may refuse the next one.
#[tokio::test(start_paused = true)]
async fn a_refusal_after_a_timeout_has_the_error_before_it_as_its_source() {
    // The budget has tokens for one retry after a reset, and for none after a timeout.
    static SMALL: Budget = Budget::aws().with_capacity(14).with_retry_cost(2);
    plays! { call(attempts = 4, timeout = "100ms", base = "1ms", jitter = "none", budget = "SMALL") }
    let script = Script::new([RESET, Step::Hang]);
    let error = call(&script).await.unwrap_err();
    assert_eq!(ending(&error), told(Outcome::Budget, 2, "call 1"));
}

/// If the last attempt of a call failed, the caller gets its error, and no other error.
#[tokio::test(start_paused = true)]
async fn the_error_of_the_last_attempt_is_returned_if_it_has_an_error() {
    // Attempts begin at 0, 300, 600 and 900 ms. Then they are used up.
    let script = Script::new([RESET]);
    assert_eq!(limited(&script).await.unwrap_err().to_string(), "call 4");
    // The wait after the third attempt would end at 1.05 s.
    let script = Script::new([Step::FailAfter(ms(150)), RESET, Step::FailAfter(ms(150))]);
    assert_eq!(limited(&script).await.unwrap_err().to_string(), "call 3");
    assert_eq!(script.elapsed(), ms(900));
}

/// Outer calls do not retry the source of a `Stopped`, even if an `Error` wraps the `Stopped`.
#[tokio::test(start_paused = true)]
async fn the_error_that_a_cut_call_keeps_is_not_retried_further_out() {
    type Ended = Result<usize, reattempt::Error<io::Error>>;
    plays! { inner(attempts = 4, base = "1ms", cancel = sleep(ms(50))) -> Ended }
    #[retry(attempts = 4, base = "1ms", on = "io::Error")]
    async fn outer(script: &Script) -> Ended {
        let ended = inner(script).await;
        // After this suspension, the rules decide, and not the refusal of an inner call.
        sleep(ms(1)).await;
        ended
    }
    let script = Script::new([RESET, Step::Hang]);
    let error = outer(&script).await.unwrap_err();
    assert_eq!(script.calls(), 2);
    let mut chain = vec![error.to_string()];
    let mut link = error.source();
    while let Some(source) = link {
        chain.push(source.to_string());
        link = source.source();
    }
    assert_eq!(chain.len(), 3, "{chain:#?}");
    assert!(
        chain[0].starts_with("the call was stopped (cancelled, 2 attempts, "),
        "{chain:#?}"
    );
    assert!(chain[1].starts_with("cancelled (2 attempts"), "{chain:#?}");
}

/// Nothing but the `Stopped` asks how long these calls took, and no attempt is pending before the first wait.
#[tokio::test(start_paused = true)]
async fn a_stopped_tells_the_waits_between_attempts_that_were_ready_at_once() {
    const POLICY: Policy = Policy::new()
        .with_base(ms(100))
        .with_backoff(Backoff::Constant)
        .with_jitter(Jitter::None)
        .without_budget();
    let never = POLICY
        .run(|| ready(io::Result::Ok(false)))
        .until(|done| *done);
    let error = never.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "not ready: attempts_exhausted (3 attempts, 200ms)"
    );

    let script = Script::new([RESET, RESET, Step::Hang]);
    let cut = POLICY.with_timeout(ms(50)).run(|| script.play());
    let error = cut.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "timed out after 50ms (3 attempts, 250ms)"
    );
}
