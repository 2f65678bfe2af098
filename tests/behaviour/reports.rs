//! The report that `with_report` receives when a call ends, however the call ends.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use reattempt::{Outcome, Report, Verdict, deadline, propagate, retry, with_report};
use tokio::time::{sleep, timeout};

use crate::script::{RESET, Script, Step, ms};

plays! { play(attempts = 3, base = "100ms", jitter = "none", on = "io::Error") }

async fn report_of(future: impl Future) -> Report {
    with_report(future).await.1.expect("a call ended")
}

#[tokio::test(start_paused = true)]
async fn a_call_that_succeeds_at_once_reports_one_attempt() {
    let script = Script::new([Step::Succeed]);
    let report = report_of(play(&script)).await;
    assert_eq!(report.outcome(), Outcome::Success);
    assert_eq!(report.attempts(), 1);
    assert_eq!((report.elapsed(), report.waited()), (ms(0), ms(0)));
    assert_eq!(report.verdict(), None);
    assert!(report.budget_level().is_some_and(|level| level > 0.0));
    assert!(report.function().ends_with("reports::play"), "{report}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_before_it_begins_reports_no_attempt() {
    plays!(play(cancel = std::future::ready(())));

    let script = Script::new([Step::Succeed]);
    let report = report_of(play(&script)).await;
    assert_eq!(report.outcome(), Outcome::Cancelled);
    assert_eq!(report.attempts(), 0);
}

#[tokio::test(start_paused = true)]
async fn elapsed_and_waited_are_the_time_of_the_call_and_of_its_waits() {
    let script = Script::new([Step::FailAfter(ms(30)), RESET, Step::SucceedAfter(ms(5))]);
    let report = report_of(play(&script)).await;
    assert_eq!(report.outcome(), Outcome::SuccessAfterRetry);
    assert_eq!(report.attempts(), 3);
    assert_eq!(report.waited(), ms(300));
    assert_eq!(report.elapsed(), ms(335));
    assert_eq!(report.verdict(), Some(Verdict::Transient));
    assert_eq!(
        report.to_string(),
        format!(
            "{}::play: success_after_retry, 3 attempts in 335ms, 300ms of it waiting",
            module_path!()
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_reports_why() {
    let script = Script::new([RESET]);
    let report = report_of(play(&script)).await;
    assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
    assert_eq!(report.attempts(), 3);

    let script = Script::new([Step::Fail(io::ErrorKind::NotFound)]);
    let report = report_of(play(&script)).await;
    assert_eq!(report.outcome(), Outcome::NotRetryable);
    assert_eq!(report.attempts(), 1);
    assert_eq!(report.verdict(), Some(Verdict::Permanent));
}

#[tokio::test(start_paused = true)]
async fn a_single_attempt_ends_with_the_outcome_of_a_last_attempt() {
    plays!(literal(attempts = 1));
    plays!(expression(attempts = most), most: u32);
    #[rustfmt::skip]
    let cases = [
        (io::ErrorKind::ConnectionReset, Outcome::AttemptsExhausted, Verdict::Transient),
        (io::ErrorKind::NotFound, Outcome::NotRetryable, Verdict::Permanent),
    ];
    for (kind, outcome, verdict) in cases {
        let script = Script::new([Step::Fail(kind)]);
        for report in [
            report_of(literal(&script)).await,
            report_of(expression(&script, 1)).await,
        ] {
            assert_eq!(report.attempts(), 1);
            assert_eq!(report.outcome(), outcome, "{kind}");
            assert_eq!(report.verdict(), Some(verdict), "{kind}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_single_attempt_needs_no_verdict_of_its_error_type() {
    struct Mute;

    #[retry(attempts = 1)]
    async fn call() -> Result<(), Mute> {
        Err(Mute)
    }
    let report = report_of(call()).await;
    assert_eq!(report.outcome(), Outcome::NotRetryable);
    assert_eq!(report.verdict(), Some(Verdict::Unknown));
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_dropped_call_has_the_part_of_the_wait_before_the_drop() {
    let script = Script::new([RESET]);
    let report = report_of(timeout(ms(140), play(&script))).await;
    assert_eq!(report.outcome(), Outcome::Dropped);
    assert_eq!(report.attempts(), 2);
    assert_eq!(report.waited(), ms(140));

    let script = Script::new([Step::Hang]);
    let report = report_of(timeout(ms(140), play(&script))).await;
    assert_eq!(report.outcome(), Outcome::Dropped);
    assert_eq!((report.attempts(), report.waited()), (1, ms(0)));
    assert_eq!(report.elapsed(), ms(140));
}

#[tokio::test(start_paused = true)]
async fn without_a_call_there_is_no_report() {
    assert_eq!(with_report(async { 7 }).await, (7, None));
    let script = Script::new([Step::Succeed]);
    let ((), report) = with_report(async { drop(play(&script)) }).await;
    assert_eq!(report, None, "it never began");
}

#[retry(
    attempts = 2,
    base = "1ms",
    jitter = "none",
    on = "io::Error",
    name = "outer"
)]
async fn outer(script: &Script) -> io::Result<usize> {
    play(script).await?;
    sleep(ms(1)).await;
    propagate(play(script)).await
}

#[tokio::test(start_paused = true)]
async fn a_call_inside_one_that_goes_on_elsewhere_is_not_reported() {
    let script = Script::new([Step::Succeed]);
    let mut moved = Box::pin(outer(&script));
    let once = poll_fn(|waker| Poll::Ready(moved.as_mut().poll(waker).is_pending()));
    assert_eq!(with_report(once).await, (true, None));
    assert_eq!(script.calls(), 1, "the call inside has ended");
    moved.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn of_several_calls_the_outermost_that_ended_last_is_reported() {
    let script = Script::new([Step::Succeed]);
    let report = report_of(async {
        play(&script).await.unwrap();
        outer(&script).await.unwrap();
    })
    .await;
    assert_eq!(report.function(), "outer");
    let report = report_of(async {
        outer(&script).await.unwrap();
        deadline::scope(Duration::from_secs(1), play(&script)).await
    })
    .await;
    assert!(report.function().ends_with("::play"));
}

#[tokio::test(start_paused = true)]
async fn within_a_call_observe_reports_the_calls_inside() {
    #[retry(attempts = 2, base = "1ms", jitter = "none", on = "io::Error")]
    async fn outer(script: &Script, seen: &std::sync::Mutex<Vec<Report>>) -> io::Result<usize> {
        let (result, report) = with_report(play(script)).await;
        seen.lock().unwrap().push(report.unwrap());
        result
    }

    let script = Script::new([RESET, RESET, Step::Succeed]);
    let seen = std::sync::Mutex::default();
    let report = report_of(with_report(outer(&script, &seen))).await;
    assert!(
        report.function().ends_with("::outer"),
        "both observers got the report"
    );
    assert_eq!(report.attempts(), 1);
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].attempts(), 3);
    assert!(seen[0].function().ends_with("::play"));
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_call_dropped_in_a_wait_has_the_tokens_back_in_its_budget() {
    // It has a budget that no other test uses.
    plays!(play(base = "100ms", jitter = "none"));
    let script = Script::new([Step::Succeed, RESET]);
    let full = report_of(play(&script)).await.budget_level();
    let report = report_of(timeout(ms(50), play(&script))).await;
    assert_eq!(report.outcome(), Outcome::Dropped);
    assert_eq!(report.budget_level(), full);
}
