//! The effect of a test scope on the calls in it, and only on them.

use std::cell::Cell;
use std::collections::HashSet;
use std::future::{pending, ready};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use reattempt::testing::{self, Log, Scope};
use reattempt::{
    Attempt, Budget, Outcome, Policy, Preset, Retryable, SLOW_IO, Stopped, Verdict, deadline,
    propagate, retry, with_report,
};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[retry(attempts = 5, base = "1s", on = "io::Error")]
async fn fails(calls: &AtomicU32) -> io::Result<()> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err(io::ErrorKind::ConnectionReset.into())
}

async fn log_of(scope: Scope, calls: usize) -> Log {
    let counter = AtomicU32::new(0);
    let all = async {
        for _ in 0..calls {
            fails(&counter).await.unwrap_err();
        }
    };
    scope.run(all).await.1
}

#[tokio::test]
async fn all_attempts_of_slow_io_over_a_real_socket_take_no_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    let read = SLOW_IO.run(async || {
        let mut stream = TcpStream::connect(address).await?;
        stream.read_u8().await
    });
    let read = read.when(|error| error.kind() == io::ErrorKind::UnexpectedEof);
    let began = Instant::now();
    let (result, log) = Scope::new().with_seed(7).run(read).await;
    let took = began.elapsed();
    result.unwrap_err();
    let call = &log.calls()[0];
    assert_eq!(call.report().outcome(), Outcome::AttemptsExhausted);
    assert_eq!(call.report().attempts(), 5);
    assert_eq!(call.delays().len(), 4);
    let waited: Duration = call.delays().iter().sum();
    assert_eq!(call.report().waited(), waited);
    assert!(call.report().elapsed() >= waited);
    assert!(took < waited, "{took:?} of {waited:?}");
}

#[tokio::test]
async fn one_seed_gives_one_schedule_whatever_runs_beside_it() {
    let alone = log_of(Scope::new().with_seed(7), 3).await;
    assert_eq!(alone.calls().len(), 3);
    let again = log_of(Scope::new().with_seed(7), 3).await;
    let delays = |log: &Log| -> Vec<Vec<Duration>> {
        log.calls_of("fails")
            .map(|call| call.delays().to_vec())
            .collect()
    };
    assert_eq!(delays(&alone), delays(&again));
    assert_ne!(
        delays(&alone),
        delays(&log_of(Scope::new().with_seed(8), 3).await)
    );
    assert_ne!(
        delays(&alone)[0],
        delays(&alone)[1],
        "no two calls share a sequence"
    );

    let counter = AtomicU32::new(0);
    let other = Policy::new();
    let beside = async {
        let other = other.run(async || Err::<(), _>(io::Error::from(io::ErrorKind::TimedOut)));
        tokio::join!(other, fails(&counter))
    };
    let (_, beside) = Scope::new().with_seed(7).run(beside).await;
    assert_eq!(delays(&beside), [delays(&alone)[0].clone()]);
}

#[tokio::test(start_paused = true)]
async fn calls_wait_if_the_scope_says_so() {
    let began = tokio::time::Instant::now();
    let log = log_of(Scope::new().with_waits(true), 1).await;
    let delays = log.calls()[0].delays();
    let took = began.elapsed();
    let drawn = delays.iter().sum();
    assert!(
        took >= drawn && took <= drawn + ms(5),
        "{took:?}, {drawn:?}"
    );
    assert_eq!(log.calls()[0].report().waited(), took);
}

#[tokio::test]
async fn attempts_are_capped_and_at_least_one() {
    for (most, expected) in [(2, 2), (0, 1), (9, 5)] {
        let log = log_of(Scope::new().with_attempts(most), 1).await;
        assert_eq!(log.calls()[0].report().attempts(), expected);
    }
}

