//! The span of a call, and the span of each attempt in it.

use std::cell::Cell;
use std::future::pending;
use std::io;

use opentelemetry::Value;
use opentelemetry::trace::Status;
use reattempt::{Outcome, Stopped, retry};
use tokio::time::sleep;

use crate::recorded::{Recorded, is_root, ms, text, value};

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("fetching")]
    Network(#[source] io::Error),
    #[error("stopped")]
    Stopped(#[from] Stopped),
}

impl reattempt::Retryable for Failed {
    fn verdict(&self) -> reattempt::Verdict {
        match self {
            Self::Network(error) => error.verdict(),
            Self::Stopped(stopped) => stopped.verdict(),
        }
    }
}

fn reset() -> Failed {
    Failed::Network(io::Error::new(io::ErrorKind::ConnectionReset, "cable cut"))
}

/// Where the attribute of `price` is.
const LINE: u32 = line!() + 3;

/// Fails this many times, and then succeeds.
#[retry(attempts = 4, base = "1s", name = "shop::price", budget = "none")]
async fn price(failures: &Cell<u32>) -> Result<u32, Failed> {
    match failures.get() {
        0 => Ok(7),
        left => {
            failures.set(left - 1);
            Err(reset())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_has_a_span_with_one_child_for_each_attempt() {
    let recorded = Recorded::start();
    price(&Cell::new(2)).await.unwrap();
    assert_eq!(
        recorded.tree(),
        [
            "shop::price success_after_retry",
            r#"  attempt 1 transient Error { description: "" }"#,
            r#"  attempt 2 transient Error { description: "" }"#,
            "  attempt 3 success",
        ]
    );
    let spans = recorded.spans();
    assert!(is_root(&spans[0]));
    for (number, span) in spans.iter().enumerate() {
        let function = Some(Value::from("shop::price"));
        assert_eq!(value(span, "function"), function, "{span:#?}");
        assert_eq!(value(span, "attempts"), Some(Value::I64(4)), "{span:#?}");
        assert_eq!(value(span, "http.request.resend_count"), None);
        // The place of the function, and not that of the code of this crate.
        let place = (number == 0).then(|| (Value::from(file!()), Value::I64(LINE.into())));
        let (file, line) = place.unzip();
        assert_eq!(value(span, "code.file.path"), file);
        assert_eq!(value(span, "code.line.number"), line);
        assert_eq!(value(span, "code.module.name"), None);
        if number > 0 {
            let number = i64::try_from(number).unwrap();
            assert_eq!(value(span, "attempt"), Some(Value::I64(number)));
        }
    }
    for failed in &spans[1..3] {
        let error = text(failed, "error");
        assert_eq!(error.as_deref(), Some("fetching: cable cut"));
    }
    assert_eq!(value(&spans[0], "error"), None);
    assert_eq!(value(&spans[3], "error"), None);
}

#[tokio::test(start_paused = true)]
async fn a_success_at_once_has_two_spans_without_an_error() {
    let recorded = Recorded::start();
    price(&Cell::new(0)).await.unwrap();
    assert_eq!(
        recorded.tree(),
        ["shop::price success", "  attempt 1 success"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_is_an_error_itself() {
    let recorded = Recorded::start();
    price(&Cell::new(u32::MAX)).await.unwrap_err();
    let tree = recorded.tree();
    assert_eq!(tree.len(), 5, "{tree:#?}");
    assert_eq!(
        tree[0],
        r#"shop::price attempts_exhausted Error { description: "" }"#
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_that_is_not_retried_is_recorded_too() {
    #[retry(name = "missing")]
    async fn missing() -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }
    let recorded = Recorded::start();
    missing().await.unwrap_err();
    assert_eq!(
        recorded.tree(),
        [
            r#"missing not_retryable Error { description: "" }"#,
            r#"  attempt 1 permanent Error { description: "" }"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_an_error_of_its_attempt() {
    #[retry(attempts = 2, timeout = "1s", name = "slow")]
    async fn slow() -> io::Result<()> {
        pending().await
    }
    let recorded = Recorded::start();
    slow().await.unwrap_err();
    assert_eq!(
        recorded.tree(),
        [
            r#"slow timeout Error { description: "" }"#,
            r#"  attempt 1 transient Error { description: "" }"#,
            r#"  attempt 2 transient Error { description: "" }"#,
        ]
    );
    assert_eq!(
        text(&recorded.spans()[1], "error").as_deref(),
        Some("timed out")
    );
}

#[tokio::test(start_paused = true)]
async fn a_value_that_means_failure_is_an_error_of_its_attempt() {
    #[retry(attempts = 2, when_ok = |code: &u16| *code == 503, on = "io::Error", name = "status")]
    async fn status() -> io::Result<u16> {
        Ok(503)
    }
    let recorded = Recorded::start();
    assert_eq!(status().await.unwrap(), 503);
    let spans = recorded.spans();
    assert_eq!(spans.len(), 3);
    for attempt in &spans[1..] {
        let error = text(attempt, "error");
        assert_eq!(error.as_deref(), Some("an `Ok` that means failure"));
        assert_eq!(attempt.status, Status::error(""));
    }
}

#[tokio::test(start_paused = true)]
async fn a_sensitive_function_leaves_the_text_of_its_errors_out() {
    #[retry(attempts = 2, sensitive, base = "1ms", name = "login")]
    async fn login(_password: &str) -> Result<(), Failed> {
        Err(reset())
    }
    let recorded = Recorded::start();
    login("swordfish").await.unwrap_err();
    let spans = recorded.spans();
    assert_eq!(spans.len(), 3);
    for attempt in &spans[1..] {
        assert_eq!(text(attempt, "error").as_deref(), Some("(sensitive)"));
    }
    let all = format!("{spans:?}");
    assert!(!all.contains("cable cut"), "{all}");
    assert!(!all.contains("swordfish"), "arguments are never recorded");
}

/// Events between two attempts belong to the call.
#[tokio::test(start_paused = true)]
async fn the_events_of_a_call_are_in_its_span() {
    let recorded = Recorded::start();
    price(&Cell::new(1)).await.unwrap();
    let spans = recorded.spans();
    let said = |number: usize| -> Vec<String> {
        let events = spans[number].events.iter();
        events
            .map(|event| event.name.clone().into_owned())
            .collect()
    };
    assert_eq!(
        said(0),
        ["attempt failed, retrying", "succeeded after retry"]
    );
    assert_eq!((said(1).len(), said(2).len()), (0, 0));

    price(&Cell::new(u32::MAX)).await.unwrap_err();
    let spans = recorded.spans();
    let failed = spans.iter().find(|span| span.events.len() == 4).unwrap();
    assert_eq!(failed.name, "shop::price");
    assert_eq!(failed.events.iter().last().unwrap().name, "gave up");
}

#[tokio::test(start_paused = true)]
async fn before_retry_runs_in_the_span_of_the_call() {
    async fn reconnect() -> io::Result<()> {
        let span = tracing::debug_span!("reconnect");
        sleep(ms(1)).await;
        drop(span);
        drop(tracing::debug_span!("reconnected"));
        Ok(())
    }
    #[retry(attempts = 2, on = "io::Error", before_retry = reconnect(), name = "query")]
    async fn query() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let recorded = Recorded::start();
    let (result, report) = reattempt::with_report(query()).await;
    result.unwrap_err();
    assert_eq!(report.unwrap().outcome(), Outcome::AttemptsExhausted);
    assert_eq!(
        recorded.tree(),
        [
            r#"query attempts_exhausted Error { description: "" }"#,
            r#"  attempt 1 transient Error { description: "" }"#,
            "  reconnect",
            "  reconnected",
            r#"  attempt 2 transient Error { description: "" }"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_spans_of_two_attempts_overlap_and_the_loser_has_no_verdict() {
    #[retry(attempts = 3, hedge = "20ms", name = "shop::price")]
    async fn hedged(first: u64, hedge: u64) -> Result<u32, Failed> {
        let attempt = reattempt::Attempt::current().unwrap();
        sleep(ms(if attempt.is_hedge() { hedge } else { first })).await;
        let inside = tracing::debug_span!(target: "reattempt", "inside");
        drop(inside);
        match attempt.number() {
            1 if first == 40 => Err(reset()),
            number => Ok(number),
        }
    }
    for (first, hedge, verdicts) in [
        (5, 0, ["attempt 1 success", "attempt 1 success"]),
        (100, 30, ["attempt 1 none", "attempt 2 success"]),
        (30, 100, ["attempt 1 success", "attempt 2 none"]),
        (
            40,
            100,
            [
                r#"attempt 1 transient Error { description: "" }"#,
                "attempt 2 success",
            ],
        ),
    ] {
        let recorded = Recorded::start();
        hedged(first, hedge).await.unwrap();
        let tree = recorded.tree();
        let spans: Vec<_> = tree.iter().map(|line| line.trim()).collect();
        for verdict in verdicts {
            assert!(spans.contains(&verdict), "{tree:#?}");
        }
        let inside: Vec<_> = tree.iter().filter(|line| line.contains("inside")).collect();
        assert!(!inside.is_empty(), "{tree:#?}");
        assert!(
            inside.iter().all(|line| line.starts_with("    ")),
            "{tree:#?}"
        );
        let hedges = recorded.spans();
        let hedges = hedges
            .iter()
            .filter(|span| value(span, "hedge") == Some(Value::Bool(true)));
        assert_eq!(hedges.count(), usize::from(first > 20));
    }
}

/// The timeout cuts the attempt, which is the first body as long as that runs.
#[tokio::test(start_paused = true)]
async fn the_first_of_two_bodies_is_cut_and_the_hedge_only_if_the_first_has_failed() {
    #[retry(attempts = 3, hedge = "20ms", timeout = "60ms", jitter = "none")]
    async fn hedged(steps: u64, fails: bool) -> Result<(), Failed> {
        match reattempt::Attempt::current().unwrap().number() {
            1 => {
                for _ in 0..steps {
                    sleep(ms(30 / steps)).await;
                }
                if fails {
                    return Err(reset());
                }
            }
            2 => {}
            _ => return Ok(()),
        }
        pending().await
    }
    const FIRST: &str = r#"attempt 1 transient Error { description: "" }"#;
    const HEDGE: &str = r#"attempt 2 transient Error { description: "" }"#;
    for (steps, fails, expected) in [
        // The last poll before the cut is that of the one, or of the other.
        (1, false, [FIRST, "attempt 2 none"]),
        (2, false, [FIRST, "attempt 2 none"]),
        (1, true, [FIRST, HEDGE]),
    ] {
        let recorded = Recorded::start();
        hedged(steps, fails).await.unwrap();
        let tree = recorded.tree();
        let spans: Vec<_> = tree.iter().map(|line| line.trim()).collect();
        assert_eq!(spans[1..3], expected, "{steps}");
    }
}

/// The order of polls alternates, and the number of steps decides which of the two is polled first at that instant.
#[tokio::test(start_paused = true)]
async fn the_body_that_runs_is_cut_also_if_the_other_fails_at_that_instant() {
    #[retry(attempts = 3, hedge = "20ms", timeout = "60ms", jitter = "none")]
    async fn hedged(steps: u64, fails: u32) -> Result<(), Failed> {
        let number = reattempt::Attempt::current().unwrap().number();
        if number == 3 {
            return Ok(());
        }
        if number == fails {
            let left = if number == 1 { 60 } else { 40 };
            for _ in 0..steps {
                sleep(ms(left / steps)).await;
            }
            return Err(reset());
        }
        pending().await
    }
    for (fails, steps) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let recorded = Recorded::start();
        hedged(steps, fails).await.unwrap();
        let tree = recorded.tree();
        let failed = tree.iter().filter(|line| line.contains(" transient "));
        assert_eq!(failed.count(), 2, "{fails}, {steps}: {tree:#?}");
    }
}
