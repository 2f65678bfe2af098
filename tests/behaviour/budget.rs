//! The budget bounds retries of many calls together.

#![allow(clippy::float_cmp, reason = "whole numbers of tokens are exact")]

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use futures::{StreamExt as _, stream};
use reattempt::{Attempt, Budget, Policy, Retryable, Stopped, Verdict, retry, with_report};
use tokio::time::Instant;
use tokio::time::error::Elapsed;

use crate::script::{RESET, Script, Step, ms, times_of};

#[tokio::test(start_paused = true)]
async fn a_budget_of_ten_retries_makes_eleven_calls() {
    static TEN: Budget = Budget::aws().with_capacity(10).with_retry_cost(1);
    plays!(call(attempts = 100, budget = "TEN"));
    let script = Script::new([RESET]);
    let error = call(&script).await.unwrap_err();
    assert_eq!(script.calls(), 11);
    assert_eq!(error.to_string(), "call 11", "the last error, unchanged");
    assert_eq!(TEN.level(), 0.0);
}

#[tokio::test(start_paused = true)]
async fn without_a_key_a_function_makes_100_retries_while_everything_fails() {
    // There is no wait, so the refill adds no tokens.
    plays!(call(attempts = 2, base = "0ms", jitter = "none"));
    let script = Script::new([RESET]);
    for _ in 0..150 {
        call(&script).await.unwrap_err();
    }
    assert_eq!(script.calls(), 150 + 100);
}

#[tokio::test(start_paused = true)]
async fn with_the_numbers_of_the_aws_sdk_fourteen_successes_pay_for_one_retry() {
    static STANDARD: Budget = Budget::aws();
    plays!(call(attempts = 3, budget = STANDARD));
    let failing = Script::new([RESET]);
    // Each call makes at least one retry, until the budget is empty.
    for _ in 0..36 {
        if STANDARD.level() >= 14.0 {
            call(&failing).await.unwrap_err();
        }
    }
    let drained = STANDARD.level();
    assert!(drained < 14.0, "drained");
    let (before, working) = (failing.calls(), Script::new([Step::Succeed]));
    let mut successes = 0;
    while STANDARD.level() < 14.0 && successes < 14 {
        call(&failing).await.unwrap_err();
        call(&working).await.unwrap();
        successes += 1;
    }
    assert_eq!(STANDARD.level(), 14.0, "one token for each success");
    assert_eq!(STANDARD.level() - drained, f64::from(successes));
    // Each round has one failing call without a retry. The last success fills the budget for one retry.
    assert_eq!(failing.calls() - before, working.calls());
    call(&failing).await.unwrap_err();
    assert_eq!(failing.calls() - before, working.calls() + 2);
}

