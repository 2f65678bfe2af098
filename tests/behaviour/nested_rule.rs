//! What a function has already retried in vain is not retried again further out.
//!
//! Each call remembers, by function, the retries that were made in vain inside its current attempt. In its later
//! attempts, that function has as many attempts fewer. See `nested_chains.rs` for chains of calls,
//! `nested_keys.rs` for hooks and `nested`, `nested_dropped.rs` for calls that are dropped, `nested_time.rs`
//! for how long it is remembered, and `nested_trees.rs` for random trees of calls.

use std::cell::Cell;
use std::io::{self, ErrorKind};

use futures::future::{join, join_all};
use reattempt::retry;

use crate::script::{RESET, Script, Step};

/// Not retryable.
const MISSING: Step = Step::Fail(ErrorKind::NotFound);

/// The call around: four attempts at whatever body.
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

fn alive() -> Script {
    Script::new([Step::Succeed])
}

/// Fails three times, then succeeds.
fn slow_to_start() -> Script {
    Script::new([RESET, RESET, RESET, Step::Succeed])
}

/// The first succeeds with its last attempt, and so leaves nothing behind.
#[tokio::test(start_paused = true)]
async fn a_success_after_three_retries_takes_none_from_the_next_call() {
    let (a, b) = (slow_to_start(), dead());
    around(async || {
        fetch(&a).await?;
        fetch(&b).await
    })
    .await
    .unwrap_err();
    // `a` four times, and once in each of the three attempts that follow.
    assert_eq!((a.calls(), b.calls()), (7, 7));
}

#[tokio::test(start_paused = true)]
async fn a_dead_host_after_two_good_ones_is_called_seven_times() {
    let (first, second, third) = (alive(), alive(), dead());
    around(async || {
        fetch(&first).await?;
        fetch(&second).await?;
        fetch(&third).await
    })
    .await
    .unwrap_err();
    let calls = [&first, &second, &third].map(Script::calls);
    assert_eq!(calls, [4, 4, 7]);
}

#[tokio::test(start_paused = true)]
async fn siblings_in_turn_do_not_take_from_each_other() {
    let (one, other) = (dead(), dead());
    around(async || {
        let _ = fetch(&one).await;
        fetch(&other).await
    })
    .await
    .unwrap_err();
    assert_eq!((one.calls(), other.calls()), (7, 7));
}

#[tokio::test(start_paused = true)]
async fn siblings_at_the_same_time_do_not_take_from_each_other() {
    let (one, other) = (dead(), dead());
    around(async || {
        let (_, ended) = join(fetch(&one), fetch(&other)).await;
        ended
    })
    .await
    .unwrap_err();
    assert_eq!((one.calls(), other.calls()), (7, 7));
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
    // The nine succeeded within the first attempt; the dead one has its three retries once.
    let calls: Vec<_> = hosts.iter().map(Script::calls).collect();
    assert_eq!(calls, [7; 10]);
}

/// Retries of one function are never taken from the other.
#[tokio::test(start_paused = true)]
async fn two_functions_in_turn_keep_their_own_retries() {
    // Dead for four calls, and well from then on.
    let a = Script::new([RESET, RESET, RESET, RESET, Step::Succeed]);
    let b = slow_to_start();
    let ended = around(async || {
        fetch(&a).await?;
        store(&b).await
    })
    .await;
    assert_eq!(ended.unwrap(), 4, "`store` has all its four attempts");
    assert_eq!(a.calls(), 5);

    let (a, b) = (
        Script::new([RESET, RESET, RESET, RESET, Step::Succeed]),
        dead(),
    );
    around(async || {
        fetch(&a).await?;
        store(&b).await
    })
    .await
    .unwrap_err();
    // The first attempt fails in `fetch`; of the three others one has four calls of `store`.
    assert_eq!((a.calls(), b.calls()), (4 + 3, 4 + 1 + 1));
}

/// Nor does a function take from another through one that calls both.
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
    // `either` and `fetch`: 4 + 1. Then `either` has one attempt, and `store` its four, and then one.
    assert_eq!((a.calls(), b.calls()), (5, 4 + 1 + 1));
}

/// A worker that lives long: a call that succeeded leaves nothing behind for later attempts.
#[tokio::test(start_paused = true)]
async fn retries_that_helped_are_there_again_in_every_later_attempt() {
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

/// Of two calls of one function, one fails and one succeeds. Only the retries of the first count.
#[tokio::test(start_paused = true)]
async fn a_success_takes_back_its_own_retries_and_no_other() {
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
    // Two retries in vain, and five that helped; in each order, and at the same time.
    for order in 0..3 {
        let bad = Script::new([RESET, RESET, MISSING, RESET]);
        let good = Script::new([RESET, RESET, RESET, RESET, RESET, Step::Succeed]);
        twice(order, &bad, &good).await.unwrap_err();
        // Six less the two in vain.
        assert_eq!((bad.calls(), good.calls()), (3 + 4, 7), "{order}");
    }
}

/// The call that made most retries in vain is what counts, not the sum of all calls.
#[tokio::test(start_paused = true)]
async fn of_several_calls_in_one_attempt_the_largest_number_counts() {
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
    assert_eq!(hosts.map(|host| host.calls()), [2 + 4, 3 + 4, 2 + 4]);
}

/// From the second call of `fetch` on, three of its retries were made in vain further in.
#[tokio::test(start_paused = true)]
async fn what_a_call_remembers_goes_to_the_call_around_when_it_ends() {
    #[retry(attempts = 1, budget = "none")]
    async fn between(host: &Script) -> io::Result<usize> {
        fetch(host).await
    }
    let host = dead();
    around(async || between(&host).await).await.unwrap_err();
    assert_eq!(host.calls(), 7);
}
