//! Which code runs in the span of an attempt.

use std::future::{Future as _, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use reattempt::retry;
use tokio::time::sleep;
use tracing::{Instrument as _, Span, debug_span};

use crate::recorded::{Recorded, is_outside, is_root, ms};

#[retry(attempts = 2, base = "1ms", name = "work", budget = "none")]
async fn work(fails: bool) -> io::Result<()> {
    let before = Span::current().id();
    assert!(before.is_some());
    async { sleep(ms(1)).await }
        .instrument(debug_span!("step"))
        .await;
    assert_eq!(Span::current().id(), before, "across an await");
    if fails {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_body_runs_in_the_span_of_its_attempt() {
    let recorded = Recorded::start();
    work(true).await.unwrap_err();
    assert_eq!(
        recorded.tree(),
        [
            r#"work attempts_exhausted Error { description: "" }"#,
            r#"  attempt 1 transient Error { description: "" }"#,
            "    step",
            r#"  attempt 2 transient Error { description: "" }"#,
            "    step",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn code_beside_a_call_and_after_it_does_not_run_in_its_span() {
    let recorded = Recorded::start();
    let beside = async {
        for _ in 0..10 {
            assert!(is_outside());
            sleep(ms(1)).await;
            tokio::task::yield_now().await;
        }
    };
    let (failed, ()) = tokio::join!(work(true), beside);
    failed.unwrap_err();
    assert!(is_outside());
    work(false).await.unwrap();
    assert!(is_outside());
    assert_eq!(recorded.tree().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn the_span_around_is_the_parent_and_current_again_afterwards() {
    let recorded = Recorded::start();
    let around = debug_span!("handler");
    async {
        let own = Span::current().id();
        work(true).await.unwrap_err();
        assert_eq!(Span::current().id(), own);
    }
    .instrument(around)
    .await;
    let tree = recorded.tree();
    assert_eq!(tree[0], "handler");
    assert!(tree[1].starts_with("  work "), "{tree:#?}");
    assert_eq!(tree.len(), 6, "{tree:#?}");
}

/// Two calls side by side have their own spans, so that you can tell their attempts apart.
#[tokio::test(start_paused = true)]
async fn calls_side_by_side_keep_their_attempts_to_themselves() {
    let recorded = Recorded::start();
    let both = async { tokio::join!(work(true), work(false)) };
    let (failed, succeeded) = both.instrument(debug_span!("handler")).await;
    failed.unwrap_err();
    succeeded.unwrap();
    assert_eq!(
        recorded.tree(),
        [
            "handler",
            r#"  work attempts_exhausted Error { description: "" }"#,
            r#"    attempt 1 transient Error { description: "" }"#,
            "      step",
            r#"    attempt 2 transient Error { description: "" }"#,
            "      step",
            "  work success",
            "    attempt 1 success",
            "      step",
        ]
    );
}

/// This thread polls the call once, and another thread completes it.
#[test]
fn a_call_that_moves_to_another_thread_leaves_its_span_behind() {
    #[retry(name = "moved")]
    async fn moved() -> io::Result<()> {
        let mut polled = false;
        poll_fn(|_| {
            if std::mem::replace(&mut polled, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        drop(debug_span!("second poll"));
        Ok(())
    }
    let recorded = Recorded::start();
    let mut call = Box::pin(moved());
    let mut context = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_pending());
    assert!(is_outside());
    let subscriber = recorded.subscriber.clone();
    let other = std::thread::spawn(move || {
        tracing::dispatcher::with_default(&subscriber, || {
            let mut context = Context::from_waker(Waker::noop());
            assert!(call.as_mut().poll(&mut context).is_ready());
            assert!(is_outside());
        });
    });
    other.join().unwrap();
    assert_eq!(
        recorded.tree(),
        ["moved success", "  attempt 1 success", "    second poll"]
    );
}

#[test]
fn a_panic_leaves_the_span_and_closes_it() {
    #[retry(name = "panics")]
    async fn panics() -> io::Result<()> {
        panic!("in the body")
    }
    #[retry(name = "judges", on = "io::Error", when_ok = |(): &()| -> bool { panic!("in a rule") })]
    async fn judges() -> io::Result<()> {
        Ok(())
    }
    let recorded = Recorded::start();
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(panics());
    let mut second = pin!(judges());
    let poll = AssertUnwindSafe(|| first.as_mut().poll(&mut context));
    assert!(catch_unwind(poll).is_err());
    assert!(is_outside());
    let poll = AssertUnwindSafe(|| second.as_mut().poll(&mut context));
    assert!(catch_unwind(poll).is_err());
    assert!(is_outside());
    assert_eq!(
        recorded.tree(),
        [
            "panics dropped",
            "  attempt 1 none",
            "judges dropped",
            "  attempt 1 none"
        ]
    );
    assert!(is_root(&recorded.only("judges")));
}

/// An event of a rule is in the span of the attempt whose error the rule checks.
#[tokio::test(start_paused = true)]
async fn a_rule_runs_in_the_span_of_the_attempt_that_it_checks() {
    fn judge(_: &io::Error) -> bool {
        drop(debug_span!("rule"));
        false
    }
    #[retry(name = "judged", when = judge)]
    async fn judged() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let recorded = Recorded::start();
    judged().await.unwrap_err();
    assert!(is_outside());
    assert_eq!(
        recorded.tree(),
        [
            r#"judged not_retryable Error { description: "" }"#,
            r#"  attempt 1 transient Error { description: "" }"#,
            "    rule",
        ]
    );
}
