//! The jitter of a wait after a hint.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::time::Duration;

use reattempt::{Retryable, retry};
use tokio::time::Instant;

use crate::script::ms;

/// The error of a busy server that asks for this delay.
#[derive(Debug, thiserror::Error, Retryable)]
#[error("busy")]
#[retryable(throttled, after = "wait")]
struct Busy {
    wait: Duration,
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The waits of this many calls with two attempts each. Timers round them up to whole milliseconds.
async fn waits<E>(
    calls: usize,
    call: impl AsyncFn(&mut Vec<Instant>) -> Result<(), E>,
) -> Vec<Duration> {
    let mut waits = Vec::new();
    for _ in 0..calls {
        let mut asked = Vec::new();
        assert!(call(&mut asked).await.is_err());
        assert_eq!(asked.len(), 2);
        waits.push(asked[1].duration_since(asked[0]));
    }
    waits
}

fn assert_within(waits: &[Duration], from: Duration, to: Duration) {
    for wait in waits {
        assert!(
            (from..=to + ms(1)).contains(wait),
            "{wait:?} of {from:?}..={to:?}"
        );
    }
}

/// A hundred clients with the same hint do not come back in one instant.
#[tokio::test(start_paused = true)]
async fn a_hint_is_jittered_as_a_delay_of_the_policy() {
    #[retry(attempts = 2, base = "10s", max_retry_after = "2m", budget = "none")]
    async fn call(asked: &mut Vec<Instant>) -> Result<(), Busy> {
        asked.push(Instant::now());
        Err(Busy { wait: seconds(60) })
    }
    let waits = waits(100, call).await;
    assert_within(&waits, seconds(60), seconds(70));
    // The range has ten thousand milliseconds.
    let distinct: HashSet<_> = waits.iter().collect();
    assert!(distinct.len() > 90, "{} of 100", distinct.len());
    let longest = waits.iter().max().unwrap();
    assert!(*longest > seconds(68), "{longest:?}");
}

/// The most common hint of all is as long as the default of `max_retry_after`.
#[tokio::test(start_paused = true)]
async fn calls_with_the_longest_hint_come_back_spread_over_a_quarter_of_it() {
    #[retry(attempts = 2, base = "20s", budget = "none")]
    async fn call(asked: &mut Vec<Instant>) -> Result<(), Busy> {
        asked.push(Instant::now());
        Err(Busy { wait: seconds(60) })
    }
    let waits = waits(200, call).await;
    assert_within(&waits, seconds(60), seconds(75));
    let longest = waits.iter().max().unwrap();
    assert!(*longest > seconds(73), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn no_wait_after_a_hint_is_above_a_quarter_more_than_max_retry_after() {
    // The longest delay of the policy, and the longest hint.
    #[retry(
        attempts = 3,
        base = "8s",
        throttled_base = "8s",
        max_delay = "20s",
        max_retry_after = "20s",
        budget = "none"
    )]
    async fn twice(asked: &RefCell<Vec<Instant>>) -> Result<(), Busy> {
        asked.borrow_mut().push(Instant::now());
        Err(Busy { wait: seconds(20) })
    }
    for _ in 0..100 {
        let asked = RefCell::default();
        twice(&asked).await.unwrap_err();
        for pair in asked.borrow().windows(2) {
            assert_within(&[pair[1].duration_since(pair[0])], seconds(20), seconds(25));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_exceeded_by_a_quarter_at_most() {
    #[retry(attempts = 2, base = "2s", budget = "none")]
    async fn call(asked: &mut Vec<Instant>) -> Result<(), Busy> {
        asked.push(Instant::now());
        Err(Busy { wait: seconds(2) })
    }
    let waits = waits(200, call).await;
    assert_within(&waits, seconds(2), ms(2_500));
    let longest = waits.iter().max().unwrap();
    assert!(*longest > ms(2_400), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_hint_shorter_than_the_delay_of_the_policy_only_bounds_the_wait_from_below() {
    #[retry(attempts = 2, base = "20s", max_retry_after = "5s", budget = "none")]
    async fn call(asked: &mut Vec<Instant>) -> Result<(), Busy> {
        asked.push(Instant::now());
        Err(Busy { wait: seconds(1) })
    }
    let waits = waits(500, call).await;
    // The hint is a lower bound, and the policy's own delay ends at 20 s, whatever a server may ask for.
    assert_within(&waits, seconds(1), seconds(20));
    let longest = waits.iter().max().unwrap();
    assert!(*longest > seconds(19), "{longest:?}");
}

/// The shortest delay of the policy is longer than the hint.
#[tokio::test(start_paused = true)]
async fn a_hint_below_every_delay_of_the_policy_changes_nothing() {
    #[retry(attempts = 2, base = "20s", jitter = "equal", budget = "none")]
    async fn call(asked: &mut Vec<Instant>) -> Result<(), Busy> {
        asked.push(Instant::now());
        Err(Busy { wait: seconds(9) })
    }
    #[retry(attempts = 2, base = "20s", jitter = "none", budget = "none")]
    async fn fixed(asked: &mut Vec<Instant>) -> Result<(), Busy> {
        asked.push(Instant::now());
        Err(Busy { wait: seconds(19) })
    }
    assert_within(&waits(300, call).await, seconds(10), seconds(20));
    assert_within(&waits(5, fixed).await, seconds(20), seconds(20));
}

/// Without a hint, no wait is above `max_delay`.
#[tokio::test(start_paused = true)]
async fn without_a_hint_the_delay_of_the_policy_is_drawn() {
    #[retry(attempts = 2, base = "20s", budget = "none")]
    async fn call(asked: &mut Vec<Instant>) -> io::Result<()> {
        asked.push(Instant::now());
        Err(io::ErrorKind::ConnectionReset.into())
    }
    assert_within(&waits(300, call).await, ms(0), seconds(20));
}
