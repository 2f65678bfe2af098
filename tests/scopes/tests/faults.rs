//! Faults on purpose: what attempts do in place of their body.

use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use reattempt::testing::{Fault, Log, LoggedCall, Scope, name_of};
use reattempt::{
    Attempt, Budget, FAST_IO, Outcome, Retryable, Stopped, Verdict, propagate, retry, run,
};
use tokio::time::{Instant, sleep};
use tracing::subscriber::{NoSubscriber, set_default};
use tracing::{Dispatch, Level};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
enum ShopError {
    #[error("busy")]
    Busy(Option<Duration>),
    #[error("no such item")]
    NoItem,
    #[error("closed")]
    Closed,
    #[error("stopped: {0:?}")]
    Stopped(Outcome),
}

impl From<Stopped> for ShopError {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped.outcome())
    }
}

impl Retryable for ShopError {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Busy(_) => Verdict::Throttled,
            Self::Closed => Verdict::Refused,
            Self::NoItem | Self::Stopped(_) => Verdict::Permanent,
        }
    }

    fn hint(&self) -> Option<Duration> {
        match self {
            Self::Busy(hint) => *hint,
            _ => None,
        }
    }
}

const BUSY: fn() -> ShopError = || ShopError::Busy(None);

static SHOP: Budget = Budget::new();

mod shop {
    use super::*;

    /// The number of the attempt whose body runs.
    #[retry(attempts = 4, timeout = "1s", budget = SHOP)]
    pub(super) async fn price(runs: &AtomicU32) -> Result<u32, ShopError> {
        runs.fetch_add(1, Ordering::Relaxed);
        sleep(ms(100)).await;
        Ok(Attempt::current().unwrap().number())
    }
}

/// What a call gives, how often its body ran, and the log.
async fn price_in(scope: Scope) -> (Result<u32, ShopError>, u32, Log) {
    let runs = AtomicU32::new(0);
    let (price, log) = scope.run(shop::price(&runs)).await;
    (price, runs.into_inner(), log)
}

/// Several faults of one name are used up in order. Each is as the error of a body: verdict, hint, budget, limits, report.
#[tokio::test(start_paused = true)]
async fn attempts_have_their_faults_in_order_and_the_call_sees_no_difference() {
    let hint = || ShopError::Busy(Some(Duration::from_secs(3)));
    let scope = || Scope::new().with_fault("shop::price", Fault::ends_with(BUSY).first(1));
    let hinted = Fault::ends_with(hint).first(1);
    let unused = Fault::ends_with(BUSY).share(0.0);
    let faults = scope()
        .with_fault("price", unused)
        .with_fault("price", hinted);
    let (price, runs, log) = price_in(faults).await;
    assert_eq!((price, runs), (Ok(3), 1));
    let call = log.calls_of("price").next().unwrap();
    assert_eq!(call.errors(), ["busy", "busy"]);
    assert_eq!(call.verdicts(), [Verdict::Throttled; 2]);
    assert!(call.delays()[1] >= Duration::from_secs(3), "{log}");
    let level = call.report().budget_level().unwrap();
    assert!((196.0..=199.0).contains(&level), "{level}");

    let gone = Fault::ends_with(|| ShopError::NoItem);
    let (price, runs, _) = price_in(scope().with_fault(name_of(&shop::price), gone)).await;
    assert_eq!((price, runs), (Err(ShopError::NoItem), 0));

    // A limit cuts one that is slow, whose body does not run then.
    let began = Instant::now();
    let slow = Fault::slow(ms(2_000)).first(1);
    let late = Fault::ends_with(BUSY).after(ms(700)).first(1);
    let both = Scope::new().with_fault("price", slow);
    let (price, runs, log) = price_in(both.with_fault("price", late)).await;
    assert_eq!((price, runs), (Ok(3), 1));
    assert_eq!(log.calls()[0].errors(), ["timed out", "busy"]);
    assert_eq!(began.elapsed(), ms(1_000 + 700 + 100));
    let began = Instant::now();
    let (price, runs, _) = price_in(Scope::new().with_fault("price", Fault::slow(ms(300)))).await;
    assert_eq!((price, runs, began.elapsed()), (Ok(1), 1, ms(400)));
}

/// What one attempt after another does, and when: its body, or a fault in its place.
struct Script(Vec<(u64, ShopError)>, AtomicUsize);

/// What each attempt does, when the hedge begins, and what is seen among others.
type Case<'a> = (&'a [(u64, ShopError)], u64, &'a [&'a str]);

