//! How many retries a budget allows while a service is down, at any rate of calls, and which calls it spares.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use reattempt::{Attempt, Budget, Policy, Retryable, Verdict, retry};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, interval, sleep, timeout};

use crate::script::{RESET, Script, Step, ms};

/// A service that is down, and refuses each request after 5 ms.
#[derive(Default)]
struct Down {
    under_way: Cell<u32>,
    /// How many calls were under way when the first one failed.
    had_begun: Cell<Option<u32>>,
    requests: Cell<u32>,
}

impl Down {
    async fn refuse(&self) -> io::Result<()> {
        self.requests.set(self.requests.get() + 1);
        sleep(ms(5)).await;
        let had_begun = self.had_begun.get().unwrap_or(self.under_way.get());
        self.had_begun.set(Some(had_begun));
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    /// Makes `calls` calls, `at_once` of them in each `interval`. Returns the retries.
    async fn retries<F: Future>(
        &self,
        calls: u32,
        at_once: u32,
        interval: Duration,
        call: impl Fn() -> F,
    ) -> u32 {
        join_all((0..calls).map(|number| {
            let call = call();
            async move {
                sleep(interval * (number / at_once)).await;
                self.under_way.set(self.under_way.get() + 1);
                call.await;
                self.under_way.set(self.under_way.get() - 1);
            }
        }))
        .await;
        self.requests.get() - calls
    }
}

/// In ten seconds, a budget of 200 tokens gets 20 more. These pay for 110 retries. Only calls that had begun before the first
/// failure add to that: at most three retries each, because they make four attempts.
#[tokio::test(start_paused = true)]
async fn an_outage_has_110_retries_in_ten_seconds_at_any_rate_and_three_of_each_call_under_way() {
    #[retry(attempts = 4, on = "io::Error", budget = budget)]
    async fn unlimited(budget: &Budget, service: &Down) -> io::Result<()> {
        service.refuse().await
    }
    #[retry(attempts = 4, on = "io::Error", budget = budget, timeout = "1s")]
    async fn limited(budget: &Budget, service: &Down) -> io::Result<()> {
        service.refuse().await
    }
    #[retry(attempts = 4, on = "io::Error", budget = budget, on_end = |_| {})]
    async fn heard(budget: &Budget, service: &Down) -> io::Result<()> {
        service.refuse().await
    }
    for (a_second, at_once, interval) in [(200, 1, 5), (2_000, 2, 1), (20_000, 20, 1)] {
        // At the highest rate, three seconds show as much.
        let (calls, interval) = ((10 * a_second).min(60_000), ms(interval));
        let [a, b, c] = [(); 3].map(|()| (Budget::new(), Down::default()));
        let retries = [
            a.1.retries(calls, at_once, interval, || unlimited(&a.0, &a.1))
                .await,
            b.1.retries(calls, at_once, interval, || limited(&b.0, &b.1))
                .await,
            c.1.retries(calls, at_once, interval, || heard(&c.0, &c.1))
                .await,
        ];
        for (retries, (_, service)) in retries.into_iter().zip([a, b, c]) {
            let most = 110 + 3 * service.had_begun.get().unwrap();
            assert!(
                (100..=most).contains(&retries),
                "{a_second} calls a second: {retries}"
            );
        }
    }
}

/// One call is under way when the outage begins.
#[tokio::test(start_paused = true)]
async fn a_thousand_calls_one_after_the_other_have_the_retries_of_the_tokens() {
    #[retry(attempts = 4, base = "1ms", on = "io::Error")]
    async fn call(service: &Down) -> io::Result<()> {
        service.refuse().await
    }
    let (service, began) = (Down::default(), Instant::now());
    for _ in 0..1_000 {
        call(&service).await.unwrap_err();
    }
    let refilled = u32::try_from(began.elapsed().as_secs()).unwrap() + 1;
    let retries = service.requests.get() - 1_000;
    assert!((100..=100 + refilled + 3).contains(&retries), "{retries}");
}

/// Bursts that are so far apart that all tokens come back between them, for as long as no call succeeds. Only the first
/// burst may be a first wave, with five free retries for each call.
#[tokio::test(start_paused = true)]
async fn bursts_into_an_outage_have_one_first_wave() {
    #[retry(attempts = attempts, base = "1ms", on = "io::Error", budget = budget)]
    async fn call(attempts: u32, budget: &Budget, service: &Down) -> io::Result<()> {
        service.refuse().await
    }
    #[rustfmt::skip]
    let cases = [
        (Budget::new(), 10, 1_000, 100, 200),
        (Budget::new().with_capacity(14).with_refill(0.5), 5, 100, 100, 14),
        (Budget::new().with_capacity(4).with_refill(4.0), 5, 100, 3, 12),
    ];
    for (budget, attempts, at_once, seconds, tokens_in_each) in cases {
        let (service, bursts) = (Down::default(), 10);
        let call = || call(attempts, &budget, &service);
        let interval = ms(1_000 * seconds);
        let retries = service
            .retries(at_once * bursts, at_once, interval, call)
            .await;
        let most = 5 * at_once + (tokens_in_each / 2 + 2) * bursts;
        assert!(retries <= most, "{budget:?}: {retries}, not {most}");
    }
}

/// All calls that fail began before the first failure, up to 0.9 s before it.
#[tokio::test(start_paused = true)]
async fn a_client_with_a_timeout_of_its_own_loses_no_call_while_its_server_freezes() {
    async fn request(thaws: Instant) -> io::Result<()> {
        if Instant::now() < thaws {
            sleep(ms(1_000)).await;
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
    #[retry(attempts = 4, on = "io::Error")]
    async fn unlimited(thaws: Instant) -> io::Result<()> {
        request(thaws).await
    }
    #[retry(attempts = 4, on = "io::Error", on_end = |_| {})]
    async fn heard(thaws: Instant) -> io::Result<()> {
        request(thaws).await
    }
    let thaws = Instant::now() + ms(1_900);
    let call = |number: u64| async move {
        sleep(ms(number)).await;
        futures::join!(unlimited(thaws), heard(thaws))
    };
    let ended = join_all((0..4_000).map(call)).await;
    let lost = ended
        .iter()
        .filter(|(unlimited, heard)| unlimited.is_err() || heard.is_err());
    assert_eq!(lost.count(), 0);
}

/// A success ends the fault when all tokens are back, so a later outage has a first wave of its own.
#[tokio::test(start_paused = true)]
async fn a_success_ends_a_fault_once_all_tokens_are_back() {
    #[retry(attempts = 2, base = "1ms", budget = budget)]
    async fn call(budget: &Budget, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let budget = Budget::new().with_capacity(20);
    let burst = || async {
        let failing = Script::new([Step::FailAfter(ms(5))]);
        join_all((0..50).map(|_| call(&budget, &failing))).await;
        failing.calls() - 50
    };
    // Each retry is free, or paid with one of ten pairs of tokens.
    assert_eq!(burst().await, 50);
    for succeeds_after in [None, Some(0), Some(10_000)] {
        if let Some(wait) = succeeds_after {
            sleep(ms(wait)).await;
            call(&budget, &Script::new([Step::Succeed])).await.unwrap();
        }
        sleep(ms(10_000)).await;
        let retries = if succeeds_after == Some(10_000) {
            50
        } else {
            10
        };
        assert_eq!(burst().await, retries, "{succeeds_after:?}");
    }
}

/// Without a bound, a call would retry for free as long as the outage lasts.
#[tokio::test(start_paused = true)]
async fn a_call_of_the_first_wave_has_five_free_retries() {
    #[retry(attempts = 100, base = "1ms", budget = budget)]
    async fn call(budget: &Budget, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let budget = Budget::new().with_capacity(2).with_refill(0.0);
    let scripts = [(); 3].map(|()| Script::new([Step::FailAfter(ms(5))]));
    let calls = join_all(scripts.iter().map(|script| call(&budget, script))).await;
    assert!(calls.iter().all(Result::is_err));
    // One retry of the three calls took both tokens.
    let retries: usize = scripts.iter().map(|script| script.calls() - 1).sum();
    assert_eq!(retries, 3 * 5);
}

/// Progress restarts the count of attempts, so only the budget bounds such a call.
#[tokio::test(start_paused = true)]
async fn a_retry_after_progress_is_never_free() {
    #[derive(Debug)]
    struct Failure(Verdict);
    impl Retryable for Failure {
        fn verdict(&self) -> Verdict {
            self.0
        }
    }
    #[retry(attempts = 3, base = "1ms", max_delay = "1ms", jitter = "none", budget = budget)]
    async fn drip(budget: &Budget, verdict: Verdict, requests: &Cell<u32>) -> Result<(), Failure> {
        requests.set(requests.get() + 1);
        Attempt::record_progress();
        Err(Failure(verdict))
    }
    #[retry(attempts = 2, base = "1ms", budget = budget)]
    async fn other(budget: &Budget, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    for verdict in [Verdict::Conflict, Verdict::Transient] {
        let (budget, requests) = (Budget::new().with_refill(0.0), Cell::new(0));
        drip(&budget, verdict, &requests).await.unwrap_err();
        assert_eq!(requests.get(), 1 + 100, "{verdict:?}");
    }
    // The call is of the first wave of a fault that others began.
    let (budget, requests) = (Budget::new().with_refill(0.0), Cell::new(0));
    let script = Script::new([RESET]);
    let others = async {
        join_all((0..60).map(|_| other(&budget, &script))).await;
    };
    let (ended, ()) = futures::join!(drip(&budget, Verdict::Transient, &requests), others);
    ended.unwrap_err();
    assert!(requests.get() <= 1 + 100, "{}", requests.get());
}

/// A fault that is over decides nothing about the next one: a call belongs to the first wave of each fault that began after it
/// did.
#[tokio::test(start_paused = true)]
async fn a_fault_that_is_over_takes_no_free_retry_from_the_next_one() {
    #[retry(attempts = 6, jitter = "none", budget = budget)]
    async fn call(budget: &Budget, began: Instant, slip: bool) -> io::Result<()> {
        let (second, reset_at) = (ms(1_000), began + ms(1_100));
        let (now, well_again) = (began.elapsed(), began + ms(2_000));
        if slip && now < ms(5) {
            sleep(ms(10)).await;
        } else if Instant::now() >= reset_at && Instant::now() < well_again {
            sleep(ms(1)).await;
        } else if now < ms(1_100) && now + second > ms(1_100) {
            // The service resets all connections for 900 ms.
            sleep(reset_at.duration_since(Instant::now())).await;
        } else {
            sleep(second).await;
            return Ok(());
        }
        Err(io::ErrorKind::ConnectionReset.into())
    }
    // With one slight fault before, and without.
    for slips in [true, false] {
        let (budget, began) = (Budget::new(), Instant::now());
        let first = (0..50).map(|number| call(&budget, began, slips && number == 0));
        let later = (0..200).map(|_| async {
            sleep(ms(500)).await;
            call(&budget, began, false).await
        });
        let (first, later) = tokio::join!(join_all(first), join_all(later));
        let lost = first.iter().chain(&later).filter(|call| call.is_err());
        assert_eq!(lost.count(), 0, "{slips}");
    }
}

/// Its first retry begins no fault, because it failed in its first poll. The second one does, so the next call has no free ones.
#[tokio::test(start_paused = true)]
async fn a_call_that_fails_again_after_a_wait_begins_a_fault() {
    #[retry(attempts = attempts, base = "1ms", on = "io::Error", budget = budget)]
    async fn call(attempts: u32, budget: &Budget, script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let budget = Budget::new().with_capacity(20).with_refill(0.0);
    call(3, &budget, &Script::new([RESET])).await.unwrap_err();
    let later = Script::new([RESET]);
    call(100, &budget, &later).await.unwrap_err();
    // The 16 tokens that are left pay for 8 retries.
    assert_eq!(later.calls(), 1 + 8);
}

/// The consumer of `src/guide/messages.md`, with 20 messages a second and 16 places, while what it calls refuses every request.
#[tokio::test(start_paused = true)]
async fn a_consumer_that_keeps_its_places_sends_a_dead_service_fewer_requests_than_it_has_messages()
{
    async fn requests_a_second(keeps_places: bool) -> usize {
        const WORK: Policy = Policy::new()
            .with_attempts(20)
            .with_deadline(Duration::from_secs(28));
        const DELAY: Duration = Duration::from_secs(5);
        let began = Instant::now();
        let late = Arc::new(AtomicUsize::new(0));
        let (broker, mut messages) = mpsc::unbounded_channel();
        let new = broker.clone();
        let arrivals = tokio::spawn(async move {
            let mut clock = interval(Duration::from_millis(50));
            while new.send(()).is_ok() {
                clock.tick().await;
            }
        });
        let places = Arc::new(Semaphore::new(16));
        let consumer = async {
            while let Some(()) = messages.recv().await {
                let place = Arc::clone(&places).acquire_owned().await;
                let (broker, late) = (broker.clone(), Arc::clone(&late));
                tokio::spawn(async move {
                    let request = async || {
                        if began.elapsed() >= Duration::from_secs(50) {
                            late.fetch_add(1, Ordering::Relaxed);
                        }
                        Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionRefused))
                    };
                    WORK.run(request).await.unwrap_err();
                    let place = keeps_places.then_some(place);
                    sleep(DELAY).await;
                    drop(place);
                    let _ = broker.send(());
                });
            }
        };
        let _ = timeout(Duration::from_secs(60), consumer).await;
        arrivals.abort();
        late.load(Ordering::Relaxed) / 10
    }
    let kept = requests_a_second(true).await;
    let freed = requests_a_second(false).await;
    // 16 places for 5 s, and one retry a second that the budget allows.
    assert!(kept <= 5, "{kept}");
    assert!(freed > 100, "{freed}");
}
