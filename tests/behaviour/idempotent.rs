//! `idempotent = false`: the call retries only attempts whose requests certainly never ran. `idempotent = true`: it also retries
//! what is unknown.

use std::io::{self, ErrorKind};

use futures::future::BoxFuture;
use reattempt::{Outcome, Policy, Retryable, deadline, propagate, retry, with_report};
use tokio::time::timeout;

use crate::script::{RESET, Script, Step, calls, ms, run, stopped};

plays!(bare(idempotent = false, timeout = "1s"));

#[tokio::test(start_paused = true)]
async fn only_refused_requests_are_retried() {
    assert_eq!(calls(bare, ErrorKind::ConnectionRefused).await, 3);
    for kind in [
        ErrorKind::ConnectionReset,
        ErrorKind::BrokenPipe,
        ErrorKind::UnexpectedEof,
        ErrorKind::TimedOut,
        ErrorKind::WouldBlock,
        ErrorKind::Other,
        ErrorKind::NotFound,
    ] {
        assert_eq!(calls(bare, kind).await, 1, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_may_forbid_the_retry_of_a_request_that_never_ran() {
    plays!(unless(idempotent = false, unless = |_| true));
    plays!(on(idempotent = false, on = "std::num::ParseIntError"));
    assert_eq!(calls(unless, ErrorKind::ConnectionRefused).await, 1);
    assert_eq!(calls(on, ErrorKind::ConnectionRefused).await, 1);
}

/// The verdict of the error that `on` found counts, not the verdict of the error around it.
#[tokio::test(start_paused = true)]
async fn an_error_inside_says_that_the_request_never_ran() {
    #[derive(Debug, thiserror::Error)]
    #[error("no answer")]
    struct NoAnswer(#[from] io::Error);
    plays! { call(idempotent = false, on = "io::Error") -> Result<usize, NoAnswer> }
    for (kind, calls) in [
        (ErrorKind::ConnectionRefused, 3),
        (ErrorKind::ConnectionReset, 1),
    ] {
        let script = Script::new([Step::Fail(kind)]);
        call(&script).await.unwrap_err();
        assert_eq!(script.calls(), calls, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_never_retried() {
    let script = Script::new([Step::Hang, Step::Succeed]);
    let error = bare(&script).await.unwrap_err();
    let stopped = stopped(&error);
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 1)
    );
    assert_eq!(script.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn rules_allow_retries_only_of_refused_requests() {
    plays!(on(idempotent = false, on = "io::Error"));
    plays!(when(idempotent = false, when = |_| true));
    for (kind, expected) in [
        (ErrorKind::ConnectionRefused, 3),
        (ErrorKind::ConnectionReset, 1),
        (ErrorKind::Other, 1),
    ] {
        assert_eq!(calls(on, kind).await, expected, "on, {kind:?}");
        assert_eq!(calls(when, kind).await, expected, "when, {kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_ok_that_means_failure_has_run_and_is_not_retried() {
    #[retry(idempotent = false, when_ok = |status| *status >= 500)]
    async fn status(calls: &mut u16) -> io::Result<u16> {
        *calls += 1;
        Ok(503)
    }
    let mut calls = 0;
    assert_eq!(status(&mut calls).await.unwrap(), 503);
    assert_eq!(calls, 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_type_of_the_user_can_have_the_verdict_refused() {
    #[derive(Debug, Retryable)]
    enum Failure {
        #[retryable(refused)]
        Draining,
        #[retryable(throttled)]
        Busy,
        #[retryable(transient)]
        Lost,
    }
    #[retry(idempotent = false)]
    async fn send(calls: &mut u32, failure: fn() -> Failure) -> Result<(), Failure> {
        *calls += 1;
        Err(failure())
    }
    #[retry(idempotent = false, when = |error| matches!(error, Failure::Draining | Failure::Lost))]
    async fn named(calls: &mut u32, failure: fn() -> Failure) -> Result<(), Failure> {
        *calls += 1;
        Err(failure())
    }
    let mut calls = [0; 3];
    send(&mut calls[0], || Failure::Draining).await.unwrap_err();
    send(&mut calls[1], || Failure::Busy).await.unwrap_err();
    send(&mut calls[2], || Failure::Lost).await.unwrap_err();
    assert_eq!(calls, [3, 1, 1]);
    let mut calls = [0; 2];
    let _: Result<(), Failure> = named(&mut calls[0], || Failure::Draining).await;
    let _: Result<(), Failure> = named(&mut calls[1], || Failure::Lost).await;
    assert_eq!(calls, [3, 1]);
}

fn says() -> bool {
    true
}

#[tokio::test(start_paused = true)]
async fn what_is_unknown_is_retried_if_running_twice_does_no_harm() {
    plays!(unsaid(attempts = 3));
    plays!(harmless(idempotent = true));
    plays!(said(idempotent = says()));
    plays!(on(idempotent = true, on = "std::num::ParseIntError"));
    plays!(when(idempotent = true, when = |_| false));
    plays!(unless(idempotent = true, unless = |_| true));
    // An unknown error, and a permanent one.
    for (kind, expected) in [(ErrorKind::Other, 3), (ErrorKind::NotFound, 1)] {
        assert_eq!(calls(unsaid, kind).await, 1, "{kind:?}");
        assert_eq!(calls(harmless, kind).await, expected, "{kind:?}");
        assert_eq!(calls(said, kind).await, expected, "{kind:?}");
        assert_eq!(calls(on, kind).await, 1, "{kind:?}");
        assert_eq!(calls(when, kind).await, 1, "{kind:?}");
        assert_eq!(calls(unless, kind).await, 1, "{kind:?}");
    }
    let of_a_run = async |script: &Script| {
        let run = Policy::new().run(|| script.play());
        run.with_idempotent(true).await
    };
    assert_eq!(calls(of_a_run, ErrorKind::Other).await, 3);
}

/// The body of an outer call that makes an inner one, which must not run twice.
type Body = fn(&'static Script) -> BoxFuture<'static, io::Result<usize>>;

const REFUSED: Step = Step::Fail(ErrorKind::ConnectionRefused);
const NOT_FOUND: Step = Step::Fail(ErrorKind::NotFound);

fn reset<T>() -> io::Result<T> {
    Err(ErrorKind::ConnectionReset.into())
}

#[tokio::test(start_paused = true)]
async fn an_outer_call_does_not_repeat_one_that_must_not_run_twice_and_may_have_run() {
    use Outcome::{AttemptsExhausted, InDoubt, NotRetryable, Success, Timeout};
    plays!(pay(delays = ["0s"], idempotent = false));
    plays!(waits(delays = ["9s"], idempotent = false, timeout = "9s"));
    #[retry(delays = ["0s"], idempotent = false, blocking)]
    fn blocks(script: &Script) -> io::Result<usize> {
        run(script.play())
    }
    let returns: Body = |script| Box::pin(pay(script));
    let hides: Body = |script| Box::pin(async { pay(script).await.or_else(|_| reset()) });
    let catches: Body = |script| Box::pin(async { pay(script).await.or(Ok(0)) });
    let fails_later: Body = |script| Box::pin(async { pay(script).await.and_then(|_| reset()) });
    let leaves: Body = |script| Box::pin(async { timeout(ms(9), pay(script)).await? });
    let spawns: Body = |script| Box::pin(async { tokio::spawn(propagate(pay(script))).await? });
    let blocks: Body = |script| Box::pin(async { blocks(script) });
    let is_late: Body = |script| Box::pin(deadline::scope(ms(0), waits(script)));
    let waits: Body = |script| Box::pin(waits(script));
    for (what, step, body, calls, outcome) in [
        ("returns", RESET, returns, 1, InDoubt),
        ("hides", RESET, hides, 1, InDoubt),
        ("catches", RESET, catches, 1, Success),
        ("blocks", RESET, blocks, 1, InDoubt),
        ("spawns", RESET, spawns, 1, InDoubt),
        ("is cut", Step::Hang, returns, 1, InDoubt),
        ("is cut in a task", Step::Hang, spawns, 1, InDoubt),
        ("leaves", Step::Hang, leaves, 1, InDoubt),
        // Its retry is subtracted.
        ("refused", REFUSED, hides, 4, AttemptsExhausted),
        ("refused, blocks", REFUSED, blocks, 4, AttemptsExhausted),
        ("refused, in a wait", REFUSED, waits, 3, Timeout),
        ("permanent", NOT_FOUND, returns, 1, NotRetryable),
        (
            "hides a permanent one",
            NOT_FOUND,
            hides,
            3,
            AttemptsExhausted,
        ),
        ("later", Step::Succeed, fails_later, 3, AttemptsExhausted),
        ("late", Step::Hang, is_late, 0, AttemptsExhausted),
    ] {
        let script: &_ = Box::leak(Box::new(Script::new([step])));
        let outer = Policy::new().with_timeout(ms(1_000)).run(|| body(script));
        let outer = outer.when(|error| error.kind() != ErrorKind::NotFound);
        let (ended, report) = with_report(outer.unboxed()).await;
        if what == "is cut" {
            let text = ended.as_ref().unwrap_err().to_string();
            let expected =
                "timed out after 1s, during a call that must not run twice (1 attempt, 1s)";
            assert_eq!(text, expected);
        }
        let seen = (script.calls(), report.unwrap().outcome());
        assert_eq!(seen, (calls, outcome), "{what}: {ended:?}");
    }
}
