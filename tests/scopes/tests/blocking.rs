//! Compares functions with `blocking` in a test scope with the same functions that are async.

use std::cell::RefCell;
use std::fmt;
use std::time::{Duration, Instant};

use reattempt::testing::{LoggedCall, Scope};
use reattempt::{Outcome, Retryable, Stopped, retry, with_report};

/// What an attempt does, by its number, from 1.
type Step = fn(u32) -> Result<u32, Failure>;

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("reset")]
    #[retryable(transient)]
    Reset,
    #[error("busy")]
    #[retryable(throttled, after = "0")]
    Busy(Duration),
    #[error("wrong")]
    #[retryable(permanent)]
    Wrong,
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

/// How often the body ran, and what the hooks received.
#[derive(Debug, Default, PartialEq)]
struct Seen(RefCell<Vec<String>>);

impl Seen {
    fn note(&self, what: impl fmt::Display) {
        self.0.borrow_mut().push(what.to_string());
    }

    fn attempt(&self) -> u32 {
        let attempt = reattempt::Attempt::current().expect("an attempt");
        self.note(format_args!(
            "attempt {} of {:?}, after {:?}",
            attempt.number(),
            attempt.attempts(),
            attempt.previous()
        ));
        attempt.number()
    }
}

/// Writes a function twice, with the same settings.
macro_rules! twins {
    ($($name:ident($($setting:tt)*);)*) => {
        $(mod $name {
            use super::{Failure, Seen, Step, retry};

            #[retry(
                name = "twin",
                on_retry = |event| seen.note(format_args!("retry in {:?}", event.delay())),
                on_end = |report| seen.note(report.outcome()),
                $($setting)*
            )]
            pub(super) async fn awaited(seen: &Seen, step: Step) -> Result<u32, Failure> {
                step(seen.attempt())
            }

            #[retry(
                blocking,
                name = "twin",
                on_retry = |event| seen.note(format_args!("retry in {:?}", event.delay())),
                on_end = |report| seen.note(report.outcome()),
                $($setting)*
            )]
            pub(super) fn blocking(seen: &Seen, step: Step) -> Result<u32, Failure> {
                step(seen.attempt())
            }
        })*

        const TWINS: &[&str] = &[$(stringify!($name)),*];

        /// Calls one function of a pair, and returns its result, what its body saw, and its log.
        async fn call(name: &str, blocking: bool, step: Step) -> Called {
            let (scope, seen) = (Scope::new().with_seed(11), Seen::default());
            let (result, log) = match name {
                $(stringify!($name) if blocking => scope.run_blocking(|| $name::blocking(&seen, step)),
                stringify!($name) => scope.run($name::awaited(&seen, step)).await,)*
                _ => unreachable!("{name}"),
            };
            let result = result.map_err(|error| error.to_string());
            Called { result, seen, log: log.calls().to_vec() }
        }
    };
}

twins! {
    default();
    many(attempts = 6, backoff = "fibonacci", jitter = "equal");
    decorrelated(attempts = 8, jitter = "decorrelated", max_delay = "2s");
    within_a_deadline(attempts = 8, base = "1s", deadline = "5s");
    past_a_deadline(delays = ["2s", "9s"], deadline = "10s");
    by_rules(when = |error| matches!(error, Failure::Busy(_)), unless = |error| matches!(error, Failure::Wrong));
    by_value(when_ok = |number| *number < 3, when = |_| true);
    only_what_never_ran(idempotent = false);
    without_end(attempts = "unlimited", deadline = "20s");
}

#[rustfmt::skip]
const STEPS: [Step; 6] = [
    Ok,
    |_| Err(Failure::Reset),
    |_| Err(Failure::Wrong),
    |number| Err(if number == 1 { Failure::Reset } else { Failure::Wrong }),
    |number| if number < 3 { Err(Failure::Reset) } else { Ok(number) },
    |number| Err(Failure::Busy(Duration::from_secs(u64::from(number) * 30))),
];

#[derive(Debug)]
struct Called {
    result: Result<u32, String>,
    seen: Seen,
    log: Vec<LoggedCall>,
}

/// The parts of a logged call that do not depend on the speed of the machine.
fn timeless(call: &LoggedCall) -> impl PartialEq + fmt::Debug + use<> {
    let report = call.report();
    (
        (
            report.outcome(),
            report.attempts(),
            report.waited(),
            report.verdict(),
        ),
        report.budget_level(),
        call.delays().to_vec(),
        call.verdicts().to_vec(),
    )
}

// On a clock that stands still, both functions also draw the same delays below a deadline.
#[tokio::test(start_paused = true)]
async fn a_blocking_function_decides_as_the_same_function_that_is_async() {
    let mut outcomes = Vec::new();
    for &name in TWINS {
        for (number, step) in STEPS.into_iter().enumerate() {
            let awaited = call(name, false, step).await;
            let blocking = call(name, true, step).await;
            assert_eq!(awaited.result, blocking.result, "{name}, step {number}");
            assert_eq!(awaited.seen, blocking.seen, "{name}, step {number}");
            let [of_awaited, of_blocking] = [&awaited, &blocking].map(|called| &called.log[..]);
            assert_eq!((of_awaited.len(), of_blocking.len()), (1, 1));
            assert_eq!(
                timeless(&of_awaited[0]),
                timeless(&of_blocking[0]),
                "{name}, step {number}"
            );
            outcomes.push(of_blocking[0].report().outcome());
        }
    }
    for outcome in [
        Outcome::Success,
        Outcome::SuccessAfterRetry,
        Outcome::NotRetryable,
        Outcome::AttemptsExhausted,
        Outcome::Deadline,
        Outcome::HintTooLong,
    ] {
        assert!(outcomes.contains(&outcome), "{outcome} never came up");
    }
}

#[retry(blocking, delays = ["10m", "20m"])]
fn resets() -> Result<u8, Failure> {
    Err(Failure::Reset)
}

#[test]
fn a_scope_skips_the_waits_of_blocking_functions() {
    let began = Instant::now();
    let (result, log) = Scope::new().run_blocking(resets);
    result.unwrap_err();
    let call = log.calls_of("resets").next().unwrap();
    assert_eq!(call.delays(), [600, 1200].map(Duration::from_secs));
    assert_eq!(call.report().waited(), Duration::from_secs(1800));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_scope_skips_the_waits_of_blocking_functions_that_async_code_calls() {
    let within = with_report(async { resets() });
    let ((result, report), log) = Scope::new().run(within).await;
    result.unwrap_err();
    assert_eq!(report.as_ref(), Some(log.calls()[0].report()));
}

#[test]
fn scopes_within_scopes_log_their_own_calls() {
    let (inner, outer) = Scope::new().run_blocking(|| {
        let (_, inner) = Scope::new().with_attempts(2).run_blocking(resets);
        let _ = resets();
        inner
    });
    let attempts = |call: &LoggedCall| call.report().attempts();
    assert_eq!(inner.calls().iter().map(attempts).collect::<Vec<_>>(), [2]);
    assert_eq!(outer.calls().iter().map(attempts).collect::<Vec<_>>(), [3]);
}
