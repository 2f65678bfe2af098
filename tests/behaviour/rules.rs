//! Which errors a call retries: the rules, in their order.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::time::Duration;

use reattempt::{
    Error, Outcome, Report, RetryEvent, Retryable, Stopped, Verdict, retry, with_report,
};

use crate::script::{Script, Step, calls};

#[tokio::test(start_paused = true)]
async fn without_a_rule_the_verdict_decides() {
    plays!(bare);
    assert_eq!(calls(bare, ErrorKind::ConnectionRefused).await, 3);
    assert_eq!(calls(bare, ErrorKind::NotFound).await, 1);
    assert_eq!(calls(bare, ErrorKind::PermissionDenied).await, 1);
    assert_eq!(
        calls(bare, ErrorKind::Other).await,
        1,
        "an unclassified error is not retried"
    );
}

#[tokio::test(start_paused = true)]
async fn on_retries_its_type_unless_the_error_calls_itself_permanent() {
    plays!(on(on = "io::Error"));
    assert_eq!(calls(on, ErrorKind::ConnectionReset).await, 3);
    assert_eq!(
        calls(on, ErrorKind::Other).await,
        3,
        "unknown is not permanent"
    );
    assert_eq!(calls(on, ErrorKind::InvalidData).await, 1);
}

#[tokio::test(start_paused = true)]
async fn when_must_agree_with_on() {
    plays! { both(on = "io::Error", when = |error| error.kind() == ErrorKind::TimedOut) }
    assert_eq!(calls(both, ErrorKind::TimedOut).await, 3);
    assert_eq!(calls(both, ErrorKind::ConnectionReset).await, 1);
}

