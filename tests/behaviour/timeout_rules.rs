//! The rules for an attempt that timed out: `unless` and `idempotent`.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::num::ParseIntError;

use reattempt::{Outcome, Stopped, retry};

use crate::script::{RESET, Script, Step, ending, ms, times_of};
use crate::stopped_calls::Failure;

fn timed_out(attempts: u32, source: Option<&str>) -> (Outcome, u32, Option<String>) {
    (Outcome::Timeout, attempts, source.map(str::to_owned))
}

fn is_timeout(failure: &Failure) -> bool {
    matches!(failure, Failure::Stopped(stopped) if stopped.outcome() == Outcome::Timeout)
}

/// `unless` receives a timeout as the error that the caller would get.
#[tokio::test(start_paused = true)]
async fn unless_may_end_a_call_at_its_first_timeout() {
    plays! { by_kind(timeout = "1s", budget = "none", unless = |error| error.kind() == ErrorKind::TimedOut) }
    let script = Script::new([Step::Hang]);
    let error = by_kind(&script).await.unwrap_err();
    assert_eq!(ending(&error), timed_out(1, None));
    assert_eq!((script.calls(), script.elapsed()), (1, ms(1000)));

    // The second attempt times out, after an attempt that failed with an error.
    let script = Script::new([RESET, Step::Hang]);
    let error = by_kind(&script).await.unwrap_err();
    assert_eq!(ending(&error), timed_out(2, Some("call 1")));
    assert_eq!(script.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn unless_sees_the_error_type_of_the_function() {
    plays! { own(timeout = "1s", budget = "none", on = "io::Error", unless = is_timeout) -> Result<usize, Failure> }
    #[retry(timeout = "1s", budget = "none", on = "io::Error", unless = anyhow::Error::is::<Stopped>)]
    async fn anyhow(script: &Script) -> anyhow::Result<usize> {
        Ok(script.play().await?)
    }
    plays! {
        foreign(timeout = "1s", budget = "none", on = "io::Error",
            unless = |error| matches!(error, reattempt::Error::Stopped(_)))
            -> Result<usize, reattempt::Error<io::Error>>
    }
    #[retry(timeout = "1s", budget = "none", when = |_| true, unless = |text| text.contains("timed out"))]
    async fn text(script: &Script) -> Result<usize, String> {
        script.play().await.map_err(|error| error.to_string())
    }
    let script = || Script::new([Step::Hang]);
    let scripts = [script(), script(), script(), script()];
    let error = own(&scripts[0]).await.unwrap_err();
    assert!(is_timeout(&error), "{error:?}");
    let error = anyhow(&scripts[1]).await.unwrap_err();
    assert!(error.is::<Stopped>(), "{error:?}");
    let error = foreign(&scripts[2]).await.unwrap_err();
    assert!(matches!(error, reattempt::Error::Stopped(_)), "{error:?}");
    let error = text(&scripts[3]).await.unwrap_err();
    assert_eq!(error, "timed out after 1s (1 attempt, 1s)");
    assert_eq!(scripts.map(|script| script.calls()), [1; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_retried_if_unless_does_not_match_it() {
    plays! {
        call(timeout = "1s", budget = "none",
            unless = |error| { asked.set(asked.get() + 1); error.kind() == ErrorKind::NotFound }), asked: &Cell<u32>
    }
    let (script, asked) = (
        Script::new([Step::Hang, Step::Hang, Step::Succeed]),
        Cell::new(0),
    );
    assert_eq!(call(&script, &asked).await.unwrap(), 3);
    assert_eq!(asked.get(), 2);
}

/// No attempt could follow.
#[tokio::test(start_paused = true)]
async fn unless_is_not_asked_about_the_deadline() {
    plays! { call(deadline = "1s", unless = |_| { asked.set(asked.get() + 1); false }), asked: &Cell<u32> }
    let (script, asked) = (Script::new([Step::Hang]), Cell::new(0));
    call(&script, &asked).await.unwrap_err();
    assert_eq!((script.calls(), asked.get()), (1, 0));
}

/// A rule that checks a timeout does not change the error that the caller gets.
#[tokio::test(start_paused = true)]
async fn an_error_keeps_its_source_after_unless_checked_timeouts() {
    plays! { call(attempts = 4, timeout = "1s", budget = "none", unless = |_| false) }
    let script = Script::new([RESET, Step::Hang]);
    let error = call(&script).await.unwrap_err();
    assert_eq!(ending(&error), timed_out(4, Some("call 1")));
}

#[tokio::test(start_paused = true)]
async fn unless_of_types_may_end_a_call_at_its_first_timeout() {
    plays!(inside(timeout = "1s", budget = "none", unless = "Stopped"));
    plays! { own(timeout = "1s", budget = "none", on = "io::Error", unless = "Stopped") -> Result<usize, Failure> }
    plays! { anyhow(timeout = "1s", budget = "none", on = "io::Error", unless = "Stopped") -> anyhow::Result<usize> }
    plays! { all(timeout = "1s", budget = "none", when = |_| true, unless = "io::Error") }
    plays! { other(timeout = "1s", budget = "none", unless = "ParseIntError") }
    let script = || Script::new([Step::Hang]);
    let scripts = [script(), script(), script(), script()];
    inside(&scripts[0]).await.unwrap_err();
    own(&scripts[1]).await.unwrap_err();
    anyhow(&scripts[2]).await.unwrap_err();
    all(&scripts[3]).await.unwrap_err();
    assert_eq!(scripts.map(|script| script.calls()), [1; 4]);

    // Other errors are retried, and so is a timeout if `unless` names another type.
    assert_eq!(times_of(inside).await.len(), 3);
    let script = Script::new([Step::Hang]);
    let error = other(&script).await.unwrap_err();
    assert_eq!(ending(&error), timed_out(3, None));
}

/// `on` and `when` are for errors. An attempt that timed out counts as transient.
#[tokio::test(start_paused = true)]
async fn no_other_rule_checks_a_timeout() {
    plays! { when(timeout = "1s", budget = "none", when = |_| unreachable!("there is no error")) }
    plays!(on(timeout = "1s", budget = "none", on = "ParseIntError"));
    let script = || Script::new([Step::Hang]);
    let scripts = [script(), script()];
    when(&scripts[0]).await.unwrap_err();
    on(&scripts[1]).await.unwrap_err();
    assert_eq!(scripts.map(|script| script.calls()), [3; 2]);
}

/// The server may have completed the request.
#[tokio::test(start_paused = true)]
async fn a_function_that_must_not_run_twice_ends_at_its_first_timeout() {
    plays! { call(attempts = 5, idempotent = false, timeout = "1s", budget = "none") }
    let refused = Step::Fail(ErrorKind::ConnectionRefused);
    let script = Script::new([refused, refused, Step::Hang, Step::Succeed]);
    let error = call(&script).await.unwrap_err();
    assert_eq!(ending(&error), timed_out(3, Some("call 2")));
    assert_eq!(script.calls(), 3);
}
