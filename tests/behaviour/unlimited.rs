//! Calls with unlimited attempts: they end only by success, by an error that must not be retried, by their deadline, or by
//! being cancelled or dropped.

#![allow(clippy::float_cmp, reason = "halves of tokens are exact")]

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use reattempt::{
    Attempt, Budget, Error, Jitter, Outcome, Policy, Retryable, deadline, propagate, retry,
    with_report,
};
use tokio::time::{Instant, sleep, timeout};

use crate::script::ms;

/// An upstream that fails each request, and may ask for a delay.
struct Upstream {
    began: Instant,
    asked: Mutex<Vec<Duration>>,
    hint: Option<Duration>,
}

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error("503")]
    #[retryable(transient, after = "wait")]
    Unavailable { wait: Option<Duration> },
    #[error("400")]
    #[retryable(permanent)]
    Wrong,
}

impl Upstream {
    fn new(hint: Option<Duration>) -> Self {
        Self {
            began: Instant::now(),
            asked: Mutex::default(),
            hint,
        }
    }

    fn answer(&self) -> Result<(), Failure> {
        self.asked.lock().unwrap().push(self.began.elapsed());
        Err(Failure::Unavailable { wait: self.hint })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// How long it waited before each retry.
    fn waits(&self) -> Vec<Duration> {
        let asked = self.asked.lock().unwrap();
        asked
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect()
    }
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
/// Less than ten minutes, so that the tenth wait is not over.
const TEN: Duration = Duration::from_secs(599);

const RELAY: Policy = Policy::new()
    .with_unlimited_attempts()
    .with_max_delay(MINUTE)
    .with_jitter(Jitter::None);

#[retry(policy = RELAY)]
async fn relay(upstream: &Upstream) -> Result<(), Error<Failure>> {
    upstream.answer().map_err(Error::Failed)
}

#[tokio::test(start_paused = true)]
async fn a_hint_above_max_retry_after_counts_as_that() {
    #[retry(policy = RELAY, retry_after = |_| Some(2 * MINUTE))]
    async fn told(upstream: &Upstream) -> Result<(), Error<Failure>> {
        upstream.answer().map_err(Error::Failed)
    }
    let upstream = Upstream::new(Some(2 * MINUTE));
    // As every consumer calls it.
    let consumer = async { while relay(&upstream).await.is_err() {} };
    assert!(timeout(TEN, consumer).await.is_err());
    assert_eq!(upstream.asked(), 10);
    assert!(upstream.waits().iter().all(|wait| *wait == MINUTE));

    let upstream = Upstream::new(None);
    assert!(timeout(TEN, told(&upstream)).await.is_err());
    assert_eq!(upstream.asked(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_longest_delay_has_its_jitter_and_a_list_its_last_delay() {
    #[retry(attempts = "unlimited", max_delay = "1m", budget = budget)]
    async fn full(upstream: &Upstream, budget: &Budget) -> Result<(), Failure> {
        upstream.answer()
    }
    #[retry(delays = ["1s", "30s"], attempts = "unlimited", budget = budget)]
    async fn listed(upstream: &Upstream, budget: &Budget) -> Result<(), Failure> {
        upstream.answer()
    }
    let empty = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    let upstream = Upstream::new(None);
    assert!(
        timeout(100 * MINUTE, full(&upstream, &empty))
            .await
            .is_err()
    );
    let waits = upstream.waits();
    assert!((120..400).contains(&waits.len()), "{}", waits.len());
    assert!(waits.iter().all(|wait| *wait <= MINUTE + ms(1)));
    assert!(waits.iter().any(|wait| *wait > 50 * SECOND));
    let upstream = Upstream::new(None);
    assert!(timeout(TEN, listed(&upstream, &empty)).await.is_err());
    assert!(upstream.waits().iter().all(|wait| *wait == 30 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_refuses_makes_it_wait_and_is_asked_again() {
    #[retry(policy = RELAY, budget = budget)]
    async fn paid(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        upstream.answer().map_err(Error::Failed)
    }
    // It pays for three retries, and then for one in two minutes.
    let budget = Budget::aws().with_capacity(3).with_retry_cost(1);
    let budget = budget.with_refill(1.0 / 120.0);
    let upstream = Upstream::new(None);
    let call = with_report(paid(&upstream, &budget));
    assert!(timeout(TEN, call).await.is_err());
    let waits = upstream.waits();
    assert_eq!(waits[..3], [ms(100), ms(200), ms(400)]);
    assert!(waits[3..5].iter().all(|wait| *wait == MINUTE), "{waits:?}");
    assert!(waits.len() <= 20, "{waits:?}");
    // What came without a permit earns nothing.
    assert!(budget.level() < 1.5, "{}", budget.level());
}

/// Where it may ask for attempts without a permit, the budget has lost nothing, and gets nothing for them.
#[tokio::test(start_paused = true)]
async fn a_retry_without_a_permit_earns_nothing() {
    #[retry(policy = RELAY, budget = budget)]
    async fn once(fails: &Mutex<u32>, budget: &Budget) -> Result<(), Error<Failure>> {
        let mut fails = fails.lock().unwrap();
        *fails -= 1;
        if *fails == 0 {
            return Ok(());
        }
        Err(Error::Failed(Failure::Unavailable { wait: None }))
    }
    let budget = Budget::aws().with_capacity(13);
    once(&Mutex::new(4), &budget).await.unwrap();
    assert_eq!(budget.level(), 13.0);
    let drained = Budget::ratio(0.5).with_retry_cost(4).with_capacity(3);
    once(&Mutex::new(4), &drained).await.unwrap();
    assert_eq!(drained.level(), 1.5, "the share of the call");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_an_inner_call_makes_it_wait() {
    #[retry(attempts = 3, nested = "multiply", budget = budget)]
    async fn inner(upstream: &Upstream, budget: &Budget) -> Result<(), Failure> {
        upstream.answer()
    }
    #[retry(policy = RELAY)]
    async fn outer(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        inner(upstream, budget).await.map_err(Error::Failed)
    }
    // Its budget, and then its longest hint.
    let empty = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    for (hint, budget) in [(None, &empty), (Some(2 * MINUTE), &Budget::new())] {
        let upstream = Upstream::new(hint);
        let call = outer(&upstream, budget);
        assert!(timeout(TEN, call).await.is_err());
        assert_eq!(upstream.asked(), 10, "{hint:?}");
        assert!(upstream.waits().iter().all(|wait| *wait == MINUTE));
    }
    // In a task of a later attempt, it makes one attempt.
    #[retry(attempts = 2, base = "0s")]
    async fn outermost(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        match Attempt::current().unwrap().number() {
            1 => upstream.answer().map_err(Error::Failed),
            _ => propagate(outer(upstream, budget)).await,
        }
    }
    let upstream = Upstream::new(None);
    let call = timeout(TEN, outermost(&upstream, &empty));
    call.await.unwrap().unwrap_err();
    assert_eq!(upstream.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_before_does_not_count_for_the_next_attempt() {
    #[retry(attempts = 2, budget = budget)]
    async fn inner(upstream: &Upstream, budget: &Budget) -> Result<(), Failure> {
        upstream.answer()
    }
    #[retry(policy = RELAY)]
    async fn outer(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        if upstream.asked() == 0 {
            inner(upstream, budget).await.map_err(Error::Failed)
        } else {
            upstream.answer().map_err(Error::Failed)
        }
    }
    let empty = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    let upstream = Upstream::new(None);
    assert!(timeout(2 * MINUTE, outer(&upstream, &empty)).await.is_err());
    assert_eq!(upstream.waits()[..3], [MINUTE, ms(200), ms(400)]);
}

#[tokio::test(start_paused = true)]
async fn it_ends_by_its_deadline_by_cancel_and_by_what_must_not_be_retried() {
    #[retry(policy = RELAY, deadline = "5m", budget = budget)]
    async fn timed(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        upstream.answer().map_err(Error::Failed)
    }
    #[retry(policy = RELAY, cancel = sleep(5 * MINUTE), budget = budget)]
    async fn cancelled(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        upstream.answer().map_err(Error::Failed)
    }
    #[retry(policy = RELAY, budget = budget)]
    async fn wrong(budget: &Budget) -> Result<(), Error<Failure>> {
        let _ = budget;
        Err(Error::Failed(Failure::Wrong))
    }
    /// That a call inside was cancelled is no refusal to wait for.
    #[retry(policy = RELAY, when = |_| true)]
    async fn around(upstream: &Upstream, budget: &Budget) -> Result<(), Error<Failure>> {
        cancelled(upstream, budget).await
    }
    let empty = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    let upstream = Upstream::new(Some(2 * MINUTE));
    let (_, report) = with_report(timed(&upstream, &empty)).await;
    assert_eq!(report.unwrap().outcome(), Outcome::Deadline);
    let (_, report) = with_report(cancelled(&upstream, &empty)).await;
    assert_eq!(report.unwrap().outcome(), Outcome::Cancelled);
    let (_, report) = with_report(wrong(&empty)).await;
    assert_eq!(report.unwrap().outcome(), Outcome::NotRetryable);
    let (_, report) = with_report(around(&upstream, &empty)).await;
    assert_eq!(report.unwrap().outcome(), Outcome::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_run_and_a_blocking_function_wait_too() {
    #[retry(blocking, policy = SHORT, budget = budget)]
    fn blocks(tries: &Mutex<Vec<std::time::Instant>>, budget: &Budget) -> io::Result<()> {
        let mut tries = tries.lock().unwrap();
        tries.push(std::time::Instant::now());
        if tries.len() == 4 {
            return Ok(());
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    const SHORT: Policy = RELAY.with_max_delay(ms(20)).with_base(ms(1));

    let empty = Budget::ratio(0.0).with_capacity(1).with_retry_cost(2);
    let upstream = Upstream::new(None);
    let run = RELAY.without_limits().run(async || upstream.answer());
    let run = run.with_budget(&empty);
    assert!(timeout(TEN, run.unboxed()).await.is_err());
    assert_eq!(upstream.asked(), 10);
    let tries = Mutex::default();
    std::thread::scope(|scope| scope.spawn(|| blocks(&tries, &empty).unwrap()).join()).unwrap();
    let tries = tries.into_inner().unwrap();
    assert_eq!(tries.len(), 4);
    assert!(tries[3] - tries[0] >= 3 * ms(20));
}

/// Calls that share a deadline would otherwise crowd just before it, at a service that is already down.
#[tokio::test(start_paused = true)]
async fn calls_with_one_deadline_do_not_crowd_before_it() {
    const CALLS: u32 = 400;
    #[retry(attempts = "unlimited", jitter = jitter)]
    async fn ask(upstream: &Upstream, jitter: Jitter) -> Result<(), Failure> {
        upstream.answer()
    }
    for jitter in [
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::Around(20),
    ] {
        let (mut late, mut begun, mut last) = (0, 0, Duration::ZERO);
        for _ in 0..CALLS {
            let upstream = Upstream::new(None);
            let call = deadline::scope(SECOND * 10, ask(&upstream, jitter));
            call.await.unwrap_err();
            let asked = upstream.asked.lock().unwrap();
            begun += asked.len();
            last += *asked.last().expect("it began");
            late += asked.iter().filter(|at| **at > ms(9_800)).count();
        }
        println!(
            "{jitter}: {begun} attempts, {late} of them late, the last at {:?}",
            last / CALLS
        );
        assert!(late <= CALLS as usize / 5, "{jitter}: {late} of {begun}");
    }
}