#[tokio::test(start_paused = true)]
async fn rules_and_hooks_can_be_arguments() {
    #[retry(attempts = 4, when = selects, unless = forbids, when_ok = failed, on_retry = told)]
    async fn asked<T, E, F: Future<Output = Result<T, E>>>(
        selects: impl Fn(&E) -> bool,
        forbids: impl Fn(&E) -> bool,
        failed: impl Fn(&T) -> bool,
        told: impl Fn(&RetryEvent<'_, E>),
        mut operation: impl FnMut() -> F,
    ) -> Result<T, E>
    where
        E: From<Stopped>,
    {
        operation().await
    }

    // An `Ok` is asked about once, and so is that of the last attempt, which decides the outcome.
    for (last, outcome) in [
        (3, Outcome::SuccessAfterRetry),
        (9, Outcome::AttemptsExhausted),
    ] {
        let script = Script::new([Step::Fail(ErrorKind::NotFound), Step::Succeed]);
        let (retries, asked_about) = (Cell::new(0), RefCell::new(Vec::new()));
        let selects = |error: &io::Error| error.kind() == ErrorKind::NotFound;
        let told = |_: &RetryEvent<'_, io::Error>| retries.set(retries.get() + 1);
        let failed = |call: &usize| {
            asked_about.borrow_mut().push(*call);
            *call < last
        };
        let call = asked(selects, |_| false, failed, told, || script.play());
        let (ended, report) = with_report(call).await;
        let ended = ended.unwrap();
        assert_eq!(report.unwrap().outcome(), outcome);
        assert_eq!(
            (retries.get(), asked_about.into_inner()),
            (ended - 1, (2..=ended).collect())
        );
        assert_eq!(ended, last.min(4));
    }
}

#[tokio::test(start_paused = true)]
async fn when_alone_decides_without_the_verdict() {
    plays!(alone(when = |error| error.kind() == ErrorKind::NotFound));
    assert_eq!(calls(alone, ErrorKind::NotFound).await, 3);
    assert_eq!(calls(alone, ErrorKind::ConnectionReset).await, 1);
}

#[tokio::test(start_paused = true)]
async fn unless_overrules_everything() {
    plays! { unless(on = "io::Error", unless = |error| error.kind() == ErrorKind::TimedOut) }
    plays!(unless_of_types(when = |_| true, unless = "io::Error"));
    assert_eq!(calls(unless, ErrorKind::ConnectionReset).await, 3);
    assert_eq!(calls(unless, ErrorKind::TimedOut).await, 1);
    assert_eq!(calls(unless_of_types, ErrorKind::ConnectionReset).await, 1);
}

#[tokio::test(start_paused = true)]
async fn unless_alone_leaves_the_verdict_to_decide() {
    plays!(unless(unless = |error| error.kind() == ErrorKind::TimedOut));
    assert_eq!(calls(unless, ErrorKind::ConnectionReset).await, 3);
    assert_eq!(calls(unless, ErrorKind::TimedOut).await, 1);
    assert_eq!(calls(unless, ErrorKind::NotFound).await, 1);
}

#[derive(Debug, PartialEq)]
enum Failure {
    Http(u16),
    Closed,
}

#[tokio::test(start_paused = true)]
async fn when_may_ask_for_a_pattern() {
    #[retry(when = |error| matches!(error, Failure::Http(500..=599) | Failure::Closed))]
    async fn play(calls: &mut u32, failure: fn() -> Failure) -> Result<(), Failure> {
        *calls += 1;
        Err(failure())
    }
    let mut calls = [0; 3];
    assert_eq!(
        play(&mut calls[0], || Failure::Http(503)).await,
        Err(Failure::Http(503))
    );
    assert_eq!(
        play(&mut calls[1], || Failure::Closed).await,
        Err(Failure::Closed)
    );
    assert_eq!(
        play(&mut calls[2], || Failure::Http(404)).await,
        Err(Failure::Http(404))
    );
    assert_eq!(calls, [3, 3, 1]);
}

#[tokio::test(start_paused = true)]
async fn an_ok_that_means_failure_is_retried_and_returned() {
    #[retry(when_ok = |status| *status >= 500)]
    async fn status(calls: &mut u16) -> io::Result<u16> {
        *calls += 1;
        Ok(if *calls < 3 { 503 } else { 200 })
    }
    #[retry(when_ok = |status| *status >= 500)]
    async fn always_503(calls: &mut u16) -> io::Result<u16> {
        *calls += 1;
        Ok(503)
    }
    let mut calls = [0; 2];
    assert_eq!(status(&mut calls[0]).await.unwrap(), 200);
    assert_eq!(always_503(&mut calls[1]).await.unwrap(), 503);
    assert_eq!(calls, [3, 3]);
}

#[tokio::test(start_paused = true)]
async fn on_looks_inside_an_anyhow_error() {
    use anyhow::Context as _;
    #[retry(on = "io::Error")]
    async fn wrapped(script: &Script) -> anyhow::Result<usize> {
        script.play().await.context("reading").context("fetching")
    }
    let script = Script::new([Step::Fail(ErrorKind::ConnectionReset)]);
    wrapped(&script).await.unwrap_err();
    assert_eq!(script.calls(), 3);
    let script = Script::new([Step::Fail(ErrorKind::NotFound)]);
    wrapped(&script).await.unwrap_err();
    assert_eq!(script.calls(), 1);
}

/// An error without a verdict.
#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct Busy;

#[derive(Debug, thiserror::Error)]
enum Read {
    #[error("no connection")]
    Io(#[from] io::Error),
    #[error("not now")]
    Later(#[from] Busy),
    #[error("nothing there")]
    Empty,
}

#[tokio::test(start_paused = true)]
async fn on_retries_each_of_its_types_and_no_other() {
    #[retry(on = "io::Error | Busy")]
    async fn either(calls: &mut u32, failure: fn() -> Read) -> Result<(), Read> {
        *calls += 1;
        Err(failure())
    }
    #[retry(unless = "io::Error | Busy", when = |_| true)]
    async fn neither(calls: &mut u32, failure: fn() -> Read) -> Result<(), Read> {
        *calls += 1;
        Err(failure())
    }
    let failures = [
        || Read::Io(ErrorKind::ConnectionReset.into()),
        || Read::Later(Busy),
        || Read::Empty,
    ];
    let (mut on, mut unless) = ([0; 3], [0; 3]);
    for (at, failure) in failures.into_iter().enumerate() {
        either(&mut on[at], failure).await.unwrap_err();
        neither(&mut unless[at], failure).await.unwrap_err();
    }
    assert_eq!((on, unless), ([3, 3, 1], [1, 1, 3]));
}

#[tokio::test(start_paused = true)]
async fn an_error_that_does_not_implement_std_error_may_have_a_permanent_verdict() {
    struct Plain(Verdict);
    impl Retryable for Plain {
        fn verdict(&self) -> Verdict {
            self.0
        }
    }
    #[retry(on = "Plain")]
    async fn call(calls: &mut u32, verdict: Verdict) -> Result<(), Plain> {
        *calls += 1;
        Err(Plain(verdict))
    }
    let mut calls = [0; 2];
    assert!(call(&mut calls[0], Verdict::Permanent).await.is_err());
    assert!(call(&mut calls[1], Verdict::Unknown).await.is_err());
    assert_eq!(calls, [1, 3]);
}

/// The last attempt of the inner call timed out. Another call may succeed.
#[tokio::test(start_paused = true)]
async fn a_timeout_further_in_is_retried_whatever_error_reports_it() {
    #[derive(Debug, thiserror::Error, Retryable)]
    enum Own {
        #[error("i/o")]
        #[retryable(forward)]
        Io(#[from] io::Error),
        #[error("stopped")]
        #[retryable(forward)]
        Stopped(#[from] Stopped),
    }
    #[retry(attempts = 1, timeout = "1s")]
    async fn inner<E: From<Stopped> + From<io::Error>>(script: &Script) -> Result<usize, E> {
        Ok(script.play().await?)
    }
    plays! { inner_wrapped(attempts = 1, timeout = "1s") -> Result<usize, Error<io::Error>> }
    #[retry]
    async fn io_error(script: &Script) -> io::Result<usize> {
        inner(script).await
    }
    #[retry]
    async fn own(script: &Script) -> Result<usize, Own> {
        inner(script).await
    }
    #[retry]
    async fn wrapped(script: &Script) -> Result<usize, Error<io::Error>> {
        inner_wrapped(script).await
    }
    let script = Script::new([Step::Hang, Step::Hang, Step::Succeed]);
    assert_eq!(io_error(&script).await.unwrap(), 3);
    let script = Script::new([Step::Hang, Step::Hang, Step::Succeed]);
    assert_eq!(own(&script).await.unwrap(), 3);
    let script = Script::new([Step::Hang, Step::Hang, Step::Succeed]);
    assert_eq!(wrapped(&script).await.unwrap(), 3);
}

/// An error of another crate: it has no verdict, and cannot hold a `Stopped`.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
struct Foreign(&'static str);

fn of_foreign(error: &Foreign) -> (Verdict, Option<Duration>) {
    match error.0 {
        "busy" => (Verdict::Throttled, Some(Duration::from_secs(7))),
        "no responders" => (Verdict::Refused, None),
        "fenced" => (Verdict::Permanent, None),
        _ => (Verdict::Unknown, None),
    }
}

#[tokio::test(start_paused = true)]
async fn verdict_replaces_that_of_the_type() {
    #[retry(verdict = of_foreign, jitter = "none")]
    async fn send(failure: &'static str) -> Result<(), Foreign> {
        Err(Foreign(failure))
    }
    #[retry(verdict = |error: &Foreign| of_foreign(error).0, idempotent = false, unless = |error| error.0 == "never")]
    async fn once(failure: &'static str) -> Result<(), Foreign> {
        Err(Foreign(failure))
    }
    #[retry(verdict = of_foreign, when = |error| error.0 != "busy")]
    async fn selected(failure: &'static str) -> Result<(), Foreign> {
        Err(Foreign(failure))
    }
    // The error inside is asked about, and a `Stopped` is not.
    #[retry(verdict = |error: &Foreign| of_foreign(error), timeout = "1s", jitter = "none")]
    async fn limited(failure: &'static str) -> Result<(), Error<Foreign>> {
        Err(Foreign(failure))?
    }
    // Its own verdict would be permanent.
    #[retry(verdict = |_| Verdict::Transient)]
    async fn missing() -> io::Result<()> {
        Err(ErrorKind::NotFound.into())
    }
    for (failure, verdict, in_send, in_once, in_selected) in [
        ("busy", Verdict::Throttled, 3, 1, 1),
        ("no responders", Verdict::Refused, 3, 3, 3),
        ("fenced", Verdict::Permanent, 1, 1, 3),
        ("?", Verdict::Unknown, 1, 1, 3),
    ] {
        let reports = [
            with_report(send(failure)).await.1.unwrap(),
            with_report(limited(failure)).await.1.unwrap(),
            with_report(once(failure)).await.1.unwrap(),
            with_report(selected(failure)).await.1.unwrap(),
        ];
        let attempts = reports.each_ref().map(Report::attempts);
        assert_eq!(
            attempts,
            [in_send, in_send, in_once, in_selected],
            "{failure}"
        );
        for report in &reports {
            assert_eq!(report.verdict(), Some(verdict), "{failure}");
        }
        let hinted = Duration::from_secs(14);
        assert_eq!(reports[0].waited() == hinted, failure == "busy");
    }
    assert_eq!(with_report(missing()).await.1.unwrap().attempts(), 3);
}

/// A call that was stopped for good has the last word, and so has a commit that may have taken effect.
#[tokio::test(start_paused = true)]
async fn verdict_does_not_overrule_the_last_word() {
    #[derive(Debug, thiserror::Error)]
    #[error("the order failed")]
    struct Order(#[source] Stopped);

    #[retry(cancel = std::future::ready(()))]
    async fn cancelled() -> Result<(), Stopped> {
        Ok(())
    }
    #[retry(verdict = |_| Verdict::Transient)]
    async fn order(attempts: &Cell<u32>) -> Result<(), Order> {
        attempts.set(attempts.get() + 1);
        cancelled().await.map_err(Order)
    }
    let attempts = Cell::new(0);
    let (result, report) = with_report(order(&attempts)).await;
    let last_word = result.unwrap_err().0.verdict();
    assert!(!last_word.is_retryable());
    let report = report.unwrap();
    assert_eq!((attempts.get(), report.verdict()), (1, Some(last_word)));
}
