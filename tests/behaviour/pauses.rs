//! One pause for all calls that share a budget, after the hint of a server to one of them.

use std::cell::{Cell, RefCell};
use std::future::{pending, ready};
use std::time::Duration;

use futures::future::{join, join_all};
use reattempt::types::HedgeOutcome;
use reattempt::{
    Attempt, Budget, Budgets, Outcome, Policy, Retryable, Stopped, Verdict, deadline, retry,
    with_report,
};
use tokio::time::{Instant, sleep, timeout};

use crate::events::{Log, assert_line};
use crate::script::ms;

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("busy")]
    #[retryable(throttled, after = "wait")]
    Busy { wait: Duration },
    #[error("reset")]
    #[retryable(transient)]
    Reset,
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped),
}

impl Failure {
    fn stopped(&self) -> Option<&Stopped> {
        match self {
            Self::Stopped(stopped) => Some(stopped),
            _ => None,
        }
    }
}

/// Records when each attempt began.
struct Server {
    began: Instant,
    asked: RefCell<Vec<Duration>>,
    budget: Budget,
}

impl Server {
    fn new(budget: Budget) -> Self {
        Self {
            began: Instant::now(),
            asked: RefCell::default(),
            budget,
        }
    }

    /// A server that has just asked one call to wait.
    async fn paused_for(hint: u64) -> Self {
        let server = Self::new(Budget::new().with_pause());
        server.told(ms(0), ms(hint)).await.unwrap_err();
        server
    }

    fn ask(&self) {
        self.asked.borrow_mut().push(self.began.elapsed());
    }

    fn asked(&self) -> Vec<Duration> {
        self.asked.take()
    }

    /// Is asked to wait, `after` this time.
    #[retry(attempts = 1, budget = self.budget)]
    async fn told(&self, after: Duration, wait: Duration) -> Result<(), Failure> {
        sleep(after).await;
        Err(Failure::Busy { wait })
    }

    #[retry(base = "1s", budget = self.budget)]
    async fn read(&self) -> Result<(), Failure> {
        self.ask();
        Ok(())
    }

    #[retry(timeout = "10s", budget = self.budget)]
    async fn read_limited(&self) -> Result<(), Failure> {
        self.ask();
        Ok(())
    }

    /// The same with a deadline, and with an exact delay.
    #[retry(base = "100ms", jitter = "none", deadline = "1s", budget = self.budget)]
    async fn read_soon(&self) -> Result<(), Failure> {
        self.ask();
        Ok(())
    }
}

/// A function with the budget of the server. Each attempt asks the server, and does then what follows.
macro_rules! asks {
    ($name:ident($($keys:tt)*) $then:expr) => {
        #[retry(budget = server.budget, $($keys)*)]
        async fn $name(server: &Server) -> Result<(), Failure> {
            server.ask();
            $then
        }
    };
}

/// Fails in the first attempt of a call, after this time.
async fn first_resets(after: Duration) -> Result<(), Failure> {
    match Attempt::current().map(|attempt| attempt.number()) {
        Some(1) => {
            sleep(after).await;
            Err(Failure::Reset)
        }
        _ => Ok(()),
    }
}