#[tokio::test(start_paused = true)]
async fn a_drained_function_leaves_the_budget_of_another_alone() {
    plays!(broken(attempts = 300, base = "0ms", jitter = "none"));
    plays!(sound(attempts = 3));
    assert_eq!(times_of(broken).await.len(), 1 + 100, "drained");
    let script = Script::new([RESET, RESET, Step::Succeed]);
    assert_eq!(sound(&script).await.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn functions_that_name_one_budget_share_it() {
    static SHARED: Budget = Budget::aws().with_capacity(28);
    plays!(one(attempts = 50, budget = "SHARED"));
    plays!(other(attempts = 50, budget = "SHARED"));
    let script = Script::new([RESET]);
    one(&script).await.unwrap_err();
    other(&script).await.unwrap_err();
    assert_eq!(script.calls(), 3 + 1);
}

/// The call checks the verdict, the attempts and the deadline before the budget.
#[tokio::test(start_paused = true)]
async fn a_retry_that_is_refused_for_another_reason_is_not_charged() {
    static UNTOUCHED: Budget = Budget::new();
    plays!(permanent(attempts = 3, budget = "UNTOUCHED"));
    plays!(single(attempts = 1, budget = "UNTOUCHED"));
    plays! { late(attempts = 3, base = "10s", jitter = "none", deadline = ms(5000), budget = "UNTOUCHED") }
    permanent(&Script::new([Step::Fail(io::ErrorKind::NotFound)]))
        .await
        .unwrap_err();
    assert_eq!(UNTOUCHED.level(), 200.0);
    single(&Script::new([RESET])).await.unwrap_err();
    assert_eq!(UNTOUCHED.level(), 200.0);
    let script = Script::new([RESET]);
    late(&script).await.unwrap_err();
    assert_eq!((script.calls(), UNTOUCHED.level()), (1, 200.0));
}

/// The tokens for a retry that never began come back, wherever the call is dropped.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_poll_pays_only_for_the_retries_that_began() {
    static LEVEL: Budget = Budget::aws();
    plays! { call(attempts = 4, timeout = "1s", base = "1s", backoff = "constant", jitter = "none", budget = "LEVEL") }
    let mut seen = Vec::new();
    for polls in 1..40 {
        let before = LEVEL.level();
        let script = Script::new([Step::FailAfter(ms(100))]);
        {
            let mut call = pin!(call(&script));
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..polls {
                if call.as_mut().poll(&mut context).is_ready() {
                    break;
                }
                tokio::time::advance(ms(100)).await;
            }
        }
        let retries = u32::try_from(script.calls() - 1).unwrap();
        let paid = 14.0 * f64::from(retries);
        assert_eq!(before - LEVEL.level(), paid, "{polls} polls");
        seen.push(script.calls());
        for _ in 0..3 * 14 {
            call(&Script::new([Step::Succeed])).await.unwrap();
        }
        assert_eq!(LEVEL.level(), 500.0, "filled again");
    }
    seen.dedup();
    assert_eq!(seen, [1, 2, 3, 4], "every stage was cut");
}

#[tokio::test(start_paused = true)]
async fn a_success_after_retries_gives_back_the_tokens_of_the_last_retry() {
    static LEVEL: Budget = Budget::aws();
    plays!(call(attempts = 3, budget = "LEVEL"));
    let script = Script::new([RESET, RESET, Step::Succeed]);
    call(&script).await.unwrap();
    assert_eq!(LEVEL.level(), 500.0 - 2.0 * 14.0 + 14.0);
}

#[tokio::test(start_paused = true)]
async fn a_throttled_retry_takes_less() {
    static LEVEL: Budget = Budget::aws();
    static SHARE: Budget = Budget::ratio(0.0).with_capacity(10);
    #[derive(Debug)]
    struct TooMany;
    impl Retryable for TooMany {
        fn verdict(&self) -> Verdict {
            Verdict::Throttled
        }
    }
    #[retry(attempts = 2, budget = "LEVEL")]
    async fn call() -> Result<(), TooMany> {
        Err(TooMany)
    }
    #[retry(attempts = 2, budget = "SHARE")]
    async fn shares() -> Result<(), TooMany> {
        Err(TooMany)
    }
    call().await.unwrap_err();
    assert_eq!(LEVEL.level(), 495.0);

    for _ in 1..100 {
        assert!(LEVEL.level() >= 5.0, "{LEVEL:?}");
        call().await.unwrap_err();
    }
    assert_eq!(LEVEL.level(), 0.0, "100 calls, each with one retry");

    let before = SHARE.level();
    shares().await.unwrap_err();
    assert_eq!(
        before - SHARE.level(),
        1.0,
        "a ratio counts retries, whatever failed"
    );
}

/// A panic passes through, and the balance stays as it was.
#[tokio::test(start_paused = true)]
async fn a_panic_in_a_hook_takes_nothing() {
    static LEVEL: Budget = Budget::new();
    plays! { call(attempts = 3, budget = "LEVEL", on_retry = |_| panic!("in the hook")) }
    let script = Script::new([RESET]);
    let panicked = std::panic::AssertUnwindSafe(call(&script))
        .catch_unwind()
        .await;
    assert_eq!(
        panicked.unwrap_err().downcast_ref(),
        Some(&"in the hook"),
        "unchanged"
    );
    assert_eq!(LEVEL.level(), 200.0);
    call(&Script::new([Step::Succeed])).await.unwrap();
}

/// Each function of the user panics in turn. The next call works.
#[tokio::test(start_paused = true)]
async fn a_panic_in_a_rule_a_verdict_or_before_retry_takes_nothing() {
    static LEVEL: Budget = Budget::aws();
    #[derive(Debug, thiserror::Error)]
    #[error("failed")]
    struct Failed(Rc<Cell<&'static str>>);
    impl Retryable for Failed {
        fn verdict(&self) -> Verdict {
            panics_in("verdict", &self.0);
            Verdict::Throttled
        }
        fn hint(&self) -> Option<Duration> {
            panics_in("hint", &self.0);
            None
        }
    }
    fn panics_in(place: &'static str, panics: &Cell<&'static str>) -> bool {
        assert!(place != panics.get(), "in {place}");
        false
    }
    #[retry(
        attempts = 3,
        budget = "LEVEL",
        unless = |_| panics_in("unless", panics),
        when_ok = |_| panics_in("when_ok", panics),
        before_retry = async || -> () { panics_in("before_retry", panics); },
    )]
    async fn call(script: &Script, panics: &Rc<Cell<&'static str>>) -> Result<usize, Failed> {
        script.play().await.map_err(|_| Failed(panics.clone()))
    }
    for (place, attempts, paid) in [
        ("unless", 1, 0.0),
        ("verdict", 1, 0.0),
        ("hint", 1, 0.0),
        ("before_retry", 1, 0.0),
        // The retry that it judges has begun. It takes five, because it is throttled.
        ("when_ok", 2, 5.0),
    ] {
        let script = || Script::new([RESET, Step::Succeed]);
        let (panicking, panics) = (script(), Rc::new(Cell::new(place)));
        let before = LEVEL.level();
        let panicked = std::panic::AssertUnwindSafe(call(&panicking, &panics))
            .catch_unwind()
            .await;
        let text = panicked.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(*text, format!("in {place}"), "unchanged");
        assert_eq!(panicking.calls(), attempts, "{place}");
        assert_eq!(before - LEVEL.level(), paid, "{place}");
        panics.set("nowhere");
        assert_eq!(call(&script(), &panics).await.unwrap(), 2, "{place}");
    }
}

