//! The outer call does not repeat the failed retries of an operation inside.
//!
//! Each call remembers, by operation, the failed retries inside its current attempt. In its later
//! attempts, that operation has fewer attempts by this number. See `nested_operations.rs` for what one operation is,
//! `nested_keys.rs` for hooks and `nested`, `nested_dropped.rs` for calls that are dropped, `nested_time.rs`
//! for how long it is remembered, and `nested_trees.rs` for random trees of calls.

use std::cell::Cell;
use std::io::{self, ErrorKind};

use futures::future::{join, join_all};
use reattempt::{propagate, retry};

use crate::script::{RESET, Script, Step};

/// An error that is not retryable.
const MISSING: Step = Step::Fail(ErrorKind::NotFound);

/// The outer call: makes four attempts at `body`.
#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn around<T>(body: impl AsyncFn() -> io::Result<T>) -> io::Result<T> {
    body().await
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn fetch(host: &Script) -> io::Result<usize> {
    host.play().await
}

#[retry(attempts = 4, base = "1ms", budget = "none")]
async fn store(host: &Script) -> io::Result<usize> {
    host.play().await
}

fn dead() -> Script {
    Script::new([RESET])
}

/// Fails three times, then succeeds.
fn slow_to_start() -> Script {
    Script::new([RESET, RESET, RESET, Step::Succeed])
}

#[tokio::test(start_paused = true)]
async fn a_dead_host_leaves_the_other_nine_their_retries() {
    let hosts: Vec<_> = (0..10)
        .map(|host| if host == 0 { dead() } else { slow_to_start() })
        .collect();
    around(async || {
        let mut answers = 0;
        for host in &hosts {
            answers += u32::from(fetch(host).await.is_ok());
        }
        Ok(answers)
    })
    .await
    .map(|answers| assert_eq!(answers, 9))
    .unwrap();
    assert!(hosts.iter().all(|host| host.calls() == 4));

    let hosts: Vec<_> = (0..10)
        .map(|host| if host == 0 { dead() } else { slow_to_start() })
        .collect();
    around(async || {
        let ended = join_all(hosts.iter().map(fetch)).await;
        ended.into_iter().rev().collect::<io::Result<Vec<_>>>()
    })
    .await
    .unwrap_err();
    // The nine succeeded within the first attempt. The dead host has its three retries once.
    let calls: Vec<_> = hosts.iter().map(Script::calls).collect();
    assert_eq!(calls, [7; 10]);
}

/// The retries of one function are not taken from another, even if a third function calls both.
#[tokio::test(start_paused = true)]
async fn functions_at_different_depths_keep_their_own_retries() {
    #[retry(attempts = 2, base = "1ms", budget = "none")]
    async fn either(number: u32, a: &Script, b: &Script) -> io::Result<usize> {
        match number {
            1 => fetch(a).await,
            _ => store(b).await,
        }
    }
    let (a, b) = (dead(), dead());
    let attempts = Cell::new(0);
    around(async || {
        attempts.set(attempts.get() + 1);
        either(attempts.get(), &a, &b).await
    })
    .await
    .unwrap_err();
    // First, `either` makes two attempts, in which `fetch` has four and one. Then `either` has one attempt in each
    // attempt around it, in which `store` has four, one and one.
    assert_eq!((a.calls(), b.calls()), (5, 4 + 1 + 1));
}

/// In a worker that lives long, calls that succeeded do not reduce the retries of later attempts.
#[tokio::test(start_paused = true)]
async fn retries_that_helped_are_available_again_in_every_later_attempt() {
    #[retry(attempts = 30, base = "1ms", max_delay = "1ms", budget = "none")]
    async fn worker(sessions: &Cell<u32>) -> io::Result<()> {
        let host = slow_to_start();
        assert_eq!(fetch(&host).await?, 4);
        sessions.set(sessions.get() + 1);
        Err(ErrorKind::ConnectionReset.into())
    }
    let sessions = Cell::new(0);
    worker(&sessions).await.unwrap_err();
    assert_eq!(sessions.get(), 30);
}

/// One call of a function fails, and another succeeds. Only the retries of the failed call count.
#[tokio::test(start_paused = true)]
async fn a_success_takes_back_only_its_own_retries() {
    #[retry(attempts = 6, base = "1ms", budget = "none")]
    async fn get(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    #[retry(attempts = 2, base = "1ms", budget = "none", when = |_| true)]
    async fn twice(order: u32, bad: &Script, good: &Script) -> io::Result<usize> {
        let (ended, _) = match order {
            0 => (get(bad).await, get(good).await),
            1 => {
                let well = get(good).await;
                (get(bad).await, well)
            }
            _ => join(get(bad), get(good)).await,
        };
        ended
    }
    // Two retries fail, and five help. The calls run in both orders, and at the same time.
    for order in 0..3 {
        let bad = Script::new([RESET, RESET, MISSING, RESET]);
        let good = Script::new([RESET, RESET, RESET, RESET, RESET, Step::Succeed]);
        twice(order, &bad, &good).await.unwrap_err();
        // The failed call has six attempts, less the two failed retries.
        assert_eq!((bad.calls(), good.calls()), (3 + 4, 7), "{order}");
    }
}

/// The failed retries of each call count for itself.
#[tokio::test(start_paused = true)]
async fn of_several_calls_in_one_attempt_each_has_its_own_number() {
    #[retry(attempts = 6, base = "1ms", budget = "none")]
    async fn get(host: &Script) -> io::Result<usize> {
        host.play().await
    }
    #[retry(attempts = 2, base = "1ms", budget = "none", when = |_| true)]
    async fn all(hosts: &[Script]) -> io::Result<usize> {
        let mut ended = Ok(0);
        for host in hosts {
            ended = get(host).await;
        }
        ended
    }
    let hosts = [
        Script::new([RESET, MISSING, RESET]),
        Script::new([RESET, RESET, MISSING, RESET]),
        Script::new([RESET, MISSING, RESET]),
    ];
    all(&hosts).await.unwrap_err();
    assert_eq!(hosts.map(|host| host.calls()), [2 + 5, 3 + 4, 2 + 5]);
}

/// The first attempt fails in a carried call, the others in one that is not.
#[tokio::test(start_paused = true)]
async fn retries_in_a_carried_future_are_not_counted() {
    let (host, first) = (dead(), Cell::new(true));
    around(async || {
        let call = fetch(&host);
        if first.take() {
            propagate(call).await
        } else {
            call.await
        }
    })
    .await
    .unwrap_err();
    assert_eq!(host.calls(), 4 + 7 - 1);
}

/// The outer call has made its first attempt then, and no other before the first `before_retry`.
#[tokio::test(start_paused = true)]
async fn a_carried_future_within_a_later_before_retry_has_one_attempt_a_call() {
    #[retry(
        attempts = 4,
        base = "1ms",
        budget = "none",
        before_retry = propagate(async { drop(fetch(host).await) })
    )]
    async fn carries(host: &Script) -> io::Result<usize> {
        Err(ErrorKind::ConnectionReset.into())
    }
    let host = dead();
    carries(&host).await.unwrap_err();
    assert_eq!(host.calls(), 4 + 1 + 1);
}
