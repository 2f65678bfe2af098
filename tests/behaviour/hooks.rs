//! `before_retry` and `on_retry`.

use std::cell::Cell;
use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::num::ParseIntError;
use std::sync::Mutex;
use std::time::Duration;

use reattempt::{
    Attempt, Budget, Outcome, Policy, RetryEvent, Stopped, Verdict, WithoutLimits, deadline, retry,
};
use tokio::time::{Instant, sleep, timeout};

use crate::script::{RESET, Script, Step, ms};

/// What happened, and when.
struct Log {
    began: Instant,
    lines: Mutex<Vec<(&'static str, Duration)>>,
}

impl Log {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            lines: Mutex::new(Vec::new()),
        }
    }

    fn note(&self, what: &'static str) {
        let line = (what, self.began.elapsed());
        self.lines.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<(&'static str, Duration)> {
        self.lines.lock().unwrap().clone()
    }
}

#[retry(
    attempts = 3,
    jitter = "none",
    before_retry = async || log.note("before"),
    on_retry = |_| log.note("on")
)]
async fn told(script: &Script, log: &Log) -> io::Result<usize> {
    log.note("attempt");
    script.play().await
}

#[tokio::test(start_paused = true)]
async fn on_retry_runs_before_the_wait_and_before_retry_after_it() {
    let log = Log::new();
    told(&Script::new([RESET]), &log).await.unwrap_err();
    // Neither hook runs before the first attempt or after the last attempt.
    let lines = [
        ("attempt", ms(0)),
        ("on", ms(0)),
        ("before", ms(100)),
        ("attempt", ms(100)),
        ("on", ms(100)),
        ("before", ms(300)),
        ("attempt", ms(300)),
    ];
    assert_eq!(log.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn neither_hook_runs_where_there_is_no_retry() {
    for only in [Step::Succeed, Step::Fail(ErrorKind::NotFound)] {
        let log = Log::new();
        let _: io::Result<usize> = told(&Script::new([only]), &log).await;
        assert_eq!(log.lines(), [("attempt", ms(0))], "{only:?}");
    }
    let log = Log::new();
    told(&Script::new([RESET, Step::Succeed]), &log)
        .await
        .unwrap();
    let lines = [
        ("attempt", ms(0)),
        ("on", ms(0)),
        ("before", ms(100)),
        ("attempt", ms(100)),
    ];
    assert_eq!(log.lines(), lines);
}

/// The fields of an event, kept for later.
type Seen = (
    u32,
    Option<u32>,
    Verdict,
    Duration,
    Duration,
    Option<String>,
);

fn seen(event: &RetryEvent<'_, io::Error>) -> Seen {
    assert!(event.function().ends_with("::seeing"), "{event:?}");
    (
        event.attempt(),
        event.attempts(),
        event.verdict(),
        event.delay(),
        event.elapsed(),
        event.error().map(ToString::to_string),
    )
}

plays! {
    seeing(attempts = 5, timeout = "1s", jitter = "none", when_ok = |call| *call == 3,
        on_retry = |event| events.lock().unwrap().push(seen(event))), events: &Mutex<Vec<Seen>>
}

#[tokio::test(start_paused = true)]
async fn on_retry_receives_number_verdict_delay_and_error_of_each_failure() {
    let events = Mutex::new(Vec::new());
    let script = Script::new([
        Step::Fail(ErrorKind::ConnectionRefused),
        Step::Hang,
        // An `Ok` that `when_ok` counts as a failure.
        Step::Succeed,
        RESET,
        Step::Succeed,
    ]);
    assert_eq!(seeing(&script, &events).await.unwrap(), 5);
    let all = Some(5);
    #[rustfmt::skip]
    let expected = [
        (1, all, Verdict::Refused, ms(100), ms(0), Some("call 1".to_owned())),
        (2, all, Verdict::Transient, ms(200), ms(1100), None),
        (3, all, Verdict::Transient, ms(400), ms(1300), None),
        (4, all, Verdict::Transient, ms(800), ms(1700), Some("call 4".to_owned())),
    ];
    assert_eq!(events.into_inner().unwrap(), expected);
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("input or output")]
    Io(#[from] io::Error),
    #[error("no token")]
    Token(#[from] ParseIntError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

#[tokio::test(start_paused = true)]
async fn the_error_of_before_retry_ends_the_call() {
    static BUDGET: Budget = Budget::new();
    /// Fails with an error of another type, which becomes the function's error.
    async fn refresh(token: &str) -> Result<(), ParseIntError> {
        tokio::task::yield_now().await;
        token.parse::<u32>().map(drop)
    }
    #[retry(attempts = 4, on = "io::Error", budget = BUDGET, before_retry = refresh(token))]
    async fn call(script: &Script, token: &str) -> Result<usize, Failure> {
        Ok(script.play().await?)
    }
    plays! {
        limited(attempts = 4, deadline = "1s", on = "io::Error", budget = BUDGET,
            before_retry = refresh(token)) -> Result<usize, Failure>, token: &str
    }
    let script = Script::new([RESET]);
    let full = BUDGET.level();
    let error = call(&script, "not a number").await.unwrap_err();
    assert!(matches!(error, Failure::Token(_)), "{error:?}");
    assert_eq!(script.calls(), 1);
    assert!((BUDGET.level() - full).abs() < 0.1, "the retry never began");

    let script = Script::new([RESET]);
    let error = limited(&script, "not a number").await.unwrap_err();
    assert!(matches!(error, Failure::Token(_)), "{error:?}");
    assert_eq!(script.calls(), 1);

    let script = Script::new([RESET]);
    let error = call(&script, "7").await.unwrap_err();
    assert!(matches!(error, Failure::Io(_)), "{error:?}");
    assert_eq!(
        script.calls(),
        4,
        "a failed `before_retry` is not an attempt"
    );
}

#[tokio::test(start_paused = true)]
async fn before_retry_is_cut_by_the_deadline() {
    plays! {
        stuck(attempts = 3, jitter = "none", deadline = "1s", on = "io::Error",
            before_retry = async || std::future::pending::<()>().await) -> Result<usize, Failure>
    }
    let script = Script::new([RESET, Step::Succeed]);
    let ended = timeout(ms(60_000), stuck(&script)).await;
    let error = ended.expect("it is cut").unwrap_err();
    let Failure::Stopped(stopped) = error else {
        panic!("{error:?}")
    };
    assert_eq!(stopped.outcome(), Outcome::Deadline);
    assert_eq!((stopped.attempts(), stopped.elapsed()), (1, ms(1000)));
    let source = stopped.source().unwrap().source().unwrap();
    assert_eq!(source.to_string(), "call 1");
    assert_eq!((script.calls(), script.elapsed()), (1, ms(1000)));
}

/// A busy runtime wakes a wait long after the deadline.
#[tokio::test(start_paused = true)]
async fn before_retry_does_not_begin_after_the_deadline() {
    plays! { call(deadline = "1s", jitter = "none", before_retry = async || log.note("before")), log: &Log }
    let (script, log) = (Script::new([RESET]), Log::new());
    let mut call = Box::pin(call(&script, &log));
    assert!(futures::poll!(&mut call).is_pending());
    tokio::time::advance(ms(5000)).await;
    let error = call.await.unwrap_err();
    assert_eq!((error.to_string().as_str(), script.calls()), ("call 1", 1));
    assert_eq!(log.lines(), []);
}

#[tokio::test(start_paused = true)]
async fn before_retry_has_no_timeout_and_counts_against_the_deadline() {
    plays! {
        slow(attempts = "unlimited", timeout = "100ms", deadline = "2s", backoff = "constant", base = "100ms",
            jitter = "none", before_retry = sleep(ms(500)))
    }
    let script = Script::new([RESET]);
    let ended = timeout(ms(60_000), slow(&script)).await;
    ended.expect("it ends").unwrap_err();
    assert_eq!(script.times(), [ms(0), ms(600), ms(1200), ms(1800)]);
    // The wait after the fourth attempt ends at 1.9 s. The deadline cuts `before_retry` at 2 s.
    assert_eq!(script.elapsed(), ms(2000));
}

/// The timeout of an attempt around cuts it too.
#[tokio::test(start_paused = true)]
async fn before_retry_knows_the_time_that_is_left_of_the_attempt_around() {
    plays!(inner(
        base = "1s",
        jitter = "none",
        before_retry = async || assert_eq!(deadline::remaining(), Some(ms(4_000)))
    ));
    #[retry(timeout = "5s", attempts = 1)]
    async fn outer(script: &Script) -> io::Result<usize> {
        inner(script).await
    }
    let script = Script::new([RESET, Step::Succeed]);
    assert_eq!(outer(&script).await.unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn before_retry_may_change_what_the_attempts_use() {
    struct Client {
        connected: bool,
        connections: u32,
    }
    impl Client {
        async fn reconnect(&mut self) -> io::Result<()> {
            assert!(
                Attempt::current().is_none(),
                "`before_retry` is not an attempt"
            );
            tokio::task::yield_now().await;
            self.connected = true;
            self.connections += 1;
            Ok(())
        }

        #[retry(attempts = 3, before_retry = self.reconnect())]
        async fn send(&mut self, _message: &str) -> io::Result<()> {
            tokio::task::yield_now().await;
            if self.connected {
                Ok(())
            } else {
                Err(ErrorKind::BrokenPipe.into())
            }
        }
    }
    let mut client = Client {
        connected: false,
        connections: 0,
    };
    client.send("hello").await.unwrap();
    assert_eq!(client.connections, 1);
}

/// An event in one line says what `warn!("retrying: {error}")` says in a loop written by hand.
#[tokio::test(start_paused = true)]
async fn an_event_is_shown_with_its_failure_whatever_that_was() {
    #[retry(attempts = 5, timeout = "1s", jitter = "none", when_ok = |call| *call == 3, on_retry = |event| lines.lock().unwrap().push(event.to_string()))]
    async fn fails(script: &Script, lines: &Mutex<Vec<String>>) -> io::Result<usize> {
        script.play().await
    }
    #[retry(attempts = "unlimited", jitter = "none", until = |call| *call == 2, on_retry = |event| lines.lock().unwrap().push(event.to_string()))]
    async fn polls(script: &Script, lines: &Mutex<Vec<String>>) -> io::Result<usize> {
        script.play().await
    }
    let lines = Mutex::new(Vec::new());
    let script = Script::new([RESET, Step::Hang, Step::Succeed]);
    fails(&script, &lines).await.unwrap();
    polls(&Script::new([Step::Succeed]), &lines).await.unwrap();
    assert_eq!(
        lines.into_inner().unwrap(),
        [
            "attempt 1 of 5 failed: call 1, next attempt in 100ms",
            "attempt 2 of 5 failed: timed out, next attempt in 200ms",
            "attempt 3 of 5 failed: an `Ok` that means failure, next attempt in 400ms",
            "attempt 1 failed: not ready, next attempt in 100ms",
        ]
    );
}

/// It may be logged as it is. The hook still gets the error itself.
#[tokio::test(start_paused = true)]
async fn an_event_of_a_sensitive_function_is_shown_without_the_text_of_the_error() {
    plays!(fails(attempts = 2, jitter = "none", sensitive, on_retry = |event| {
        let error = event.error().map(ToString::to_string);
        lines.lock().unwrap().push((event.to_string(), error));
    }), lines: &Mutex<Vec<(String, Option<String>)>>);
    let lines = Mutex::new(Vec::new());
    fails(&Script::new([RESET]), &lines).await.unwrap_err();
    let line = "attempt 1 of 2 failed: (sensitive), next attempt in 100ms";
    assert_eq!(
        lines.into_inner().unwrap(),
        [(line.to_owned(), Some("call 1".to_owned()))]
    );
}

#[tokio::test(start_paused = true)]
async fn an_event_is_shown_with_the_causes_of_the_error() {
    plays! {
        fails(attempts = 2, jitter = "none",
            on_retry = |event| lines.lock().unwrap().push(event.to_string()))
            -> Result<usize, reattempt::Error<io::Error>>, lines: &Mutex<Vec<String>>
    }
    let lines = Mutex::new(Vec::new());
    fails(&Script::new([RESET]), &lines).await.unwrap_err();
    let line = "attempt 1 of 2 failed: call 1, next attempt in 100ms";
    assert_eq!(lines.into_inner().unwrap(), [line]);
}

/// Its error cannot hold a `Stopped`, so nothing cuts it. But the last error is there to return.
#[tokio::test(start_paused = true)]
async fn after_before_retry_no_attempt_begins_when_the_deadline_around_is_reached() {
    #[retry(attempts = 3, delays = ["10ms"], budget = "none", when = |_| true, before_retry = sleep(ms(200)))]
    async fn call(calls: &Cell<u32>) -> Result<(), u32> {
        calls.set(calls.get() + 1);
        Err(calls.get())
    }
    let (calls, began) = (Cell::new(0), Instant::now());
    let (ended, report) = reattempt::with_report(deadline::scope(ms(100), call(&calls))).await;
    assert_eq!((ended, calls.get(), began.elapsed()), (Err(1), 1, ms(210)));
    assert_eq!(report.unwrap().outcome(), Outcome::Deadline);
    // Only rustc knows that this one has no limits.
    const UNLIMITED: WithoutLimits = Policy::new().with_attempts(3).without_limits();
    plays! { of_policy(policy = UNLIMITED, before_retry = sleep(ms(2000))) }
    let script = Script::new([RESET]);
    let ended = deadline::scope(ms(1000), of_policy(&script)).await;
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(script.calls(), 1);
}
