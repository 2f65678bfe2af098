//! The `cancel` key: a future that stops a call at any point.

#![allow(clippy::float_cmp, reason = "whole numbers of tokens are exact")]

use std::cell::Cell;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::{Outcome, retry};
use tokio::sync::Notify;

use crate::script::{RESET, Script, Step, ending, ms, stopped};

plays! {
    call(attempts = 5, base = "1s", backoff = "constant", jitter = "none", budget = "none", cancel = stop.notified()),
    stop: &Notify
}

#[tokio::test(start_paused = true)]
async fn cancel_wins_over_a_body_that_is_ready_at_the_same_moment() {
    #[retry(budget = "none", cancel = stop.notified())]
    async fn call(go: &Notify, stop: &Notify) -> io::Result<()> {
        go.notified().await;
        Ok(())
    }
    let (go, stop) = (Notify::new(), Notify::new());
    let mut call = Box::pin(call(&go, &stop));
    assert!(futures::poll!(&mut call).is_pending());
    go.notify_one();
    stop.notify_one();
    let error = call.await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Cancelled);
}

/// The attempt before the wait was cut, so it left no error.
#[tokio::test(start_paused = true)]
async fn a_wait_after_a_timeout_that_is_cut_is_cancelled() {
    plays! {
        call(timeout = "100ms", base = "1s", jitter = "none", budget = "none", cancel = tokio::time::sleep(ms(500)))
    }
    let script = Script::new([Step::Hang]);
    let error = call(&script).await.unwrap_err();
    assert_eq!((script.calls(), script.elapsed()), (1, ms(500)));
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    assert_eq!(error.to_string(), "cancelled (1 attempt, 500ms)");
}

