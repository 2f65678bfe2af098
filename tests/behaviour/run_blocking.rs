//! Retries of a closure that is not async: `Policy::run_blocking`. The waits are real, and a few milliseconds long.

use std::io;
use std::rc::Rc;
use std::thread::sleep;
use std::time::Instant;

use reattempt::{
    Attempt, Budget, Jitter, Outcome, Policy, Preset, Report, Verdict, deadline, retry, with_report,
};

use crate::events::Log;
use crate::script::{ending, ms, run};

const POLICY: Policy = Policy::new()
    .with_attempts(4)
    .with_base(ms(1))
    .with_jitter(Jitter::None);

fn reset<T>() -> io::Result<T> {
    Err(io::ErrorKind::ConnectionReset.into())
}

/// The result and the report of a blocking call.
fn observed<T>(call: impl FnOnce() -> T) -> (T, Report) {
    let (result, report) = run(with_report(async { call() }));
    (result, report.unwrap())
}

#[test]
fn it_waits_between_its_attempts_without_a_runtime() {
    let mut calls = 0;
    // Not `Send`, which nothing asks for.
    let started = Rc::new(Instant::now());
    let operation = || {
        calls += 1;
        assert_eq!(Attempt::current().unwrap().number(), calls);
        if calls < 3 {
            reset()
        } else {
            Ok(started.elapsed())
        }
    };
    const LIST: &[std::time::Duration] = &[ms(10), ms(20)];
    let took = POLICY.with_delays(LIST).run_blocking(operation).call();
    assert!(took.unwrap() >= ms(30));
    assert_eq!(calls, 3);
}

#[test]
fn rules_and_hooks_are_those_of_a_run() {
    let mut calls = 0;
    let failing = POLICY.run_blocking(|| -> io::Result<()> {
        calls += 1;
        Err(io::ErrorKind::NotFound.into())
    });
    failing.call().unwrap_err();
    assert_eq!(calls, 1);

    let mut told = Vec::new();
    let (result, report) = observed(|| {
        let run = POLICY.run_blocking(reset::<()>).with_name("ping");
        let run = run.when(|_| true).unless(|_| false);
        run.on_retry(|event| told.push(event.delay())).call()
    });
    result.unwrap_err();
    assert_eq!(told, [ms(1), ms(2), ms(4)]);
    assert_eq!(report.function(), "ping");
    assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
    assert!(report.elapsed() >= ms(7), "{report}");

    let mut value = 0;
    let run = POLICY.run_blocking(|| {
        value += 1;
        io::Result::Ok(value)
    });
    assert_eq!(run.when_ok(|value| *value < 3).call().unwrap(), 3);

    let log = Log::listen();
    let run = POLICY
        .without_limits()
        .run_blocking(|| Err::<(), _>("nothing"));
    assert_eq!(
        run.verdict(|_| Verdict::Unknown).when(|_| true).call(),
        Err("nothing")
    );
    let lines = log.lines();
    assert!(lines[0].contains(r#"error="nothing""#), "{lines:?}");
}

#[test]
fn no_attempt_begins_after_the_deadline() {
    let due = POLICY.with_deadline(ms(30)).with_timeout(ms(1));
    let mut calls = 0;
    let (result, report) = observed(|| {
        let run = due.run_blocking(|| {
            calls += 1;
            assert!(Attempt::current().unwrap().remaining() <= Some(ms(1)));
            sleep(ms(40));
            reset::<()>()
        });
        run.call()
    });
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!((calls, report.outcome()), (1, Outcome::Deadline));

    // The deadline around it is over before the first attempt.
    let late = run(deadline::scope(ms(0), async {
        sleep(ms(2));
        Preset::new("late", POLICY).run_blocking(reset::<()>).call()
    }));
    assert_eq!(ending(&late.unwrap_err()), (Outcome::Deadline, 0, None));
}

#[test]
fn within_an_annotated_function_retries_add() {
    #[retry(blocking, attempts = 4, base = "1ms", on = "io::Error")]
    fn outer(calls: &std::cell::Cell<u32>) -> io::Result<()> {
        let run = POLICY.run_blocking(|| {
            calls.set(calls.get() + 1);
            reset()
        });
        run.call()
    }
    let calls = std::cell::Cell::new(0);
    outer(&calls).unwrap_err();
    assert_eq!(calls.get(), 7);
}

#[test]
fn it_takes_its_retries_from_a_budget() {
    static SMALL: Budget = Budget::ratio(0.1);
    let mut calls = 0;
    let mut fails = || {
        let run = POLICY.run_blocking(|| {
            calls += 1;
            reset::<()>()
        });
        run.with_budget(&SMALL).call().unwrap_err();
        std::mem::take(&mut calls)
    };
    assert_eq!([fails(), fails()], [2, 1]);
}