#[tokio::test(start_paused = true)]
async fn one_hint_stops_all_calls_and_they_come_back_spread() {
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(1_000), ms(2_000));
    let calls = (0..100).map(|call| {
        let server = &server;
        async move {
            // Off the millisecond of the hint.
            sleep(ms(100) * call + ms(50)).await;
            server.read().await
        }
    });
    let (told, read) = join(told, join_all(calls)).await;
    told.unwrap_err();
    assert!(read.iter().all(Result::is_ok));
    let mut asked = server.asked();
    asked.sort();
    assert_eq!(asked.len(), 100);
    let within = |from, to| {
        asked
            .iter()
            .filter(|at| (ms(from)..ms(to)).contains(*at))
            .count()
    };
    assert_eq!(within(0, 1_000), 10);
    assert_eq!(within(1_000, 3_000), 0, "{asked:?}");
    // Twenty calls began in the pause. They come over a second, among ten that begin in it.
    let (first, second) = (within(3_000, 3_500), within(3_500, 4_001));
    assert_eq!(first + second, 30, "{asked:?}");
    assert!(first > 5 && second > 5, "{first} and {second}: {asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shorter_hint_later_does_not_end_the_pause_and_a_later_end_prolongs_it() {
    for (hint, end) in [(100, 2_000), (1_000, 2_000), (4_000, 4_500)] {
        let server = Server::new(Budget::new().with_pause());
        // The later hint is for a call that began before the pause.
        let told = join(
            server.told(ms(500), ms(hint)),
            server.told(ms(0), ms(2_000)),
        );
        let read = async {
            sleep(ms(1)).await;
            server.read().await
        };
        let (_, read) = join(told, read).await;
        read.unwrap();
        // The first wait ends up to a second after the first pause.
        let [asked] = server.asked()[..] else {
            panic!()
        };
        assert!(
            (ms(end)..=ms(end + 1_000)).contains(&asked),
            "{hint}: {asked:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_does_not_end_the_pause() {
    #[retry(budget = budget)]
    async fn slow(budget: &Budget) -> Result<(), Failure> {
        sleep(ms(500)).await;
        Ok(())
    }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(100), ms(2_000));
    let (slow, _) = join(slow(&server.budget), told).await;
    slow.unwrap();
    server.read().await.unwrap();
    assert!(server.asked()[0] >= ms(2_100));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_the_pause_does_not_fit_ends_the_call_at_once() {
    let server = Server::paused_for(2_000).await;
    let (result, report) = with_report(server.read_soon()).await;
    assert!(
        server.began.elapsed() <= ms(1),
        "{:?}",
        server.began.elapsed()
    );
    assert_eq!(server.asked(), []);
    let error = result.unwrap_err();
    let stopped = error.stopped().expect("no attempt failed");
    assert_eq!(stopped.outcome(), Outcome::Paused);
    assert_eq!((stopped.attempts(), stopped.limit()), (0, Some(ms(1_000))));
    assert_eq!(
        stopped.to_string(),
        "the budget is paused beyond the deadline of 1s (0 attempts, 0ns)"
    );
    let report = report.expect("the call ended");
    assert_eq!((report.outcome(), report.attempts()), (Outcome::Paused, 0));
    assert_eq!((report.waited(), report.verdict()), (ms(0), None));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_the_pause_fits_counts_it() {
    let server = Server::paused_for(500).await;
    let (result, report) = with_report(server.read_soon()).await;
    result.unwrap();
    assert_eq!(server.asked(), [ms(500)]);
    let report = report.expect("the call ended");
    assert_eq!((report.attempts(), report.waited()), (1, ms(500)));
    assert_eq!(
        (report.outcome(), report.elapsed()),
        (Outcome::Success, ms(500))
    );
}

#[tokio::test(start_paused = true)]
async fn an_inherited_deadline_ends_a_call_in_a_pause_and_the_call_around_it() {
    #[retry(deadline = "1s", attempts = 5)]
    async fn outer(server: &Server) -> Result<(), Failure> {
        server.ask();
        server.read_limited().await
    }
    let server = Server::paused_for(2_000).await;
    let (result, report) = with_report(outer(&server)).await;
    let error = result.unwrap_err();
    assert_eq!(error.stopped().map(Stopped::outcome), Some(Outcome::Paused));
    assert_eq!(
        report.map(|report| report.outcome()),
        Some(Outcome::Deadline)
    );
    assert_eq!(server.asked(), [ms(0)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_no_longer_than_its_own_longest_hint() {
    asks! { read(base = "100ms", jitter = "none", max_retry_after = "300ms") Ok(()) }
    let server = Server::paused_for(2_000).await;
    read(&server).await.unwrap();
    assert_eq!(server.asked(), [ms(300)]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_above_the_longest_one_begins_no_pause() {
    let server = Server::paused_for(60_001).await;
    server.read().await.unwrap();
    assert_eq!(server.asked(), [ms(0)]);
}

#[tokio::test(start_paused = true)]
async fn a_budget_without_the_setting_is_never_in_a_pause() {
    let server = Server::new(Budget::new());
    server.told(ms(0), ms(2_000)).await.unwrap_err();
    server.read().await.unwrap();
    assert_eq!(server.asked(), [ms(0)]);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_that_is_told_to_wait_does_not_stop_another() {
    static TENANTS: Budgets<u32> = Budgets::new(Budget::new().with_pause());
    #[retry(attempts = 1, budget = TENANTS.of(&tenant))]
    async fn read(tenant: u32, wait: Option<Duration>) -> Result<Instant, Failure> {
        let now = Instant::now();
        wait.map_or(Ok(now), |wait| Err(Failure::Busy { wait }))
    }
    let began = Instant::now();
    read(1, Some(ms(2_000))).await.unwrap_err();
    assert_eq!(read(2, None).await.unwrap() - began, ms(0));
    assert!(read(1, None).await.unwrap() - began >= ms(2_000));
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_for_the_pause_after_its_own_delay() {
    asks! { reset_once(base = "100ms", jitter = "none", deadline = "5s") first_resets(ms(50)).await }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(20), ms(2_000));
    let ((reset, report), _) = join(with_report(reset_once(&server)), told).await;
    reset.unwrap();
    // After 50 ms it waits 100 ms, and then until the end of the pause.
    assert_eq!(server.asked(), [ms(0), ms(2_020)]);
    assert_eq!(report.map(|report| report.waited()), Some(ms(1_970)));
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_the_pause_stops_ends_with_its_own_error_and_gives_its_permit_back() {
    #[retry(base = "100ms", jitter = "none", deadline = "1s", budget = server.budget)]
    async fn reset(server: &Server) -> Result<(), Failure> {
        server.ask();
        sleep(ms(50)).await;
        Err(Failure::Reset)
    }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(20), ms(2_000));
    let ((result, report), _) = join(with_report(reset(&server)), told).await;
    assert!(matches!(result, Err(Failure::Reset)), "{result:?}");
    let report = report.expect("the call ended");
    assert_eq!((report.outcome(), report.attempts()), (Outcome::Paused, 1));
    assert_eq!(server.began.elapsed(), ms(150));
    assert!((server.budget.level() - 200.0).abs() < f64::EPSILON);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_in_a_pause_made_no_attempt() {
    let server = Server::paused_for(2_000).await;
    let (dropped, report) = with_report(timeout(ms(1_000), server.read())).await;
    dropped.unwrap_err();
    let report = report.expect("the call was dropped");
    assert_eq!((report.outcome(), report.attempts()), (Outcome::Dropped, 0));
    assert_eq!(report.waited(), ms(1_000));
    assert_eq!(server.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_the_end_of_a_pause_is_logged() {
    let server = Server::paused_for(500).await;
    let log = Log::listen();
    server.read_soon().await.unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let pause = "the budget is in a pause, waiting";
    assert_line(&lines[0], "DEBUG", &[pause, "read_soon", "delay_ms=500.0"]);
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_a_call_in_a_pause() {
    asks! { read(cancel = sleep(ms(700))) Ok(()) }
    let server = Server::paused_for(2_000).await;
    let error = read(&server).await.unwrap_err();
    let stopped = error.stopped().expect("cancelled");
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Cancelled, 0)
    );
    assert_eq!(server.began.elapsed(), ms(700));
    assert_eq!(server.asked(), []);
}

/// It needs no time, so it does not matter that the pause leaves none.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_already_is_cancelled_and_not_paused() {
    asks! { cut(deadline = "1s", cancel = ready(())) Ok(()) }
    asks! { waits(deadline = "1s", cancel_waits = ready(())) Ok(()) }
    let server = Server::paused_for(2_000).await;
    let policy = Policy::new().with_deadline(ms(1_000));
    let run = policy
        .run(async || {
            server.ask();
            Ok::<_, Failure>(())
        })
        .with_budget(&server.budget)
        .with_cancel(ready(()));
    let ended = [
        cut(&server).await,
        waits(&server).await,
        run.unboxed().await,
    ];
    for error in ended.map(Result::unwrap_err) {
        let stopped = error.stopped().expect("no attempt failed");
        assert_eq!(
            (stopped.outcome(), stopped.attempts()),
            (Outcome::Cancelled, 0)
        );
    }
    assert_eq!(server.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_the_first_attempt_begins_after_the_pause() {
    #[retry(base = "0s", idempotent = false, timeout = "300ms", budget = server.budget)]
    async fn hang(server: &Server) -> Result<(), Failure> {
        server.ask();
        let remaining = Attempt::current().and_then(|attempt| attempt.remaining());
        assert_eq!(remaining, Some(ms(300)));
        pending().await
    }
    let server = Server::paused_for(2_000).await;
    let error = hang(&server).await.unwrap_err();
    assert_eq!(
        error.stopped().map(Stopped::outcome),
        Some(Outcome::Timeout)
    );
    assert_eq!(server.asked(), [ms(2_000)]);
    assert_eq!(server.began.elapsed(), ms(2_300));
}

#[tokio::test(start_paused = true)]
async fn before_retry_runs_after_the_pause() {
    #[retry(base = "100ms", jitter = "none", before_retry = async || server.ask(), budget = server.budget)]
    async fn reset_once(server: &Server) -> Result<(), Failure> {
        first_resets(ms(50)).await
    }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(20), ms(2_000));
    let (reset, _) = join(reset_once(&server), told).await;
    reset.unwrap();
    assert_eq!(server.asked(), [ms(2_020)]);
}

#[tokio::test(start_paused = true)]
async fn a_run_takes_part_in_the_pause() {
    const SOON: Policy = Policy::new()
        .with_base(ms(100))
        .with_jitter(reattempt::Jitter::None);
    let server = Server::paused_for(2_000).await;
    let read = async |server: &Server, policy: Policy| {
        let run = policy.run(async || {
            server.ask();
            Ok::<_, Failure>(())
        });
        run.with_budget(&server.budget).unboxed().await
    };
    read(&server, SOON).await.unwrap();
    assert_eq!(server.asked(), [ms(2_000)]);
    let server = Server::paused_for(2_000).await;
    let short = SOON.with_deadline(ms(1_000));
    let error = read(&server, short).await.unwrap_err();
    assert_eq!(error.stopped().map(Stopped::outcome), Some(Outcome::Paused));
    assert_eq!(server.began.elapsed(), ms(0));
}

#[test]
fn a_blocking_call_waits_for_the_pause() {
    #[retry(blocking, attempts = 1, budget = budget)]
    fn told(budget: &Budget, wait: u64) -> Result<(), Failure> {
        Err(Failure::Busy { wait: ms(wait) })
    }
    #[retry(blocking, base = "0s", budget = budget)]
    fn read(budget: &Budget) -> Result<std::time::Instant, Failure> {
        Ok(std::time::Instant::now())
    }
    #[retry(blocking, budget = budget, cancel_waits = ready(()))]
    fn cancelled(budget: &Budget) -> Result<(), Failure> {
        Ok(())
    }
    let budget = Budget::new().with_pause();
    let began = std::time::Instant::now();
    told(&budget, 60).unwrap_err();
    assert!(read(&budget).unwrap() - began >= ms(60));
    assert!(read(&budget).unwrap() - began >= ms(60));
    told(&budget, 20_000).unwrap_err();
    let ended = cancelled(&budget).unwrap_err();
    assert_eq!(ended.stopped().map(Stopped::attempts), Some(0));
    assert!(began.elapsed() < ms(15_000));
}

/// The clock of a runtime that is paused stands still while a thread sleeps.
#[tokio::test(start_paused = true)]
async fn a_blocking_call_waits_for_the_pause_once_although_the_clock_stands_still() {
    #[retry(blocking, attempts = 1, budget = budget)]
    fn told(budget: &Budget) -> Result<(), Failure> {
        Err(Failure::Busy { wait: ms(60) })
    }
    #[retry(blocking, base = "0s", budget = budget)]
    fn read(budget: &Budget) -> Result<(), Failure> {
        Ok(())
    }
    let budget = Budget::new().with_pause();
    told(&budget).unwrap_err();
    let (read, report) = with_report(async { read(&budget) }).await;
    read.unwrap();
    assert_eq!(report.map(|report| report.waited()), Some(ms(60)));
}

/// A busy runtime wakes it long after the deadline.
#[tokio::test(start_paused = true)]
async fn no_attempt_begins_after_a_pause_that_ended_after_the_deadline() {
    let server = Server::paused_for(500).await;
    let mut call = Box::pin(server.read_soon());
    assert!(futures::poll!(&mut call).is_pending());
    tokio::time::advance(ms(2_000)).await;
    let error = call.await.unwrap_err();
    let stopped = error.stopped().expect("no attempt failed");
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Deadline, 0)
    );
    assert_eq!(server.asked(), []);
}

/// A pause is no delay of the call.
#[tokio::test(start_paused = true)]
async fn decorrelated_delays_do_not_grow_from_a_pause() {
    asks! { reset_once(base = "10ms", jitter = "decorrelated") first_resets(ms(0)).await }
    for _ in 0..20 {
        let server = Server::paused_for(10_000).await;
        reset_once(&server).await.unwrap();
        let asked = server.asked();
        // At most three times the base, and a step of the timer.
        assert!(asked[1] <= asked[0] + ms(31), "{asked:?}");
    }
}

/// An attempt under way is not held up by the hint that the one beside it got.
#[tokio::test(start_paused = true)]
async fn a_pause_does_not_hold_up_an_attempt_that_has_begun() {
    #[retry(attempts = 3, hedge = "100ms", timeout = "1m", budget = budget)]
    async fn first_is_busy(attempts: &Cell<u32>, budget: &Budget) -> Result<u32, Failure> {
        attempts.set(attempts.get() + 1);
        let nth = attempts.get();
        sleep(ms(200)).await;
        match nth {
            1 => Err(Failure::Busy { wait: ms(1_000) }),
            _ => Ok(nth),
        }
    }
    let (attempts, budget) = (Cell::new(0), Budget::new().with_pause());
    let began = Instant::now();
    assert_eq!(first_is_busy(&attempts, &budget).await.unwrap(), 2);
    assert_eq!(began.elapsed(), ms(300));
}

/// A hedge is an attempt, and none begins in a pause.
#[tokio::test(start_paused = true)]
async fn no_hedge_begins_in_a_pause() {
    #[retry(hedge = "50ms", budget = server.budget)]
    async fn slow(server: &Server) -> Result<(), Failure> {
        server.ask();
        sleep(ms(200)).await;
        Ok(())
    }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(10), ms(2_000));
    let ((slow, report), _) = join(with_report(slow(&server)), told).await;
    slow.unwrap();
    assert_eq!(server.asked(), [ms(0)]);
    let hedge = report.and_then(|report| report.hedge());
    assert_eq!(hedge, Some(HedgeOutcome::Refused));
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_begins_in_before_retry_holds_the_attempt_up() {
    asks! { reset_once(base = "0s", before_retry = sleep(ms(100))) first_resets(ms(0)).await }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(40), ms(2_000));
    let ((reset, report), _) = join(with_report(reset_once(&server)), told).await;
    reset.unwrap();
    assert_eq!(server.asked(), [ms(0), ms(2_040)]);
    assert_eq!(report.map(|report| report.waited()), Some(ms(1_940)));
}

#[tokio::test(start_paused = true)]
async fn before_retry_does_not_make_a_call_wait_twice_in_a_pause() {
    asks! { reset_once(base = "0s", max_retry_after = "1s", before_retry = async {}) first_resets(ms(100)).await }
    let server = Server::new(Budget::new().with_pause());
    let told = server.told(ms(40), ms(5_000));
    let (reset, _) = join(reset_once(&server), told).await;
    reset.unwrap();
    assert_eq!(server.asked(), [ms(0), ms(1_100)]);
}

/// The spread at the end of the pause adds at most a quarter.
#[tokio::test(start_paused = true)]
async fn no_call_follows_a_pause_longer_than_its_max_retry_after() {
    asks! { retries(base = "10s", max_retry_after = "1s") Ok(()) }
    // The keys of delays have this meaning for a call with one attempt too.
    asks! { once(attempts = 1, base = "10s", max_retry_after = "1s") Ok(()) }
    for pause in [300, 2_000] {
        let mut longest = ms(0);
        for _ in 0..50 {
            let server = Server::paused_for(pause).await;
            retries(&server).await.unwrap();
            let [asked] = server.asked()[..] else {
                panic!()
            };
            let shortest = ms(pause.min(1_000));
            assert!((shortest..=ms(1_250)).contains(&asked), "{asked:?}");
            longest = longest.max(asked);

            let server = Server::paused_for(pause).await;
            once(&server).await.unwrap();
            assert!(server.asked()[0] <= ms(1_250));
        }
        // After a pause of 300 ms, fifty draws are all below this by chance once in four million runs.
        assert!(longest > ms(1_000), "{pause}: {longest:?}");
    }
}

/// No error could say that the pause does not fit the deadline of the scope.
#[tokio::test(start_paused = true)]
async fn without_limits_an_attempt_begins_in_a_pause_when_the_deadline_around_is_reached() {
    let server = Server::paused_for(5_000).await;
    let (began, at) = (Instant::now(), Cell::new(None));
    let run = Policy::new().without_limits().run(async || {
        at.set(Some(began.elapsed()));
        Err::<(), _>("no")
    });
    let run = run
        .verdict(|_| Verdict::Unknown)
        .when(|_| true)
        .with_budget(&server.budget)
        .unboxed();
    assert_eq!(deadline::scope(ms(100), run).await, Err("no"));
    assert_eq!(at.get(), Some(ms(100)));
}

/// The attempt could do nothing but send a request whose answer no one reads.
#[tokio::test(start_paused = true)]
async fn without_limits_no_attempt_begins_in_a_pause_if_the_deadline_around_ends_an_outer_call() {
    #[retry(deadline = "100ms")]
    async fn limited(server: &Server) -> Result<(), Failure> {
        server.read().await
    }
    let server = Server::paused_for(5_000).await;
    let began = Instant::now();
    let (ended, report) = with_report(limited(&server)).await;
    let stopped = ended.unwrap_err();
    let outcome = stopped.stopped().map(Stopped::outcome);
    assert_eq!(outcome, Some(Outcome::Deadline));
    assert_eq!(report.map(|report| report.attempts()), Some(1));
    assert_eq!(began.elapsed(), ms(100));
    assert_eq!(server.asked(), []);
}
