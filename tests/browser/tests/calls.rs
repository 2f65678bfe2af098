//! Calls in a browser's page, in a worker and in Node. The runner chooses by a variable.

use std::cell::Cell;
use std::future::pending;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{join, select};
use futures::pin_mut;
use gloo_timers::future::TimeoutFuture;
use reattempt::types::HedgeOutcome;
use reattempt::{
    Attempt, Budget, FAST_IO, IdempotencyKey, Outcome, Policy, Preset, Retryable, Settings,
    Stopped, Verdict, configure, deadline, retry, testing, with_report,
};
use wasm_bindgen_test::wasm_bindgen_test as test;
use web_time::Instant;

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

/// The body of a function, which fails at first.
fn fails_before(last: u32, made: &Cell<u32>) -> io::Result<u32> {
    made.set(made.get() + 1);
    if made.get() < last {
        Err(reset())
    } else {
        Ok(made.get())
    }
}

fn stopped(error: &io::Error) -> &Stopped {
    let inside = error.get_ref().expect("made from a `Stopped`");
    inside.downcast_ref().expect("made from a `Stopped`")
}

/// Keeps the thread busy, as a script of the page does, or a tab that was asleep.
fn block(length: Duration) {
    let end = Instant::now() + length;
    while Instant::now() < end {}
}

fn sleep(millis: u32) -> TimeoutFuture {
    TimeoutFuture::new(millis)
}

#[test]
async fn a_call_that_succeeds_makes_one_attempt() {
    #[retry]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        sleep(1).await;
        fails_before(1, made)
    }
    // Made where the call is made, and not `Send`.
    let made = Rc::new(Cell::new(0));
    let (result, report) = with_report(fetch(&made)).await;
    assert_eq!(result.unwrap(), 1);
    assert_eq!(report.unwrap().outcome(), Outcome::Success);
}

#[test]
async fn a_failure_is_retried_after_a_wait() {
    #[retry(attempts = 4, base = "40ms", factor = 2, jitter = "none")]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        fails_before(3, made)
    }
    let began = Instant::now();
    let (result, report) = with_report(fetch(&Cell::new(0))).await;
    assert_eq!(result.unwrap(), 3);
    assert_eq!(report.unwrap().outcome(), Outcome::SuccessAfterRetry);
    let waited = began.elapsed();
    assert!(waited >= Duration::from_millis(120), "{waited:?}");
    assert!(waited < Duration::from_secs(60), "{waited:?}");
}

#[test]
async fn an_attempt_that_hangs_is_cut_by_its_timeout() {
    #[retry(attempts = 3, timeout = "50ms", base = "1ms")]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        if made.replace(made.get() + 1) == 0 {
            pending::<()>().await;
        }
        Ok(made.get())
    }
    assert_eq!(fetch(&Cell::new(0)).await.unwrap(), 2);
}

#[test]
async fn the_deadline_ends_a_call_of_many_attempts() {
    #[retry(
        attempts = "unlimited",
        deadline = "3s",
        base = "150ms",
        jitter = "none",
        budget = "none"
    )]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        sleep(10).await;
        fails_before(u32::MAX, made)
    }
    let began = Instant::now();
    let made = Cell::new(0);
    let (result, report) = with_report(fetch(&made)).await;
    result.unwrap_err();
    assert_eq!(report.unwrap().outcome(), Outcome::Deadline);
    assert!((2..=5).contains(&made.get()), "{}", made.get());
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// A tab in the background slows its timers, and a machine that sleeps stops them.
#[test]
async fn no_attempt_begins_when_a_late_timer_ends_a_wait_after_the_deadline() {
    #[retry(
        attempts = 5,
        deadline = "150ms",
        base = "50ms",
        jitter = "none",
        name = "late"
    )]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        fails_before(u32::MAX, made)
    }
    let made = Cell::new(0);
    let late = async {
        sleep(5).await;
        block(Duration::from_millis(400));
    };
    let ((result, report), ()) = join(with_report(fetch(&made)), late).await;
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(report.unwrap().outcome(), Outcome::Deadline);
    assert_eq!(made.get(), 1);
}

#[test]
async fn cancel_ends_a_call_that_waits() {
    #[retry(base = "1h", max_delay = "1h", jitter = "none", cancel = sleep(30))]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        fails_before(u32::MAX, made)
    }
    let made = Cell::new(0);
    let error = fetch(&made).await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Cancelled);
    assert_eq!(made.get(), 1);
}

#[test]
async fn a_dropped_call_makes_no_further_attempt() {
    #[retry(base = "20ms", jitter = "none", timeout = "1h", on_end = |report| ended.set(Some(report.outcome())))]
    async fn fetch(made: &Cell<u32>, ended: &Cell<Option<Outcome>>) -> io::Result<u32> {
        sleep(1).await;
        fails_before(u32::MAX, made)
    }
    let (made, ended) = (Cell::new(0), Cell::new(None));
    {
        let call = fetch(&made, &ended);
        let soon = sleep(10);
        pin_mut!(call);
        select(call, soon).await;
    }
    assert_eq!(ended.get(), Some(Outcome::Dropped));
    let before = made.get();
    sleep(60).await;
    assert_eq!(made.get(), before);
}

#[test]
async fn an_empty_budget_refuses_a_retry() {
    static EMPTY: Budget = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    #[retry(budget = EMPTY)]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        fails_before(u32::MAX, made)
    }
    let made = Cell::new(0);
    let (result, report) = with_report(fetch(&made)).await;
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(report.unwrap().outcome(), Outcome::Budget);
    assert_eq!(made.get(), 1);
}

