//! The budget bounds retries of many calls together.

#![allow(clippy::float_cmp, reason = "whole numbers of tokens are exact")]

use std::future::Future as _;
use std::io;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use reattempt::{Budget, Outcome, Retryable, Verdict, retry};

use crate::script::{RESET, Script, Step, ms};

#[tokio::test(start_paused = true)]
async fn c47_a_budget_of_ten_retries_makes_eleven_calls() {
    static TEN: Budget = Budget::new().capacity(10).retry_cost(1);
    #[retry(attempts = 100, budget = "TEN")]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    let error = call(&script).await.unwrap_err();
    assert_eq!(script.calls(), 11);
    assert_eq!(error.to_string(), "call 11", "the last error, unchanged");
    assert_eq!(TEN.level(), 0.0);
}

#[tokio::test(start_paused = true)]
async fn without_a_key_a_function_makes_35_retries_while_everything_fails() {
    #[retry(attempts = 8)]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    for _ in 0..100 {
        call(&script).await.unwrap_err();
    }
    assert_eq!(script.calls(), 100 + 35);
}

#[tokio::test(start_paused = true)]
async fn fourteen_successes_earn_one_retry() {
    static STANDARD: Budget = Budget::new();
    #[retry(attempts = 3, budget = STANDARD)]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let failing = Script::new([RESET]);
    // Each call takes one retry at least, until there is none.
    for _ in 0..36 {
        if STANDARD.level() >= 14.0 {
            call(&failing).await.unwrap_err();
        }
    }
    assert!(STANDARD.level() < 14.0, "drained");
    let (before, working) = (failing.calls(), Script::new([Step::Succeed]));
    let mut successes = 0;
    while STANDARD.level() < 14.0 && successes < 14 {
        call(&failing).await.unwrap_err();
        call(&working).await.unwrap();
        successes += 1;
    }
    assert_eq!(STANDARD.level(), 14.0, "one token for each success");
    // One call each round, and no retry: the last success only just filled it.
    assert_eq!(failing.calls() - before, working.calls());
    call(&failing).await.unwrap_err();
    assert_eq!(failing.calls() - before, working.calls() + 2);
}

