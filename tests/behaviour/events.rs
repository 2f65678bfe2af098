//! The events of `tracing` that a call emits.

use std::future::pending;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::{Attempt, retry};
use tokio::time::{Instant, sleep};
use tracing::Level;
use tracing::subscriber::DefaultGuard;

use crate::script::{RESET, Script, Step, listen_on_all_threads, ms};

/// The log of this thread, on which a test with a paused clock runs.
pub(crate) struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    _guard: DefaultGuard,
}

impl Log {
    pub(crate) fn listen() -> Self {
        Self::at(Level::DEBUG)
    }

    /// Level trace shows the spans too.
    pub(crate) fn at(level: Level) -> Self {
        listen_on_all_threads();
        let text = Arc::new(Mutex::new(Vec::new()));
        let writer = text.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false)
            .without_time()
            .with_writer(move || Lines(writer.clone()))
            .finish();
        Self {
            text,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.text.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| line.trim().to_owned()).collect()
    }
}

struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The line begins with its level and has all of these parts.
pub(crate) fn assert_line(line: &str, level: &str, parts: &[&str]) {
    assert!(line.starts_with(level), "{level}: {line}");
    for part in parts {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_is_logged_from_the_second_attempt_on() {
    plays!(call(budget = "none"));
    let log = Log::listen();
    call(&Script::new([Step::Succeed])).await.unwrap();
    assert_eq!(log.lines().len(), 0, "the first attempt is not logged");
    call(&Script::new([RESET, Step::Succeed])).await.unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_line(&lines[1], "INFO", &["reattempt"]);
}

#[tokio::test(start_paused = true)]
async fn each_retry_and_a_late_success_are_logged() {
    plays! { call(attempts = 4, base = "1s", jitter = "none", name = "fetch", budget = "none") }
    let log = Log::listen();
    call(&Script::new([RESET, RESET, Step::Succeed]))
        .await
        .unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    let common = ["reattempt", r#"function="fetch""#];
    for (line, attempt, delay) in [(&lines[0], 1, "1000.0"), (&lines[1], 2, "2000.0")] {
        assert_line(line, "DEBUG", &common);
        assert_line(
            line,
            "DEBUG",
            &[
                &format!("attempt={attempt}"),
                "attempts=4",
                &format!("delay_ms={delay}"),
                r#"verdict="transient""#,
                &format!("call {attempt}"),
            ],
        );
    }
    assert_line(&lines[2], "INFO", &common);
    assert_line(
        &lines[2],
        "INFO",
        &[
            "attempt=3",
            r#"outcome="success_after_retry""#,
            "elapsed_ms=3000.0",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gives_up_logs_a_warning_and_a_permanent_error_does_not() {
    plays!(call(attempts = 2, budget = "none"));
    let log = Log::listen();
    call(&Script::new([RESET])).await.unwrap_err();
    let lines = log.lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_line(
        &lines[1],
        "WARN",
        &["attempt=2", r#"outcome="attempts_exhausted""#, "call 2"],
    );

    call(&Script::new([Step::Fail(io::ErrorKind::NotFound)]))
        .await
        .unwrap_err();
    let last = log.lines().pop().unwrap();
    assert_line(&last, "DEBUG", &[r#"outcome="not_retryable""#]);
}

#[tokio::test(start_paused = true)]
async fn fewer_attempts_within_another_call_are_logged_once() {
    plays! { inner(attempts = 4, base = "1ms", name = "inner", budget = "none") }
    #[retry(attempts = 4, base = "1ms", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        inner(script).await
    }
    let log = Log::listen();
    for _ in 0..3 {
        outer(&Script::new([RESET])).await.unwrap_err();
    }
    let lines = log.lines();
    let said: Vec<_> = lines.iter().filter(|line| line.contains("INFO")).collect();
    assert_eq!(said.len(), 1, "{said:#?}");
    assert_line(
        said[0],
        "INFO",
        &[r#"function="inner""#, "allowed=1", "attempts=4"],
    );
}

#[tokio::test(start_paused = true)]
async fn fewer_attempts_that_are_enough_are_not_logged() {
    plays!(inner(attempts = 2, base = "1ms", budget = "none"));
    #[retry(attempts = 2, base = "1ms", budget = "none")]
    async fn outer(script: &Script) -> io::Result<usize> {
        inner(script).await
    }
    let log = Log::listen();
    outer(&Script::new([RESET, RESET, Step::Succeed]))
        .await
        .unwrap();
    let lines = log.lines();
    assert!(
        !lines.iter().any(|line| line.contains("allowed=")),
        "{lines:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_of_before_retry_ends_the_call_with_an_event() {
    async fn reconnect() -> io::Result<()> {
        tokio::task::yield_now().await;
        Err(io::ErrorKind::PermissionDenied.into())
    }
    plays! { call(attempts = 4, on = "io::Error", before_retry = reconnect()) }
    let log = Log::listen();
    let (result, report) = reattempt::with_report(call(&Script::new([RESET]))).await;
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    let report = report.unwrap();
    assert_eq!(report.outcome(), reattempt::Outcome::NotRetryable);
    assert_eq!(report.attempts(), 1);
    let last = log.lines().pop().unwrap();
    assert_line(&last, "DEBUG", &["attempt=1", "`before_retry` failed"]);
}

#[tokio::test(start_paused = true)]
async fn a_sensitive_function_logs_no_text_of_an_error() {
    plays! { call(attempts = 3, sensitive, delays = ["0s"], on = "io::Error", timeout = "1s", budget = "none") }
    let log = Log::listen();
    let script = Script::new([RESET, Step::Hang, Step::Fail(io::ErrorKind::NotFound)]);
    let error = call(&script).await.unwrap_err();
    assert_eq!(error.to_string(), "call 3", "the caller gets it");
    let failed = reattempt::run!(attempts = 1, sensitive, async || Err::<(), _>(
        io::Error::other("call 4")
    ));
    failed.await.unwrap_err();
    let lines = log.lines();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    for line in [&lines[0], &lines[2], &lines[3]] {
        assert!(line.contains(r#"error="(sensitive)""#), "{line}");
    }
    assert!(lines[1].contains("timed out"), "{lines:#?}");
    assert!(
        lines.iter().all(|line| !line.contains("call ")),
        "{lines:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_event_has_the_secrets_of_a_url() {
    const TEXT: &str = "error for url (https://me:pa55@api.example:8443/v1/a?api_key=k3y#f): reset";
    const SHOWN: &str = "error for url (https://api.example:8443/v1/a): reset";
    #[retry(attempts = 2, delays = ["0s"], on(io::Error), on_retry = |event| shown.lock().unwrap().push(format!("{event} {event:?}")))]
    async fn fetch(shown: &Mutex<Vec<String>>) -> io::Result<()> {
        Err(io::Error::other(TEXT))
    }
    let (log, shown) = (Log::listen(), Mutex::default());
    let error = fetch(&shown).await.unwrap_err();
    assert_eq!(error.to_string(), TEXT, "the caller gets all of it");
    let run = reattempt::Policy::new()
        .without_limits()
        .run(async || Err::<(), _>(TEXT));
    run.verdict(|_| reattempt::Verdict::Unknown)
        .when(|_| true)
        .await
        .unwrap_err();
    let lines = log.lines();
    assert_eq!(lines.len(), 5, "{lines:#?}");
    for line in lines.iter().chain(&*shown.lock().unwrap()) {
        assert!(line.contains(SHOWN), "{line}");
        assert!(!line.contains("pa55") && !line.contains("k3y"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_function_writes_no_event() {
    plays!(call(attempts = 2, delays = ["0s"], silent, on = "io::Error", on_end = |report| ended.lock().unwrap().push(report.outcome())),
        ended: &Mutex<Vec<reattempt::Outcome>>);
    let (log, ended) = (Log::listen(), Mutex::default());
    call(&Script::new([RESET]), &ended).await.unwrap_err();
    call(&Script::new([RESET, Step::Succeed]), &ended)
        .await
        .unwrap();
    let silent = reattempt::Policy::new().with_silent(true);
    silent
        .run(async || Err::<(), _>(io::Error::other("full")))
        .await
        .unwrap_err();
    assert_eq!(log.lines(), [""; 0]);
    let outcomes = [
        reattempt::Outcome::AttemptsExhausted,
        reattempt::Outcome::SuccessAfterRetry,
    ];
    assert_eq!(*ended.lock().unwrap(), outcomes);
}

/// The sum of the field `left_out` over the lines with this message.
fn left_out(lines: &[String], message: &str) -> usize {
    let numbers = lines.iter().filter(|line| line.contains(message));
    let numbers = numbers.filter_map(|line| line.split_once("left_out=")?.1.split(' ').next());
    numbers.map(|number| number.parse::<usize>().unwrap()).sum()
}

#[tokio::test(start_paused = true)]
async fn a_storm_logs_ten_lines_of_each_message_and_then_how_many_it_left_out() {
    plays! { call(attempts = 2, delays = ["0s"], on = "io::Error", budget = "none", name = "storm") }
    let log = Log::listen();
    let gone = Step::Fail(io::ErrorKind::NotFound);
    let scripts = [vec![RESET], vec![gone], vec![RESET, Step::Succeed]];
    for (calls, rest) in [(1_000, ms(0)), (1, ms(1_000))] {
        tokio::time::advance(rest).await;
        for _ in 0..calls {
            for script in &scripts {
                let _ = call(&Script::new(script.iter().copied())).await;
            }
            tokio::time::advance(Duration::from_micros(999)).await;
        }
    }
    let lines = log.lines();
    let messages = [
        ("attempt failed, retrying", 2_002),
        ("attempt failed, not retryable", 1_001),
        ("gave up", 1_001),
        ("succeeded after retry", 1_001),
    ];
    for (message, said) in messages {
        let logged = lines.iter().filter(|line| line.contains(message)).count();
        assert!((11..=12).contains(&logged), "{message}: {logged} lines");
        assert_eq!(logged + left_out(&lines, message), said, "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_function_has_its_own_lines() {
    plays! { loud(attempts = 2, delays = ["0s"], budget = "none", name = "loud") }
    plays! { rare(attempts = 2, delays = ["0s"], budget = "none", name = "rare") }
    let log = Log::listen();
    for _ in 0..100 {
        loud(&Script::new([RESET])).await.unwrap_err();
    }
    rare(&Script::new([RESET])).await.unwrap_err();
    let lines = log.lines();
    assert_eq!(lines.len(), 20 + 2, "{lines:#?}");
    assert_line(&lines[20], "DEBUG", &[r#"function="rare""#]);
    assert_line(&lines[21], "WARN", &[r#"function="rare""#]);
    assert!(lines.iter().all(|line| !line.contains("left_out")));
}

#[tokio::test(start_paused = true)]
async fn an_empty_budget_logs_its_name_and_what_to_do() {
    static SMALL: reattempt::Budget = reattempt::Budget::new().with_capacity(1);
    plays! { inner(attempts = 4, on = "io::Error", budget = SMALL, name = "x::download") }
    #[retry(attempts = 4, on = "io::Error", name = "outer")]
    async fn outer(script: &Script) -> io::Result<usize> {
        inner(script).await
    }
    let log = Log::listen();
    let (result, report) = reattempt::with_report(outer(&Script::new([RESET]))).await;
    result.unwrap_err();
    assert_eq!(report.unwrap().outcome(), reattempt::Outcome::Budget);
    let lines = log.lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    let reason = "the retry budget of `x::download` is empty (no retries when full); see `budget`";
    assert_line(&lines[0], "WARN", &[r#"outcome="budget""#, reason]);
    assert_line(
        &lines[1],
        "WARN",
        &[r#"function="outer""#, r#"outcome="budget""#],
    );
    assert!(!lines[1].contains("reason="), "{lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn the_default_budget_says_how_many_retries_it_allows() {
    plays! { call(attempts = 300, base = "0ms", jitter = "none", name = "x::download") }
    let log = Log::listen();
    let (_, report) = reattempt::with_report(call(&Script::new([RESET]))).await;
    let report = report.unwrap();
    assert_eq!(report.outcome(), reattempt::Outcome::Budget);
    assert_eq!(report.attempts(), 1 + 100);
    let last = log.lines().pop().unwrap();
    let reason = "the retry budget of `x::download` is empty \
                  (100 retries after failures, 33 after timeouts when full); see `budget`";
    assert_line(&last, "WARN", &[r#"outcome="budget""#, reason]);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_and_a_failure_beside_it_are_logged() {
    #[retry(attempts = 3, hedge = "20ms", base = "0s")]
    async fn call() -> io::Result<u32> {
        let number = Attempt::current().unwrap().number();
        sleep(ms(if number == 1 { 100 } else { 10 })).await;
        if number == 2 {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(number)
        }
    }
    #[retry(attempts = 3, hedge = "20ms", base = "0s")]
    async fn first_fails() -> io::Result<u32> {
        let number = Attempt::current().unwrap().number();
        sleep(ms(30)).await;
        if number == 1 {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(number)
        }
    }
    let log = Log::listen();
    call().await.unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert_line(
        &lines[0],
        "DEBUG",
        &["attempt is slow, hedged", "elapsed_ms=20.0"],
    );
    let parts = [
        "attempt failed, the other still runs",
        "attempt=2",
        "verdict=\"transient\"",
    ];
    assert_line(&lines[1], "DEBUG", &parts);
    assert_line(&lines[2], "INFO", &["succeeded after retry", "attempt=1"]);

    first_fails().await.unwrap();
    let beside = ["attempt failed, the other still runs", "attempt=1"];
    assert_line(&log.lines()[4], "DEBUG", &beside);
}

/// Otherwise a worker that never gives up fails for hours without a line at the usual levels.
#[tokio::test(start_paused = true)]
async fn calls_that_fail_for_a_minute_say_so_once_a_minute_whatever_their_number() {
    plays! { relay(attempts = "unlimited", base = "7s", backoff = "constant", jitter = "none", name = "relay") }
    plays! { slow(attempts = 2, base = "90s", max_delay = "90s", jitter = "none", name = "slow") }
    #[retry(attempts = "unlimited", base = "7s", backoff = "constant", jitter = "none", name = "lease", until = |()| false)]
    async fn lease(began: Instant) -> io::Result<()> {
        let fails = began.elapsed() > Duration::from_secs(120);
        if fails {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }
    let log = Log::listen();
    let calls = futures::future::join_all((0..20).map(|_| async {
        let script = Script::new([RESET]);
        let call = tokio::time::timeout(Duration::from_secs(200), relay(&script));
        assert!(call.await.is_err());
    }));
    calls.await;
    let lines = log.lines();
    let warned: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("WARN"))
        .collect();
    assert_eq!(warned.len(), 3, "{warned:#?}");
    for (line, elapsed) in warned.iter().zip(["63000.0", "126000.0", "189000.0"]) {
        let elapsed = format!("elapsed_ms={elapsed}");
        let parts = [
            "still failing",
            r#"function="relay""#,
            &elapsed,
            "attempt=",
            "error=",
        ];
        assert_line(line, "WARN", &parts);
    }
    // A standby waits for its lease for two minutes, and only then it fails.
    let call = tokio::time::timeout(Duration::from_secs(185), lease(Instant::now()));
    assert!(call.await.is_err());
    let lines = log.lines();
    let lines: Vec<_> = lines.iter().filter(|line| line.contains("lease")).collect();
    assert_line(
        lines[0],
        "DEBUG",
        &[
            "not ready, waiting",
            "verdict=\"not_ready\"",
            "delay_ms=7000.0",
        ],
    );
    let warned: Vec<_> = lines
        .iter()
        .filter(|line| line.starts_with("WARN"))
        .collect();
    assert_eq!(warned.len(), 1, "{warned:#?}");
    assert_line(
        warned[0],
        "WARN",
        &[
            "still failing",
            "elapsed_ms=182000.0",
            "verdict=\"transient\"",
        ],
    );
    // One failure is no failing, however long the call took.
    let hangs = Script::new([Step::FailAfter(Duration::from_secs(100)), Step::Succeed]);
    slow(&hangs).await.unwrap();
    assert!(
        !log.lines()
            .iter()
            .any(|line| line.contains(r#"still failing function="slow""#))
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_begins_after_an_inherited_deadline_speaks_of_no_wait() {
    plays!(call(timeout = "1s"));
    let log = Log::listen();
    let script = Script::new([RESET]);
    let over = reattempt::deadline::scope(Duration::ZERO, call(&script));
    over.await.unwrap_err();
    let parts = [
        "gave up",
        "attempt=0",
        "error=\"inherited deadline reached\"",
    ];
    assert_line(log.lines().last().unwrap(), "WARN", &parts);
}

/// The caller asked for it. At a deploy, each call in flight would write a warning.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_writes_no_warning() {
    plays! { call(attempts = 4, base = "1s", jitter = "none", cancel = sleep(ms(500))) }
    let log = Log::listen();
    call(&Script::new([RESET])).await.unwrap_err();
    let lines = log.lines();
    assert!(
        lines.iter().all(|line| line.starts_with("DEBUG")),
        "{lines:#?}"
    );
    assert_line(
        lines.last().unwrap(),
        "DEBUG",
        &["the call was cancelled", r#"outcome="cancelled""#],
    );
}

/// Of two that run, the first is cut.
#[tokio::test(start_paused = true)]
async fn the_event_of_a_cancelled_call_names_the_attempt_that_ran() {
    #[retry(attempts = 3, hedge = "20ms", cancel = sleep(ms(60)))]
    async fn hedged(steps: u32, fails: u32) -> io::Result<()> {
        let number = Attempt::current().unwrap().number();
        let left = if number == 1 { 40 } else { 20 };
        for _ in 0..steps {
            sleep(ms(left) / steps).await;
        }
        if number == fails {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        pending().await
    }
    for (fails, runs) in [(1, 2), (2, 1), (0, 1)] {
        for steps in [1, 2, 3] {
            let log = Log::listen();
            hedged(steps, fails).await.unwrap_err();
            let lines = log.lines();
            let line = lines.iter().find(|line| line.contains("was cancelled"));
            let runs = format!(" attempt={runs} ");
            assert!(
                line.unwrap().contains(&runs),
                "{fails}, {steps}: {lines:#?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn at_level_debug_the_lines_of_a_body_stay_as_they_are() {
    #[retry(attempts = 2)]
    async fn fetch() -> io::Result<()> {
        tracing::info!("in the body");
        Ok(())
    }
    let log = Log::listen();
    fetch().await.unwrap();
    assert_eq!(log.lines(), ["INFO behaviour::events: in the body"]);
}

/// Its panic would abort the process, while that of the body unwinds.
#[test]
fn a_subscriber_may_panic_while_a_panic_of_the_body_unwinds() {
    struct Panics;
    impl tracing::Subscriber for Panics {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {
            assert!(!std::thread::panicking(), "the subscriber's own");
        }
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, _: &tracing::Event<'_>) {}
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }
    #[retry(attempts = 2, blocking, on_end = |_| ended.set(true))]
    fn call(ended: &std::cell::Cell<bool>) -> io::Result<()> {
        panic!("the body's own")
    }
    listen_on_all_threads();
    let ended = std::cell::Cell::new(false);
    let called = std::panic::AssertUnwindSafe(|| call(&ended));
    let panic = tracing::subscriber::with_default(Panics, || std::panic::catch_unwind(called));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the body's own"));
    assert!(ended.get());
}