/// Many calls at the same time share the tokens, in any order.
#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_do_not_overdraw() {
    static TWENTY: Budget = Budget::aws().with_capacity(20).with_retry_cost(1);
    plays!(call(attempts = 10, budget = "TWENTY"));
    let script = Script::new([Step::FailAfter(ms(10))]);
    let ended = join_all((0..50).map(|_| call(&script))).await;
    assert!(ended.iter().all(Result::is_err));
    assert_eq!(script.calls(), 50 + 20);
}

/// A `ratio` allows a share of all calls, and a refill helps if there are few calls.
#[tokio::test(start_paused = true)]
async fn a_ratio_allows_its_share_and_a_refill_its_rate() {
    static TENTH: Budget = Budget::ratio(0.1);
    plays!(call(attempts = 4, base = "1ms", budget = "TENTH"));
    static REFILLED: Budget = Budget::ratio(0.0).with_refill(2.0);
    plays!(rare(attempts = 2, base = "1ms", budget = "REFILLED"));
    let script = Script::new([RESET]);
    for _ in 0..1000 {
        call(&script).await.unwrap_err();
    }
    let retries = script.calls() - 1000;
    assert!((99..=101).contains(&retries), "{retries}");

    let script = Script::new([RESET]);
    rare(&script).await.unwrap_err();
    // The paused clock of another test in this process may be ahead of this clock. If a reading is less than a
    // second behind, a budget takes it for a late reading, and adds nothing.
    tokio::time::advance(ms(2_000)).await;
    for _ in 0..20 {
        tokio::time::advance(Duration::from_millis(500)).await;
        rare(&script).await.unwrap_err();
    }
    assert_eq!(
        script.calls(),
        2 * 21,
        "at two calls a second, each is retried"
    );
}