/// The text omits everything shorter than a step of the timer.
#[tokio::test(start_paused = true)]
async fn the_text_of_stopped_rounds_the_time_to_milliseconds() {
    for (micros, text) in [
        (1_234_567, "cancelled (1 attempt, 1.234s)"),
        (200, "cancelled (1 attempt, 200µs)"),
    ] {
        let (script, stop) = (Script::new([Step::Hang]), Notify::new());
        let mut call = Box::pin(call(&script, &stop));
        assert!(futures::poll!(&mut call).is_pending());
        tokio::time::advance(Duration::from_micros(micros)).await;
        stop.notify_one();
        let error = call.await.unwrap_err();
        assert_eq!(stopped(&error).elapsed(), Duration::from_micros(micros));
        assert_eq!(error.to_string(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_already_makes_no_attempt() {
    let script = Script::new([Step::Succeed]);
    let stop = Notify::new();
    stop.notify_one();
    let error = call(&script, &stop).await.unwrap_err();
    assert_eq!(script.calls(), 0);
    assert_eq!(ending(&error), (Outcome::Cancelled, 0, None));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_cancelled_goes_on_as_without_the_key() {
    let script = Script::new([RESET, RESET, Step::Succeed]);
    let stop = Notify::new();
    assert_eq!(call(&script, &stop).await.unwrap(), 3);
    assert_eq!(script.times(), [ms(0), ms(1000), ms(2000)]);
}

/// The call drops the values of an attempt before the caller gets the error.
#[tokio::test(start_paused = true)]
async fn a_cancelled_attempt_is_dropped_at_once() {
    #[retry(cancel = tokio::time::sleep(ms(10)))]
    async fn hold(lock: &tokio::sync::Mutex<()>) -> io::Result<()> {
        let _held = lock.lock().await;
        std::future::pending().await
    }
    let lock = tokio::sync::Mutex::new(());
    hold(&lock).await.unwrap_err();
    assert!(lock.try_lock().is_ok());
}

/// The budget is charged only for retries that began.
#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_gives_its_tokens_back() {
    static LEVEL: reattempt::Budget = reattempt::Budget::aws();
    #[retry(attempts = 5, base = "1s", jitter = "none", backoff = "constant", budget = "LEVEL", cancel = tokio::time::sleep(after))]
    async fn call(script: &Script, after: Duration) -> io::Result<usize> {
        script.play().await
    }
    for (millis, retries) in [(500, 0.0), (1500, 1.0), (2500, 2.0)] {
        let before = LEVEL.level();
        let script = Script::new([RESET]);
        call(&script, ms(millis)).await.unwrap_err();
        assert_eq!(before - LEVEL.level(), 14.0 * retries, "{millis} ms");
    }
}

/// The expression runs once in a call, and may use arguments and `self`.
#[tokio::test(start_paused = true)]
async fn the_future_is_made_once_a_call() {
    struct Service {
        made: Cell<u32>,
        stop: Arc<Notify>,
        calls: Mutex<u32>,
    }
    impl Service {
        async fn stopping(&self) -> &'static str {
            self.made.set(self.made.get() + 1);
            self.stop.notified().await;
            "any output"
        }
        #[retry(attempts = 4, budget = "none", cancel = self.stopping())]
        async fn call(&self) -> io::Result<()> {
            *self.calls.lock().unwrap() += 1;
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let service = Service {
        made: Cell::new(0),
        stop: Arc::default(),
        calls: Mutex::new(0),
    };
    service.call().await.unwrap_err();
    assert_eq!((service.made.get(), *service.calls.lock().unwrap()), (1, 4));
}

/// `cancel` strikes between `before_retry` and the attempt. The tokens for the attempt come back, and the attempt
/// is not counted.
#[tokio::test(start_paused = true)]
async fn a_retry_that_is_cancelled_as_it_begins_is_not_paid_for() {
    static LEVEL: reattempt::Budget = reattempt::Budget::aws();
    plays! {
        call(attempts = 5, budget = "LEVEL", cancel = stop.notified(), before_retry = async || stop.notify_one()),
        stop: &Notify
    }
    let script = Script::new([RESET]);
    let error = call(&script, &Notify::new()).await.unwrap_err();
    assert_eq!((script.calls(), LEVEL.level()), (1, 500.0));
    let cause = Some("call 1".to_owned());
    assert_eq!(ending(&error), (Outcome::Cancelled, 1, cause));
}

plays! {
    call_that_ends(attempts = 5, base = "1s", backoff = "constant", jitter = "none", budget = "none",
        cancel_waits = stop.notified()), stop: &Notify
}

/// Runs the function above, stops it after this many milliseconds, and hands what happened to `check`.
async fn waits_stopped_after(
    steps: &[Step],
    millis: u64,
    check: impl Fn(&Script, io::Result<usize>),
) {
    let (script, stop) = (Script::new(steps.iter().copied()), Notify::new());
    let after = async {
        tokio::time::sleep(ms(millis)).await;
        stop.notify_one();
    };
    let (ended, ()) = tokio::join!(call_that_ends(&script, &stop), after);
    check(&script, ended);
}

#[tokio::test(start_paused = true)]
async fn with_cancel_waits_an_attempt_that_runs_ends_by_itself() {
    waits_stopped_after(&[Step::SucceedAfter(ms(500))], 300, |script, result| {
        assert_eq!((result.unwrap(), script.elapsed()), (1, ms(500)));
    })
    .await;
    waits_stopped_after(&[Step::FailAfter(ms(500))], 300, |script, result| {
        let error = result.unwrap_err();
        assert_eq!((script.calls(), script.elapsed()), (1, ms(500)));
        let (outcome, attempts, _) = ending(&error);
        assert_eq!((outcome, attempts), (Outcome::Cancelled, 1));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn with_cancel_waits_a_wait_ends_and_no_attempt_begins() {
    waits_stopped_after(&[RESET], 1300, |script, result| {
        assert_eq!((script.calls(), script.elapsed()), (2, ms(1300)));
        let (outcome, attempts, _) = ending(&result.unwrap_err());
        assert_eq!((outcome, attempts), (Outcome::Cancelled, 2));
    })
    .await;
    let (script, stop) = (Script::new([Step::Succeed]), Notify::new());
    stop.notify_one();
    let error = call_that_ends(&script, &stop).await.unwrap_err();
    assert_eq!((ending(&error).0, script.calls()), (Outcome::Cancelled, 0));
}

/// A hedge belongs to the attempt that it stands beside.
#[tokio::test(start_paused = true)]
async fn with_cancel_waits_both_attempts_of_a_race_go_on() {
    static BUDGET: reattempt::Budget = reattempt::Budget::new();
    plays! { call(hedge = "100ms", budget = BUDGET, cancel_waits = tokio::time::sleep(ms(150))) }
    let script = Script::new([Step::Hang, Step::SucceedAfter(ms(200))]);
    assert_eq!(call(&script).await.unwrap(), 2);
    assert_eq!(script.elapsed(), ms(300));
}

#[tokio::test(start_paused = true)]
async fn with_cancel_waits_no_hedge_begins_after_the_signal() {
    hedged_stopped_after(&[Step::SucceedAfter(ms(300))], 50, |script, result| {
        assert_eq!((result.unwrap(), script.calls()), (1, 1));
        assert_eq!(script.elapsed(), ms(300));
    })
    .await;
}

/// After the signal no attempt follows, so the failure of one of two ends the call.
#[tokio::test(start_paused = true)]
async fn with_cancel_waits_the_first_failure_after_the_signal_drops_the_other() {
    let steps = [Step::FailAfter(ms(200)), Step::Hang];
    hedged_stopped_after(&steps, 150, |script, result| {
        assert_eq!((script.calls(), script.elapsed()), (2, ms(200)));
        let (outcome, attempts, _) = ending(&result.unwrap_err());
        assert_eq!((outcome, attempts), (Outcome::Cancelled, 2));
    })
    .await;
    // A failure before it is set aside, and the other goes on.
    let steps = [Step::FailAfter(ms(200)), Step::SucceedAfter(ms(200))];
    hedged_stopped_after(&steps, 250, |script, result| {
        assert_eq!((result.unwrap(), script.elapsed()), (2, ms(300)));
    })
    .await;
}

/// Runs a function that hedges after 100 ms, stops it after this many milliseconds, and hands what happened to `check`.
async fn hedged_stopped_after(
    steps: &[Step],
    millis: u64,
    check: impl Fn(&Script, io::Result<usize>),
) {
    plays! {
        hedged(hedge = "100ms", budget = budget, cancel_waits = stop.notified()), stop: &Notify,
        budget: &reattempt::Budget
    }
    let budget = reattempt::Budget::new();
    let (script, stop) = (Script::new(steps.iter().copied()), Notify::new());
    let after = async {
        tokio::time::sleep(ms(millis)).await;
        stop.notify_one();
    };
    let (ended, ()) = tokio::join!(hedged(&script, &stop, &budget), after);
    check(&script, ended);
}