#[test]
async fn four_attempts_around_four_make_seven_calls() {
    #[retry(attempts = 4, base = "1ms")]
    async fn inner(made: &Cell<u32>) -> io::Result<u32> {
        fails_before(u32::MAX, made)
    }
    #[retry(attempts = 4, base = "1ms")]
    async fn outer(made: &Cell<u32>) -> io::Result<u32> {
        inner(made).await
    }
    let made = Cell::new(0);
    outer(&made).await.unwrap_err();
    assert_eq!(made.get(), 7);
}

#[test]
async fn a_hedge_answers_beside_a_slow_attempt() {
    #[retry(attempts = 3, timeout = "10s", hedge = "30ms")]
    async fn fetch() -> io::Result<u32> {
        let number = Attempt::current().expect("in an attempt").number();
        if number == 1 {
            pending::<()>().await;
        }
        Ok(number)
    }
    let (result, report) = with_report(fetch()).await;
    assert_eq!(result.unwrap(), 2);
    assert_eq!(report.unwrap().hedge(), Some(HedgeOutcome::Won));
}

#[derive(Debug, Retryable)]
enum Failure {
    #[retryable(throttled, after = "0")]
    Busy(Duration),
    #[retryable(permanent)]
    Stopped,
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

#[test]
async fn a_hint_of_the_server_is_waited_for() {
    #[retry(base = "1ms")]
    async fn fetch(made: &Cell<u32>) -> Result<u32, Failure> {
        fails_before(2, made).map_err(|_| Failure::Busy(Duration::from_millis(80)))
    }
    let began = Instant::now();
    assert_eq!(fetch(&Cell::new(0)).await.unwrap(), 2);
    assert!(began.elapsed() >= Duration::from_millis(80));
}

#[test]
async fn a_closure_is_retried_with_run() {
    let made = Cell::new(0);
    let result = FAST_IO.run(async || fails_before(2, &made)).unboxed().await;
    assert_eq!(result.unwrap(), 2);
}

#[test]
async fn calls_in_a_test_scope_do_not_wait() {
    #[retry(attempts = 5, base = "1h", max_delay = "1h")]
    async fn fetch(made: &Cell<u32>) -> io::Result<u32> {
        fails_before(u32::MAX, made)
    }
    let began = Instant::now();
    let scope = testing::Scope::new().with_seed(7);
    let (result, log) = scope.run(fetch(&Cell::new(0))).await;
    result.unwrap_err();
    assert_eq!(log.calls_of("fetch").next().unwrap().report().attempts(), 5);
    assert!(began.elapsed() < Duration::from_secs(60));
}

/// The page would freeze if a call without delays kept the thread.
#[test]
async fn other_tasks_and_timers_run_between_attempts_without_a_delay() {
    #[retry(attempts = "unlimited", base = "0s", budget = "none")]
    async fn fetch(given_up: &Cell<bool>) -> io::Result<()> {
        if given_up.get() { Ok(()) } else { Err(reset()) }
    }
    let given_up = Cell::new(false);
    let timer = async {
        sleep(20).await;
        given_up.set(true);
    };
    let (result, ()) = join(fetch(&given_up), timer).await;
    result.unwrap();
}

#[test]
async fn a_deadline_around_calls_holds_for_them() {
    #[retry(attempts = 10, timeout = "1h", base = "1ms")]
    async fn fetch() -> io::Result<()> {
        pending().await
    }
    let end = Instant::now() + Duration::from_millis(50);
    let error = deadline::scope_at(end, fetch()).await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Deadline);
}

/// JavaScript's timers are not `Send`, but those of a call are.
#[test]
fn the_future_of_a_call_is_send() {
    #[retry(timeout = "1s")]
    async fn fetch() -> io::Result<()> {
        Ok(())
    }
    fn is_send(_: &impl Send) {}
    let call = fetch();
    is_send(&call);
    assert!(call.now_or_never().unwrap().is_ok());
}

#[test]
async fn each_call_has_a_random_key() {
    #[retry]
    async fn pay() -> io::Result<Option<IdempotencyKey>> {
        Ok(Attempt::current().map(|attempt| attempt.idempotency_key()))
    }
    let (first, second) = join(pay(), pay()).await;
    assert_ne!(first.unwrap().unwrap(), second.unwrap().unwrap());
}

#[test]
fn a_date_in_retry_after_counts_from_the_clock_of_the_browser() {
    let mut headers = reqwest::header::HeaderMap::new();
    let past = "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap();
    headers.insert(reqwest::header::RETRY_AFTER, past);
    assert_eq!(
        reattempt::http_1::retry_after(&headers),
        Some(Duration::ZERO)
    );
    let future = "Fri, 31 Dec 9999 23:59:59 GMT".parse().unwrap();
    headers.insert(reqwest::header::RETRY_AFTER, future);
    assert!(reattempt::http_1::retry_after(&headers) > Some(Duration::from_secs(3600)));
}

/// Nothing listens at this port.
#[test]
async fn a_request_that_fetch_refuses_is_transient() {
    let error = reqwest::get("http://127.0.0.1:9/").await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Transient, "{error:?}");
    let error = reqwest::get("no address").await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::Permanent, "{error:?}");
}

#[test]
fn presets_are_configured_from_text() {
    static SEARCH: Preset = Preset::new("search", Policy::new());
    let settings: Settings = serde_json::from_str(r#"{ "attempts": 2 }"#).unwrap();
    configure([(&SEARCH, settings)]).unwrap();
    assert_eq!(SEARCH.policy().attempts(), Some(2));
}