#[tokio::test]
async fn the_log_has_every_call_with_its_verdicts_and_the_dropped_ones() {
    #[retry(attempts = 2, base = "1s", on = "io::Error", name = "outer")]
    async fn outer(calls: &AtomicU32) -> io::Result<()> {
        fails(calls).await
    }
    #[retry(attempts = 2, timeout = "20ms", base = "1s", name = "hangs")]
    async fn hangs() -> io::Result<()> {
        pending().await
    }
    let counter = AtomicU32::new(0);
    let all = async {
        outer(&counter).await.unwrap_err();
        hangs().await.unwrap_err();
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(hangs()).poll(&mut context).is_pending());
    };
    let ((), log) = Scope::new().run(all).await;
    let outcomes: Vec<_> = (log.calls().iter())
        .map(|call| {
            let report = call.report();
            let name = report.function().rsplit("::").next().unwrap();
            (
                name,
                report.attempts(),
                report.outcome(),
                call.verdicts().len(),
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("fails", 5, Outcome::AttemptsExhausted, 5),
            ("fails", 1, Outcome::AttemptsExhausted, 1),
            ("outer", 2, Outcome::AttemptsExhausted, 2),
            ("hangs", 2, Outcome::Timeout, 2),
            ("hangs", 1, Outcome::Dropped, 0),
        ]
    );
    assert_eq!(log.calls_of("hangs").count(), 2);
    assert_eq!(log.calls_of("angs").count(), 0);
    let first = &log.calls()[0];
    assert_eq!(first.verdicts(), [Verdict::Transient; 5]);
    assert_eq!(log.to_string().lines().count(), 5, "{log}");
}

#[tokio::test]
async fn budgets_are_fresh_in_each_scope_and_unchanged_outside() {
    static SHARED: Budget = Budget::ratio(0.1);
    #[retry(attempts = 5, on = "io::Error", budget = SHARED)]
    async fn first() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(attempts = 5, on = "io::Error", budget = SHARED)]
    async fn second() -> io::Result<()> {
        first().await
    }
    let level = SHARED.level();
    for _ in 0..3 {
        let both = async { (first().await, second().await) };
        let (_, log) = Scope::new().run(both).await;
        let attempts: Vec<_> = log
            .calls()
            .iter()
            .map(|call| call.report().attempts())
            .collect();
        assert_eq!(attempts, [2, 1, 1], "one retry for all in the scope");
        assert_eq!(log.calls()[0].report().outcome(), Outcome::Budget);
    }
    assert!((SHARED.level() - level).abs() < f64::EPSILON);
}