/// What everyone sees of a call who looks at it.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl Seen {
    fn note(&self, what: impl Display) {
        self.0.lock().unwrap().extend(format!("{what}\n").bytes());
    }
}

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[retry(
    attempts = 4,
    timeout = "1s",
    hedge = hedge,
    idempotent = true,
    budget = SHOP,
    on_retry = |event| seen.note(format_args!("on_retry: {event}")),
    before_retry = async |error| seen.note(format_args!("before_retry: {error:?}")),
    on_end = |report| seen.note(format_args!("on_end: {report}, may have run: {}", report.may_have_run())),
)]
async fn buy(script: &Script, hedge: Duration, seen: &Seen) -> Result<u32, ShopError> {
    let Script(steps, next) = script;
    if let Some((time, error)) = steps.get(next.fetch_add(1, Ordering::Relaxed)) {
        sleep(ms(*time)).await;
        return Err(*error);
    }
    let attempt = Attempt::current().unwrap();
    seen.note(format_args!("after {:?}", attempt.previous()));
    Ok(attempt.number())
}

#[retry(attempts = 3, on_end = |report| seen.note(format_args!("outer on_end: {report}")))]
async fn order(script: &Script, hedge: Duration, seen: &Seen) -> Result<u32, ShopError> {
    buy(script, hedge, seen).await
}

/// Runs the script by bodies, or by faults.
async fn seen_of(steps: &[(u64, ShopError)], hedge: u64, by_faults: bool) -> String {
    static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
    LazyLock::force(&SECOND);
    sleep(Duration::from_secs(60)).await;
    let mut scope = Scope::new();
    let mut script = Script(steps.to_vec(), AtomicUsize::new(0));
    if by_faults {
        for (time, error) in script.0.drain(..) {
            let fault = Fault::ends_with(move || error).after(ms(time)).first(1);
            scope = scope.with_fault("buy", fault);
        }
    }
    let (seen, began) = (Seen::default(), Instant::now());
    let writer = seen.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone());
    let _guard = set_default(subscriber.finish());
    let (ended, log) = scope.run(order(&script, ms(hedge), &seen)).await;
    seen.note(format_args!(
        "{ended:?} after {:?}\n{log:?}",
        began.elapsed()
    ));
    String::from_utf8(seen.0.lock().unwrap().clone()).unwrap()
}

