//! Calls that are dropped or cancelled.

use std::future::pending;
use std::io;

use opentelemetry::trace::Status;
use reattempt::retry;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::recorded::{Recorded, is_outside, ms, value};

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_closes_its_spans() {
    #[retry(name = "hangs")]
    async fn hangs() -> io::Result<()> {
        pending().await
    }
    let recorded = Recorded::start();
    timeout(ms(10), hangs()).await.unwrap_err();
    assert!(is_outside());
    assert_eq!(recorded.tree(), ["hangs dropped", "  attempt 1 none"]);
    for span in recorded.spans() {
        assert_eq!(span.status, Status::Unset, "a dropped call has no status");
        assert_eq!(value(&span, "error"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_closes_its_span() {
    #[retry(base = "1s", jitter = "none", name = "waits")]
    async fn waits() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let recorded = Recorded::start();
    timeout(ms(10), waits()).await.unwrap_err();
    assert_eq!(
        recorded.tree(),
        [
            "waits dropped",
            r#"  attempt 1 transient Error { description: "" }"#
        ]
    );
}

/// The handle of an attempt may outlive its call. The spans do not.
#[tokio::test(start_paused = true)]
async fn a_handle_of_the_attempt_keeps_no_span_open() {
    #[retry(name = "handed out")]
    async fn call() -> io::Result<reattempt::Attempt> {
        Ok(reattempt::Attempt::current().unwrap())
    }
    let recorded = Recorded::start();
    let attempt = call().await.unwrap();
    assert_eq!(recorded.tree().len(), 2);
    assert_eq!(attempt.number(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_polled_has_no_span() {
    #[retry(name = "unpolled")]
    async fn call() -> io::Result<()> {
        Ok(())
    }
    let recorded = Recorded::start();
    drop(call());
    assert_eq!(recorded.tree(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_is_an_error_and_its_attempt_is_not() {
    #[retry(name = "cancelled", cancel = stop, on = "io::Error")]
    async fn call(stop: oneshot::Receiver<()>) -> io::Result<()> {
        pending().await
    }
    let recorded = Recorded::start();
    let (stop, stopped) = oneshot::channel();
    let (result, ()) = tokio::join!(call(stopped), async {
        sleep(ms(10)).await;
        stop.send(()).unwrap();
    });
    result.unwrap_err();
    assert!(is_outside());
    assert_eq!(
        recorded.tree(),
        [
            r#"cancelled cancelled Error { description: "" }"#,
            "  attempt 1 none"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_with_an_on_end_hook_closes_its_spans() {
    #[retry(name = "told", on_end = |_| assert!(is_outside()))]
    async fn told(hangs: bool) -> io::Result<()> {
        if hangs { pending().await } else { Ok(()) }
    }
    let recorded = Recorded::start();
    told(false).await.unwrap();
    timeout(ms(10), told(true)).await.unwrap_err();
    assert_eq!(
        recorded.tree(),
        [
            "told success",
            "  attempt 1 success",
            "told dropped",
            "  attempt 1 none"
        ]
    );
}