#[tokio::test(start_paused = true)]
async fn a_scope_has_a_fresh_budget_for_each_preset_and_each_function() {
    const TWO: Policy = Policy::new()
        .with_attempts(50)
        .with_budget(Budget::aws().with_capacity(28));
    static SHARED: Preset = Preset::new("shared", TWO);
    #[retry(policy = SHARED, on = "io::Error")]
    async fn first() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = SHARED, on = "io::Error")]
    async fn second() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = TWO, on = "io::Error")]
    async fn own() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    for _ in 0..2 {
        let all = async { (first().await, second().await, own().await) };
        let (_, log) = Scope::new().run(all).await;
        let attempts = log.calls().iter().map(|call| call.report().attempts());
        assert_eq!(attempts.collect::<Vec<_>>(), [3, 1, 3]);
        assert_eq!(SHARED.budget_level(), Some(28.0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_gives_its_tokens_back_to_the_budget_of_the_scope() {
    static SHARED: Budget = Budget::aws();
    #[retry(attempts = 5, on = "io::Error", budget = SHARED)]
    async fn drained() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    drained().await.unwrap_err();
    let level = SHARED.level();
    assert!(level < 500.0, "{level}");

    let dropped = async {
        tokio::select! {
            biased;
            _ = drained() => unreachable!("it waits"),
            () = ready(()) => {}
        }
    };
    let ((), log) = Scope::new().with_waits(true).run(dropped).await;
    let report = log.calls()[0].report();
    assert_eq!(report.outcome(), Outcome::Dropped);
    assert_eq!(report.budget_level(), Some(500.0));
    assert!((SHARED.level() - level).abs() < f64::EPSILON);
}

#[tokio::test]
async fn the_budget_of_a_policy_starts_full_in_a_scope_too() {
    const POLICY: Policy = Policy::new().with_budget(Budget::ratio(0.1));
    #[retry(policy = POLICY)]
    async fn call() -> io::Result<()> {
        Ok(())
    }
    let (_, log) = Scope::new().run(call()).await;
    assert_eq!(log.calls()[0].report().budget_level(), Some(10.0));
}

#[tokio::test]
async fn waits_that_are_left_out_count_towards_the_deadline() {
    const POLICY: Policy = Policy::new()
        .with_delays(&[ms(40_000), ms(40_000), ms(40_000)])
        .with_deadline(ms(100_000));
    let fails = POLICY.run(async || Err::<(), _>(io::Error::from(io::ErrorKind::TimedOut)));
    let began = Instant::now();
    let (_, log) = Scope::new().run(fails).await;
    assert!(began.elapsed() < ms(20_000));
    let call = &log.calls()[0];
    assert_eq!(call.report().outcome(), Outcome::Deadline);
    assert_eq!(call.delays(), [ms(40_000), ms(40_000)]);
}

/// The settings of the `n`th test: every second test is in a scope, with its own seed and number of attempts.
fn scope_of(n: u32) -> Option<(u32, Scope)> {
    let most = n % 3 + 2;
    let scope = Scope::new().with_seed(n.into()).with_attempts(most);
    (n % 2 == 1).then_some((most, scope))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tests_at_once_see_nothing_of_each_other() {
    #[retry(attempts = 4, base = "1ms", max_delay = "2ms", on = "io::Error")]
    async fn shared(calls: &AtomicU32, all: &Barrier) -> io::Result<()> {
        if calls.fetch_add(1, Ordering::Relaxed) == 0 {
            all.wait().await;
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }

    // No call fails before all hundred have begun: those outside share a budget, whose first wave they all are then.
    let all = Arc::new(Barrier::new(100));
    let tests: Vec<_> = (0..100)
        .map(|n| {
            let all = Arc::clone(&all);
            tokio::spawn(async move {
                let calls = AtomicU32::new(0);
                let Some((most, scope)) = scope_of(n) else {
                    let (result, report) = with_report(shared(&calls, &all)).await;
                    result.unwrap_err();
                    assert_eq!(report.unwrap().attempts(), 4);
                    assert_eq!(calls.load(Ordering::Relaxed), 4);
                    return Vec::new();
                };
                let (_, log) = scope.run(shared(&calls, &all)).await;
                assert_eq!(log.calls().len(), 1, "{log}");
                let call = &log.calls()[0];
                assert_eq!(call.report().attempts(), most);
                assert_eq!(calls.load(Ordering::Relaxed), most);
                assert!((call.report().budget_level().unwrap() - 200.0).abs() < 7.0);
                call.delays().to_vec()
            })
        })
        .collect();

    let mut seen = HashSet::new();
    for (n, test) in (0..100).zip(tests) {
        let delays = test.await.unwrap();
        let Some((most, scope)) = scope_of(n) else {
            continue;
        };
        assert_eq!(u32::try_from(delays.len()), Ok(most - 1), "{n}");
        let (_, alone) = scope
            .run(shared(&AtomicU32::new(0), &Barrier::new(1)))
            .await;
        assert_eq!(delays, alone.calls()[0].delays(), "the seed {n} alone");
        seen.insert(delays);
    }
    assert_eq!(seen.len(), 50, "each seed has its own delays");
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("busy")]
    #[retryable(throttled, after = "wait")]
    Busy { wait: Duration },
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

#[tokio::test]
async fn a_pause_is_passed_over_in_a_scope_and_stays_in_it() {
    static BUDGET: Budget = Budget::new().with_pause();
    #[retry(base = "100ms", jitter = "none", budget = BUDGET)]
    async fn busy_once() -> Result<(), Failure> {
        match Attempt::current().map(|attempt| attempt.number()) {
            Some(1) => Err(Failure::Busy { wait: ms(40_000) }),
            _ => Ok(()),
        }
    }
    #[retry(base = "100ms", jitter = "none", budget = BUDGET)]
    async fn read() -> Result<(), Failure> {
        Ok(())
    }
    /// Only its hedge ends, which begins because the pause is over in the time of the call.
    #[retry(attempts = 2, hedge = "1ms", timeout = "5s", budget = BUDGET)]
    async fn hedged() -> Result<(), Failure> {
        if Attempt::current().unwrap().is_hedge() {
            return Ok(());
        }
        pending().await
    }
    #[retry(deadline = "5s", budget = BUDGET)]
    async fn read_soon() -> Result<(), Failure> {
        Ok(())
    }
    let began = Instant::now();
    let calls = async {
        busy_once().await.unwrap();
        read().await.unwrap();
        let error = read_soon().await.unwrap_err();
        assert!(
            error.to_string().starts_with("the budget is paused beyond"),
            "{error}"
        );
        hedged().await.unwrap();
    };
    let ((), log) = Scope::new().run(calls).await;
    let (outside, report) = with_report(read()).await;
    outside.unwrap();
    assert!(began.elapsed() < ms(20_000));
    assert_eq!(report.map(|report| report.waited()), Some(ms(0)));
    let waits: Vec<_> = log.calls().iter().map(|call| call.delays().len()).collect();
    assert_eq!(waits, [1, 1, 0, 1]);
    // The hint waits once, for the call that got it.
    assert_eq!(log.calls()[0].delays(), [ms(40_000)]);
    let waited = log.calls()[1].report().waited();
    assert!((ms(20_000)..=ms(40_000)).contains(&waited), "{waited:?}");
    assert_eq!(log.calls()[2].report().outcome(), Outcome::Paused);
}

#[tokio::test]
async fn propagate_carries_the_scope_into_a_task() {
    let calls = Arc::new(AtomicU32::new(0));
    let task = {
        let calls = Arc::clone(&calls);
        async move {
            let own = Arc::clone(&calls);
            tokio::spawn(propagate(async move { fails(&own).await }))
                .await
                .unwrap()
                .unwrap_err();
        }
    };
    let began = Instant::now();
    let scope = Scope::new().with_seed(7).with_attempts(3);
    let ((), log) = scope.run(task).await;
    assert_eq!(log.calls().len(), 1);
    let waited = log.calls()[0].delays().iter().sum();
    let took = began.elapsed();
    assert!(took < waited, "{took:?} of {waited:?}");
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn observe_in_a_scope_stays_in_it_and_an_inner_scope_has_its_own_log() {
    let counter = AtomicU32::new(0);
    let inner = async {
        let (_, report) = with_report(fails(&counter)).await;
        assert_eq!(report.unwrap().attempts(), 3);
        Scope::new().with_attempts(2).run(fails(&counter)).await.1
    };
    let (inner, outer) = Scope::new().with_attempts(3).run(inner).await;
    assert_eq!(inner.calls()[0].report().attempts(), 2);
    assert_eq!(outer.calls().len(), 1);
}

/// No subscriber wants events in this process, so that nothing else takes the time.
#[tokio::test(start_paused = true)]
async fn a_hook_alone_learns_how_long_a_call_without_limits_took() {
    #[retry(on_end = |report| elapsed.set(report.elapsed()))]
    async fn call(elapsed: &Cell<Duration>) -> io::Result<()> {
        tokio::time::sleep(ms(10)).await;
        Ok(())
    }
    #[retry(blocking, attempts = 2, base = "1ms", on_retry = |event| elapsed.set(event.elapsed()))]
    fn blocks(elapsed: &Cell<Duration>) -> io::Result<()> {
        std::thread::sleep(ms(10));
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let elapsed = Cell::new(Duration::ZERO);
    call(&elapsed).await.unwrap();
    assert_eq!(elapsed.take(), ms(10));
    tokio::time::resume();
    blocks(&elapsed).unwrap_err();
    assert!(elapsed.take() >= ms(10));
}

#[test]
fn a_stopped_call_can_be_made_for_a_test() {
    let stopped = testing::stopped(Outcome::Deadline, 2, ms(1500));
    assert_eq!(stopped.outcome(), Outcome::Deadline);
    assert_eq!((stopped.attempts(), stopped.elapsed()), (2, ms(1500)));
    assert_eq!(
        stopped.to_string(),
        "inherited deadline reached (2 attempts, 1.5s)"
    );
    assert_eq!(io::Error::from(stopped).kind(), io::ErrorKind::TimedOut);
    let stopped = testing::stopped(Outcome::AttemptsExhausted, 2, ms(1500));
    assert_eq!(
        stopped.to_string(),
        "not ready: attempts_exhausted (2 attempts, 1.5s)"
    );
}

#[tokio::test]
async fn observe_around_a_scope_receives_the_report_of_the_scope() {
    let counter = AtomicU32::new(0);
    let (_, report) = with_report(Scope::new().with_attempts(2).run(fails(&counter))).await;
    assert_eq!(report.unwrap().attempts(), 2);
}

#[tokio::test]
async fn a_dropped_budget_leaves_nothing_to_the_next_budget() {
    #[retry(attempts = 3, on = "io::Error", budget = budget)]
    async fn fails(budget: Arc<Budget>) -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let both = async {
        fails(Arc::new(Budget::ratio(0.0))).await.unwrap_err();
        fails(Arc::new(Budget::new())).await.unwrap_err();
    };
    let ((), log) = Scope::new().run(both).await;
    let attempts: Vec<_> = log
        .calls()
        .iter()
        .map(|call| call.report().attempts())
        .collect();
    assert_eq!(attempts, [2, 3]);
}

/// The time of the inner call includes its delays, which are not waited for. The time of the outer call does not.
#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_calls_around_that_have_it_too() {
    #[retry(attempts = 10, base = "40ms", jitter = "none")]
    async fn lookup() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(base = "1ms", jitter = "none")]
    async fn page() -> io::Result<()> {
        lookup().await
    }
    #[retry(base = "1ms", jitter = "none", deadline = "50ms")]
    async fn page_within_50ms() -> io::Result<()> {
        lookup().await
    }
    for waits in [true, false] {
        let scope = || Scope::new().with_waits(waits);
        let ((_, report), _) = scope().run(with_report(page_within_50ms())).await;
        let report = report.unwrap();
        assert_eq!(
            (report.attempts(), report.outcome()),
            (1, Outcome::Deadline)
        );

        let call = deadline::scope(ms(50), page());
        let ((_, report), _) = scope().run(with_report(call)).await;
        let report = report.unwrap();
        assert_eq!(
            (report.attempts(), report.outcome()),
            (1, Outcome::Deadline)
        );

        let inside = POLICY.run(async || deadline::scope(ms(50), lookup()).await);
        let ((_, report), _) = scope().run(with_report(inside)).await;
        let report = report.unwrap();
        assert_eq!(
            (report.attempts(), report.outcome()),
            (3, Outcome::AttemptsExhausted)
        );
    }
}

const POLICY: Policy = Policy::new().with_base(ms(1));

/// The bound holds for unlimited attempts too, which end by a refusal then.
#[tokio::test]
async fn a_call_with_unlimited_attempts_and_a_bound_does_not_wait_for_a_refusal_to_end() {
    #[retry(attempts = "unlimited", budget = budget, when = |_| true)]
    async fn relay(calls: &AtomicU32, budget: &Budget) -> io::Result<()> {
        calls.fetch_add(1, Ordering::Relaxed);
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let empty = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    let calls = AtomicU32::new(0);
    let (_, log) = Scope::new()
        .with_attempts(3)
        .run(relay(&calls, &empty))
        .await;
    assert_eq!(log.calls()[0].report().outcome(), Outcome::Budget);
    let off = Scope::new().with_attempts(3).with_enabled(false);
    let (_, log) = off.run(relay(&calls, &empty)).await;
    assert_eq!(log.calls()[0].report().outcome(), Outcome::Disabled);
    assert_eq!(calls.into_inner(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_already_is_in_the_log_of_its_scope() {
    #[retry(attempts = 3, cancel = ready(()))]
    async fn call() -> Result<(), Stopped> {
        Ok(())
    }
    let ((result, report), log) = Scope::new().run(with_report(call())).await;
    result.unwrap_err();
    let report = report.expect("the call ended");
    assert_eq!(
        (report.attempts(), report.outcome()),
        (0, Outcome::Cancelled)
    );
    assert_eq!(log.calls().len(), 1);
}