/// A success at the first attempt adds its share, without an entry in the books of the call.
#[tokio::test(start_paused = true)]
async fn ten_calls_that_succeed_at_once_earn_a_retry() {
    static TENTH: Budget = Budget::ratio(0.1).with_capacity(1);
    plays!(call(attempts = 2, base = "1ms", budget = "TENTH"));
    let attempts = async || {
        let script = Script::new([RESET]);
        call(&script).await.unwrap_err();
        script.calls()
    };
    assert_eq!([attempts().await, attempts().await], [2, 1]);
    for _ in 0..10 {
        call(&Script::new([Step::Succeed])).await.unwrap();
    }
    assert_eq!([attempts().await, attempts().await], [2, 1]);
}

/// Fails with a reset until its time comes.
struct Blip(Instant);

impl Blip {
    fn answer(&self) -> io::Result<()> {
        if Instant::now() < self.0 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn fifty_calls_at_once_through_a_blip_lose_no_attempt_to_the_budget() {
    #[retry(attempts = 6)]
    async fn download(server: &Blip, attempts: &Cell<u32>) -> io::Result<()> {
        attempts.set(attempts.get() + 1);
        server.answer()
    }
    let server = Blip(Instant::now() + ms(300));
    let attempts: Vec<_> = (0..50).map(|_| Cell::new(0)).collect();
    let ended = join_all(attempts.iter().map(|count| download(&server, count))).await;
    // With full jitter, all five waits of a call may be so short that they end within the blip.
    let lost = ended
        .iter()
        .zip(&attempts)
        .filter(|(ended, attempts)| ended.is_err() && attempts.get() < 6);
    assert_eq!(lost.count(), 0);
    let succeeded = ended.iter().filter(|ended| ended.is_ok());
    assert!(succeeded.count() >= 45);
}

/// Each call begins a second or an hour after the end of the one before.
#[tokio::test(start_paused = true)]
async fn a_hundred_calls_in_a_row_that_each_need_two_retries_all_succeed() {
    plays!(call(attempts = 3, budget = budget), budget: &Budget);
    for pause in [ms(1_000), ms(3_600_000)] {
        let budget = Budget::new();
        for number in 0..100 {
            let script = Script::new([RESET, RESET, Step::Succeed]);
            let ended = call(&script, &budget).await;
            assert_eq!(ended.unwrap(), 3, "call {number}, {pause:?}");
            tokio::time::advance(pause).await;
        }
    }
}

/// Each call takes four tokens and gives two back, so the last of them finds four.
#[tokio::test(start_paused = true)]
async fn ninety_nine_calls_at_one_instant_that_each_need_two_retries_all_succeed() {
    plays!(call(attempts = 3, base = "0ms", jitter = "none"));
    for number in 0..100 {
        let script = Script::new([RESET, RESET, Step::Succeed]);
        assert_eq!(call(&script).await.is_ok(), number < 99, "call {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_an_hour_and_a_quiet_day_leave_a_full_budget() {
    static LEVEL: Budget = Budget::new();
    plays!(call(attempts = 4, timeout = "500ms", budget = "LEVEL"));
    let (script, began) = (Script::new([RESET, Step::Hang]), Instant::now());
    while began.elapsed() < ms(3_600_000) {
        join_all((0..10).map(|_| call(&script))).await;
        tokio::time::advance(ms(500)).await;
    }
    // Fewer tokens than one retry takes, and the tokens that came back since the refusal.
    assert!(LEVEL.level() < 20.0, "drained: {LEVEL:?}");
    tokio::time::advance(ms(24 * 3_600_000)).await;
    assert_eq!(LEVEL.level(), 200.0);
}

/// Begins this many calls a second, even while earlier calls still run, and waits for all of them.
async fn at_rate<F: Future>(calls: u32, a_second: u32, call: impl Fn() -> F) {
    let begun = (0..calls).map(|number| {
        let call = call();
        async move {
            tokio::time::sleep(Duration::from_secs(1) * number / a_second).await;
            call.await;
        }
    });
    join_all(begun).await;
}

/// The budget has 200 tokens, and gets 2 in each of ten seconds. 220 tokens pay for 36 retries after timeouts. A call that had
/// begun when the first attempt timed out may add two: those of 100 ms are 25 calls.
#[tokio::test(start_paused = true)]
async fn ten_seconds_of_timeouts_have_36_retries_and_those_of_calls_under_way() {
    plays!(late(attempts = 3, timeout = "100ms"));
    let script = Script::new([Step::Hang]);
    at_rate(2_500, 250, || late(&script)).await;
    let retries = script.calls() - 2_500;
    assert!((36..=36 + 50).contains(&retries), "{retries}");
}

/// The test runs for ten minutes. The first seconds spend a full budget, and then only the refill is left.
#[tokio::test(start_paused = true)]
async fn while_80_percent_fail_3_and_8_attempts_make_the_same_load() {
    /// A server that fails eight requests of ten, in a pseudo-random order.
    #[derive(Default)]
    struct Server {
        requests: Cell<u32>,
        state: Cell<u64>,
    }
    impl Server {
        fn answer(&self) -> io::Result<()> {
            self.requests.set(self.requests.get() + 1);
            let state = self.state.get();
            // Knuth's multiplier for 64 bits. The high bits of this generator are the most random.
            let next = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            self.state.set(next);
            if (next >> 33) % 10 < 8 {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            Ok(())
        }
    }
    #[retry(attempts = 3)]
    async fn three(server: &Server) -> io::Result<()> {
        server.answer()
    }
    #[retry(attempts = 8)]
    async fn eight(server: &Server) -> io::Result<()> {
        server.answer()
    }
    let (of_three, of_eight) = (Server::default(), Server::default());
    at_rate(60_000, 100, || three(&of_three)).await;
    at_rate(60_000, 100, || eight(&of_eight)).await;
    let [three, eight] =
        [of_three, of_eight].map(|server| f64::from(server.requests.get()) / 60_000.0);
    // Without a budget, the ratio would be 1.7.
    assert!((eight / three - 1.0).abs() < 0.01, "{three} and {eight}");
    assert!((1.03..1.05).contains(&three), "{three}");
}

#[tokio::test(start_paused = true)]
async fn a_retry_takes_2_tokens_4_if_throttled_and_6_after_a_timeout() {
    static LEVEL: Budget = Budget::new().with_refill(0.0);
    #[derive(Debug)]
    enum Failure {
        Throttled,
        Other,
        Stopped,
    }
    impl Retryable for Failure {
        fn verdict(&self) -> Verdict {
            match self {
                Self::Throttled => Verdict::Throttled,
                Self::Other | Self::Stopped => Verdict::Transient,
            }
        }
    }
    impl From<Stopped> for Failure {
        fn from(_: Stopped) -> Self {
            Self::Stopped
        }
    }
    #[retry(attempts = 2, timeout = "1s", budget = "LEVEL")]
    async fn call(failure: Option<fn() -> Failure>) -> Result<(), Failure> {
        match failure {
            Some(failure) => Err(failure()),
            None => std::future::pending().await,
        }
    }
    let failures: [Option<fn() -> Failure>; 3] =
        [Some(|| Failure::Other), Some(|| Failure::Throttled), None];
    for (failure, price) in failures.into_iter().zip([2.0, 4.0, 6.0]) {
        let before = LEVEL.level();
        call(failure).await.unwrap_err();
        assert_eq!(before - LEVEL.level(), price);
    }
}

/// A success after a timeout also gives back the tokens of its retry.
#[tokio::test(start_paused = true)]
async fn a_success_after_a_timeout_gives_back_6() {
    static LEVEL: Budget = Budget::new().with_refill(0.0);
    plays!(call(attempts = 3, timeout = "1s", budget = "LEVEL"));
    let script = Script::new([RESET, Step::Hang, Step::Succeed]);
    call(&script).await.unwrap();
    assert_eq!(LEVEL.level(), 198.0);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_the_wait_after_a_timeout_gets_its_6_back() {
    static LEVEL: Budget = Budget::new().with_refill(0.0);
    plays! { call(attempts = 3, timeout = "1s", base = "10s", jitter = "none", budget = "LEVEL") }
    {
        let script = Script::new([Step::Hang]);
        let mut waiting = pin!(call(&script));
        let ended = tokio::time::timeout(ms(5_000), &mut waiting).await;
        assert!(ended.is_err());
        assert_eq!(LEVEL.level(), 194.0);
    }
    assert_eq!(LEVEL.level(), 200.0);
}

/// A call of the first wave pays nothing, so its success gives nothing back.
#[tokio::test(start_paused = true)]
async fn a_success_after_a_free_retry_gives_nothing_back() {
    static LEVEL: Budget = Budget::new().with_capacity(20).with_refill(0.0);
    plays!(call(attempts = 2, timeout = "1s", budget = "LEVEL"));
    // Two of these calls take 12 of 20 tokens, and the retries of the others are free.
    let scripts: Vec<_> = (0..10).map(|_| Script::new([Step::Hang])).collect();
    let mut calls: Vec<_> = scripts
        .iter()
        .map(|script| Box::pin(call(script)))
        .collect();
    let waiting = tokio::time::timeout(ms(1_001), join_all(&mut calls)).await;
    assert!(waiting.is_err());
    assert_eq!(LEVEL.level(), 8.0);
    // Free permits that are dropped, and free retries that end, change nothing.
    calls.truncate(5);
    assert_eq!(LEVEL.level(), 8.0);
    join_all(calls).await;
    assert_eq!(LEVEL.level(), 8.0);
}

/// What the page on budgets says of loops around a call. The server refuses each request after a millisecond, for a
/// minute.
#[tokio::test(start_paused = true)]
async fn a_loop_around_a_call_needs_a_pause_because_a_refused_call_returns_at_once() {
    struct Down(Instant, Cell<u32>);
    impl Down {
        async fn answer(&self) -> io::Result<()> {
            self.1.set(self.1.get() + 1);
            tokio::time::sleep(ms(1)).await;
            if Instant::now() < self.0 {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            Ok(())
        }
    }
    #[retry(on = "io::Error")]
    async fn resume(server: &Down) -> io::Result<()> {
        server.answer().await
    }
    #[retry(on = "io::Error", attempts = "unlimited")]
    async fn patient(server: &Down) -> io::Result<()> {
        server.answer().await
    }
    let down = || Down(Instant::now() + ms(60_000), Cell::new(0));

    let server = down();
    while resume(&server).await.is_err() {}
    let requests = server.1.get();
    assert!(requests > 40_000, "{requests} without a pause");

    let server = down();
    while resume(&server).await.is_err() {
        tokio::time::sleep(ms(1_000)).await;
    }
    let requests = server.1.get();
    assert!((60..200).contains(&requests), "{requests} with a pause");

    let server = down();
    patient(&server).await.unwrap();
    let requests = server.1.get();
    // 30 requests need 21 delays of at most 20 s that last less than a minute together: once in 10^9 runs.
    assert!((5..30).contains(&requests), "{requests} in one call");
}

/// A client may keep to the limit too. Only the price is that of a timeout. A request that was refused did nothing. After progress,
/// the limit is a later one.
#[tokio::test(start_paused = true)]
async fn a_transient_failure_at_the_limit_costs_as_much_as_a_timeout() {
    static TOKENS: Budget = Budget::new().with_refill(0.0);

    #[retry(policy = policy, hedge = "policy", budget = TOKENS)]
    async fn call(
        policy: &Policy,
        progresses: u64,
        takes: u64,
        error: io::ErrorKind,
    ) -> io::Result<()> {
        tokio::time::sleep(ms(progresses)).await;
        if progresses > 0 && Attempt::current().unwrap().number() == 1 {
            Attempt::record_progress();
        }
        tokio::time::sleep(ms(takes - progresses)).await;
        Err(error.into())
    }

    let (reset, refused) = (
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::ConnectionRefused,
    );
    let alone = Policy::new().with_base(ms(0)).with_timeout(ms(100));
    let alone = alone.with_attempts(2);
    // Its hedge ends 20 ms after the first attempt, whose limit it has.
    let hedged = alone.clone().with_attempts(3).with_hedge(ms(20));
    for (policy, progresses, takes, error, price) in [
        (&alone, 0, 98, reset, 2.0),
        (&alone, 0, 99, reset, 6.0),
        (&alone, 0, 100, reset, 6.0),
        (&alone, 0, 101, reset, 6.0),
        (&alone, 0, 99, refused, 2.0),
        (&alone, 60, 120, reset, 2.0),
        (&alone, 60, 159, reset, 6.0),
        (&hedged, 0, 78, reset, 2.0),
        (&hedged, 0, 79, reset, 6.0),
        (&hedged, 60, 100, reset, 2.0),
        (&hedged, 60, 139, reset, 6.0),
    ] {
        let before = TOKENS.level();
        call(policy, progresses, takes, error).await.unwrap_err();
        let paid = before - TOKENS.level();
        let hedge = policy.hedge();
        assert_eq!(paid, price, "{progresses} {takes} ms, {hedge:?}");
    }
}

/// Each item fails by its number and attempt alone, so both runs see the same failures.
#[tokio::test(start_paused = true)]
async fn random_failures_do_not_touch_the_budget_and_an_outage_does() {
    /// Takes 50 ms, and fails for this share of items, in percent.
    async fn ask(item: u64, failing: u64) -> io::Result<()> {
        tokio::time::sleep(ms(50)).await;
        let attempt = u64::from(Attempt::current().unwrap().number());
        let mixed = (item * 3 + attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        if (mixed >> 33) % 100 < failing {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
    #[retry(attempts = 3)]
    async fn with_a_budget(item: u64, failing: u64) -> io::Result<()> {
        ask(item, failing).await
    }
    #[retry(attempts = 3, budget = "none")]
    async fn without(item: u64, failing: u64) -> io::Result<()> {
        ask(item, failing).await
    }
    /// How many of 10,000 calls failed, 500 at once, and how many retries they made.
    async fn batch<F: Future<Output = io::Result<()>>>(call: impl Fn(u64) -> F) -> (usize, u32) {
        let calls = stream::iter(0..10_000).map(|item| with_report(call(item)));
        let ended: Vec<_> = calls.buffer_unordered(500).collect().await;
        let failed = ended.iter().filter(|(result, _)| result.is_err()).count();
        let attempts = ended
            .iter()
            .map(|(_, report)| report.as_ref().unwrap().attempts());
        (failed, attempts.sum::<u32>() - 10_000)
    }
    let random = batch(|item| with_a_budget(item, 20)).await;
    assert_eq!(random, batch(|item| without(item, 20)).await);
    assert!((50..120).contains(&random.0), "{random:?}");
    let (_, bounded) = batch(|item| with_a_budget(item, 100)).await;
    assert_eq!(batch(|item| without(item, 100)).await, (10_000, 20_000));
    assert!(
        bounded <= 2_700,
        "{bounded}: 100, and five for each call under way"
    );
}

/// A client may have a limit of its own, below ours or without ours.
#[tokio::test(start_paused = true)]
async fn a_failure_at_the_own_limit_of_a_client_costs_as_much_as_a_timeout() {
    static TOKENS: Budget = Budget::new().with_refill(0.0);
    #[derive(Debug, thiserror::Error, Retryable)]
    enum Failure {
        #[error(transparent)]
        #[retryable(forward)]
        OfClient(#[from] Elapsed),
        #[error(transparent)]
        #[retryable(forward)]
        Stopped(#[from] Stopped),
    }
    async fn ask() -> Result<(), Elapsed> {
        tokio::time::timeout(ms(50), std::future::pending()).await
    }
    #[retry(attempts = 2, budget = TOKENS)]
    async fn alone() -> Result<(), Box<Elapsed>> {
        Ok(ask().await?)
    }
    #[retry(attempts = 2, timeout = "1s", budget = TOKENS)]
    async fn below() -> Result<(), Failure> {
        Ok(ask().await?)
    }
    #[retry(attempts = 2, timeout = "1s", on = "Elapsed", budget = TOKENS)]
    async fn inside() -> io::Result<()> {
        ask().await.map_err(io::Error::other)
    }
    for price in [6.0, 12.0, 18.0] {
        match price {
            6.0 => drop(alone().await.unwrap_err()),
            12.0 => drop(below().await.unwrap_err()),
            _ => drop(inside().await.unwrap_err()),
        }
        assert_eq!(200.0 - TOKENS.level(), price);
    }
}