#[tokio::test(start_paused = true)]
async fn c53_a_drained_function_leaves_the_budget_of_another_alone() {
    #[retry(attempts = 50)]
    async fn broken(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    #[retry(attempts = 3)]
    async fn sound(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    broken(&script).await.unwrap_err();
    assert_eq!(script.calls(), 36, "drained");
    let script = Script::new([RESET, RESET, Step::Succeed]);
    assert_eq!(sound(&script).await.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn functions_that_name_one_budget_share_it() {
    static SHARED: Budget = Budget::new().capacity(28);
    #[retry(attempts = 50, budget = "SHARED")]
    async fn one(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    #[retry(attempts = 50, budget = "SHARED")]
    async fn other(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    one(&script).await.unwrap_err();
    other(&script).await.unwrap_err();
    assert_eq!(script.calls(), 3 + 1);
}

#[tokio::test(start_paused = true)]
async fn none_is_no_budget() {
    #[retry(attempts = 200, max_delay = "1s", budget = "none")]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    call(&script).await.unwrap_err();
    assert_eq!(script.calls(), 200);
}

/// C-55: verdict, attempts, deadline, and only then the budget.
#[tokio::test(start_paused = true)]
async fn c55_what_is_refused_for_another_reason_is_not_charged() {
    static UNTOUCHED: Budget = Budget::new();
    #[retry(attempts = 3, budget = "UNTOUCHED")]
    async fn permanent(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    #[retry(attempts = 1, budget = "UNTOUCHED")]
    async fn single(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    #[retry(
        attempts = 3,
        base = "10s",
        jitter = "none",
        deadline = ms(5000),
        budget = "UNTOUCHED"
    )]
    async fn late(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    permanent(&Script::new([Step::Fail(io::ErrorKind::NotFound)]))
        .await
        .unwrap_err();
    assert_eq!(UNTOUCHED.level(), 500.0);
    single(&Script::new([RESET])).await.unwrap_err();
    assert_eq!(UNTOUCHED.level(), 500.0);
    let script = Script::new([RESET]);
    late(&script).await.unwrap_err();
    assert_eq!((script.calls(), UNTOUCHED.level()), (1, 500.0));
}

/// C-25: what was paid for a retry that never began comes back, wherever the call is dropped.
#[tokio::test(start_paused = true)]
async fn c25_a_call_dropped_at_any_poll_pays_only_for_the_retries_that_began() {
    static LEVEL: Budget = Budget::new();
    #[retry(
        attempts = 4,
        timeout = "1s",
        base = "1s",
        backoff = "constant",
        jitter = "none",
        budget = "LEVEL"
    )]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
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
async fn a_success_after_a_retry_gives_back_what_the_last_one_took() {
    static LEVEL: Budget = Budget::new();
    #[retry(attempts = 3, budget = "LEVEL")]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET, RESET, Step::Succeed]);
    call(&script).await.unwrap();
    assert_eq!(LEVEL.level(), 500.0 - 2.0 * 14.0 + 14.0);
}

#[tokio::test(start_paused = true)]
async fn a_throttled_retry_takes_less() {
    static LEVEL: Budget = Budget::new();
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
    call().await.unwrap_err();
    assert_eq!(LEVEL.level(), 495.0);

    let mut calls = 1;
    while LEVEL.level() >= 5.0 {
        call().await.unwrap_err();
        calls += 1;
    }
    assert_eq!(calls, 100, "each with one retry");
}

/// Where the last attempt left no error, the caller learns that it was the budget.
#[tokio::test(start_paused = true)]
async fn a_timeout_without_budget_says_so() {
    static EMPTY: Budget = Budget::new().capacity(1);
    #[retry(attempts = 3, timeout = "1s", budget = "EMPTY")]
    async fn call() -> Result<(), reattempt::Error<io::Error>> {
        std::future::pending().await
    }
    let Err(reattempt::Error::Stopped(stopped)) = call().await else {
        panic!("expected `Stopped`")
    };
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Budget, 1)
    );
}

/// C-30: a panic passes through, and the balance is what it was.
#[tokio::test(start_paused = true)]
async fn c30_a_panic_in_a_hook_takes_nothing() {
    static LEVEL: Budget = Budget::new();
    #[retry(
        attempts = 3,
        budget = "LEVEL",
        on_retry = |_| panic!("in the hook"),
    )]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    let panicked = std::panic::AssertUnwindSafe(call(&script))
        .catch_unwind()
        .await;
    assert_eq!(
        panicked.unwrap_err().downcast_ref(),
        Some(&"in the hook"),
        "unchanged"
    );
    assert_eq!(LEVEL.level(), 500.0);
    call(&Script::new([Step::Succeed])).await.unwrap();
}

/// Many calls at once share what there is, whatever their order.
#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_do_not_overdraw() {
    static TWENTY: Budget = Budget::new().capacity(20).retry_cost(1);
    #[retry(attempts = 10, budget = "TWENTY")]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([Step::FailAfter(ms(10))]);
    let ended = join_all((0..50).map(|_| call(&script))).await;
    assert!(ended.iter().all(Result::is_err));
    assert_eq!(script.calls(), 50 + 20);
}

/// The share of a `ratio` is of all calls, and a floor helps where there are few.
#[tokio::test(start_paused = true)]
async fn a_ratio_allows_its_share_and_a_floor_its_rate() {
    static TENTH: Budget = Budget::ratio(0.1);
    #[retry(attempts = 4, base = "1ms", budget = "TENTH")]
    async fn call(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    static FLOOR: Budget = Budget::ratio(0.0).floor(2.0);
    #[retry(attempts = 2, base = "1ms", budget = "FLOOR")]
    async fn rare(script: &Script) -> io::Result<usize> {
        script.play().await
    }
    let script = Script::new([RESET]);
    for _ in 0..1000 {
        call(&script).await.unwrap_err();
    }
    let retries = script.calls() - 1000;
    assert!((99..=101).contains(&retries), "{retries}");

    let script = Script::new([RESET]);
    rare(&script).await.unwrap_err();
    for _ in 0..20 {
        tokio::time::advance(Duration::from_millis(500)).await;
        rare(&script).await.unwrap_err();
    }
    assert_eq!(
        script.calls(),
        2 * 21,
        "one call in half a second: every one is retried"
    );
}