/// The verdict, hint, budget, hooks, events, spans, hedges, outer calls and `may_have_run` of an attempt with a fault are those of one
/// whose body does the same.
#[tokio::test(start_paused = true)]
async fn nothing_sees_a_difference_between_a_fault_and_a_body() {
    const BUSY: ShopError = ShopError::Busy(None);
    const LATER: ShopError = ShopError::Busy(Some(Duration::from_secs(3)));
    #[rustfmt::skip]
    const CASES: &[Case<'_>] = &[
        (&[(0, BUSY)], 5_000, &["on_retry: attempt 1", "before_retry: Some(Busy(None))", "after Some(Failed"]),
        (&[(0, LATER)], 5_000, &["next attempt in 3."]),
        (&[(0, ShopError::NoItem)], 5_000, &["outer on_end: scopes::faults::order: not_retryable, 1 attempt"]),
        (&[(0, ShopError::Closed); 6], 5_000, &["attempts_exhausted, 4 attempts", "may have run: false"]),
        (&[(2_000, BUSY)], 5_000, &["before_retry: None", "after Some(TimedOut", "may have run: true"]),
        (&[(500, BUSY)], 20, &["success, 2 attempts in 20ms, hedge won"]),
        (&[(500, BUSY), (10, BUSY)], 20, &["hedge lost", "on_retry: attempt 2"]),
        (&[(0, BUSY); 9], 5_000, &["outer on_end: scopes::faults::order: attempts_exhausted"]),
    ];
    for (steps, hedge, among) in CASES {
        // Some events come once in a process, and others once in a minute.
        seen_of(steps, *hedge, false).await;
        let [seen, by_bodies] = [true, false].map(|faults| seen_of(steps, *hedge, faults));
        let seen = seen.await;
        assert_eq!(seen, by_bodies.await, "{steps:?}");
        for part in *among {
            assert!(
                seen.contains(part),
                "{part} of {steps:?} is not in:\n{seen}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_share_of_the_attempts_fails_by_the_seed_of_the_scope() {
    let failed = async |seed, share| {
        let fault = Fault::ends_with(BUSY).share(share);
        let scope = Scope::new().with_seed(seed).with_fault("price", fault);
        let runs = AtomicU32::new(0);
        let calls = async {
            for _ in 0..100 {
                let _ = shop::price(&runs).await;
            }
        };
        let ((), log) = scope.run(calls).await;
        let failed: Vec<_> = log.calls().iter().map(|call| call.errors().len()).collect();
        assert!(share < 1.0 || runs.load(Ordering::Relaxed) == 0);
        failed
    };
    let some = failed(7, 0.2).await;
    assert_eq!(failed(7, 0.2).await, some);
    assert_ne!(failed(8, 0.2).await, some);
    let sum: usize = some.iter().sum();
    assert!((10..50).contains(&sum), "{sum}");
    assert_eq!(failed(7, 0.0).await, [0; 100]);
    assert!(failed(7, 1.0).await.iter().all(|failed| *failed > 0));

    // Each fault of a name has a share of its own.
    let half = |error| Fault::ends_with(move || error).share(0.5);
    let [busy, closed] = [BUSY(), ShopError::Closed].map(half);
    let both = Scope::new().with_fault("price", busy);
    let calls = async {
        for _ in 0..20 {
            let _ = shop::price(&AtomicU32::new(0)).await;
        }
    };
    let ((), log) = both.with_fault("price", closed).run(calls).await;
    let errors: Vec<_> = log.calls().iter().flat_map(LoggedCall::errors).collect();
    for error in ["busy", "closed"] {
        assert!(errors.iter().any(|of| *of == error), "{errors:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_form_of_call_has_faults() {
    #[retry(blocking, attempts = 3)]
    fn blocks<T: Copy>(value: T) -> io::Result<T> {
        Ok(value)
    }
    #[retry(attempts = 3, hedge = "10ms", idempotent = true, budget = &budget)]
    async fn hedged(budget: Budget) -> Result<u32, ShopError> {
        Ok(Attempt::current().unwrap().number())
    }
    #[retry(attempts = 2, before_retry = async { let _ = shop::price(runs).await; })]
    async fn outer(runs: &AtomicU32) -> Result<u32, ShopError> {
        propagate(shop::price(runs)).await
    }
    let reset = || Fault::ends_with(|| io::Error::from(io::ErrorKind::ConnectionReset)).first(1);
    let attempts = |log: &Log| log.calls()[0].report().attempts();

    let (ended, log) = Scope::new()
        .with_fault("blocks", reset())
        .run_blocking(|| blocks(7));
    assert_eq!((ended.unwrap(), attempts(&log)), (7, 2));

    let begun = AtomicU32::new(0);
    let begins = || {
        begun.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, io::Error>(7) }
    };
    let run = FAST_IO.run(begins).with_name("run");
    let (ended, log) = Scope::new().with_fault("run", reset()).run(run).await;
    assert_eq!((ended.unwrap(), attempts(&log)), (7, 2));
    assert_eq!(begun.into_inner(), 1);
    let run = run!(attempts = 3, name = "run", async || -> io::Result<u8> {
        Ok(7)
    });
    let (ended, log) = Scope::new().with_fault("run", reset()).run(run).await;
    assert_eq!((ended.unwrap(), attempts(&log)), (7, 2));
    let run = FAST_IO
        .run_blocking(|| Ok::<_, io::Error>(7))
        .with_name("run");
    let (ended, log) = Scope::new()
        .with_fault("run", reset())
        .run_blocking(|| run.call());
    assert_eq!((ended.unwrap(), attempts(&log)), (7, 2));

    let slow = Scope::new().with_fault("hedged", Fault::slow(ms(500)).first(1));
    let (ended, log) = slow.run(hedged(Budget::new())).await;
    assert_eq!(
        (ended, log.calls()[0].report().outcome()),
        (Ok(2), Outcome::Success)
    );

    // A fault of the outer function, and then those of the inner one in `before_retry` and in a task.
    let (runs, busy) = (AtomicU32::new(0), Fault::ends_with(BUSY).first(1));
    let scope = Scope::new()
        .with_fault("outer", busy.clone())
        .with_fault("price", busy);
    let (ended, log) = scope.run(outer(&runs)).await;
    assert_eq!((ended, runs.into_inner()), (Ok(1), 2));
    let attempts = |name| {
        log.calls_of(name)
            .map(|call| call.report().attempts())
            .collect()
    };
    let [outer, inner]: [Vec<_>; 2] = ["outer", "price"].map(attempts);
    assert_eq!((outer, inner), (vec![2], vec![2, 1]));
}

/// What the panic of a scope says.
fn refused(scope: Scope, call: impl Future<Output = ()>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| runtime.block_on(scope.run(call))));
    *panic.unwrap_err().downcast::<String>().unwrap()
}

#[test]
fn a_fault_that_no_attempt_can_have_fails_the_test() {
    #[retry(attempts = 2, when = |_| true)]
    async fn parse<'a>(text: &'a str) -> Result<u8, &'a str> {
        text.parse().map_err(|_| text)
    }
    let runs = AtomicU32::new(0);
    let price = || async {
        let _ = shop::price(&runs).await;
    };
    let reset = || Fault::ends_with(|| io::Error::from(io::ErrorKind::ConnectionReset));
    let text = refused(Scope::new().with_fault("price", reset()), price());
    let expected = "a fault ends with a `std::io::error::Error`, but the error there is a `scopes::faults::ShopError`";
    assert_eq!(text, expected);
    let text = refused(Scope::new().with_fault("prize", reset()), price());
    let expected = "the scope has a fault for `prize`, which was not called; called were [\"scopes::faults::shop::price\"]";
    assert_eq!(text, expected);
    let parsed = async {
        let _ = parse("x").await;
    };
    let text = refused(
        Scope::new().with_fault("parse", Fault::ends_with(|| "x")),
        parsed,
    );
    let expected = "no attempt of `parse` could have its fault: there was none, or the error of the function may borrow, is a type parameter, or is not written in a closure of `run!`";
    assert_eq!(text, expected);
}
