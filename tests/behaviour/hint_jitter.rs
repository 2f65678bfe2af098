//! The jitter of a wait after a hint.

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use reattempt::{Jitter, Retryable, retry};
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

#[retry(attempts = 2, base = base, max_retry_after = longest, jitter = jitter, budget = "none")]
async fn call(
    asked: &mut Vec<Instant>,
    hint: Duration,
    (base, longest, jitter): (Duration, Duration, Jitter),
) -> Result<(), Busy> {
    asked.push(Instant::now());
    Err(Busy { wait: hint })
}

/// The waits of this many calls. Timers round them up to whole milliseconds.
async fn waits(
    calls: usize,
    hint: Duration,
    policy: (Duration, Duration, Jitter),
) -> Vec<Duration> {
    let mut waits = Vec::new();
    for _ in 0..calls {
        let mut asked = Vec::new();
        call(&mut asked, hint, policy).await.unwrap_err();
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
    let waits = waits(100, seconds(60), (seconds(10), seconds(120), Jitter::Full)).await;
    assert_within(&waits, seconds(60), seconds(70));
    // The range has ten thousand milliseconds.
    let distinct: HashSet<_> = waits.iter().collect();
    assert!(distinct.len() > 90, "{} of 100", distinct.len());
    let longest = waits.iter().max().unwrap();
    assert!(*longest > seconds(68), "{longest:?}");
}

const DEFAULT: Duration = seconds(60);

/// The most common hint of all is as long as the default of `max_retry_after`.
#[tokio::test(start_paused = true)]
async fn calls_with_the_longest_hint_come_back_spread_over_a_quarter_of_it() {
    let waits = waits(200, seconds(60), (seconds(20), DEFAULT, Jitter::Full)).await;
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
async fn a_hint_bounds_the_wait_from_below_and_is_exceeded_by_a_quarter_at_most() {
    let twenty = |longest, jitter| (seconds(20), longest, jitter);
    #[rustfmt::skip]
    let cases = [
        (seconds(2), (seconds(2), DEFAULT, Jitter::Full), seconds(2), ms(2_500), ms(2_400)),
        // A shorter hint than the delay of the policy, which ends at 20 s, whatever a server may ask for.
        (seconds(1), twenty(seconds(5), Jitter::Full), seconds(1), seconds(20), seconds(19)),
        // The shortest delay of the policy is longer than the hint.
        (seconds(9), twenty(DEFAULT, Jitter::Equal), seconds(10), seconds(20), seconds(19)),
        (seconds(19), twenty(DEFAULT, Jitter::None), seconds(20), seconds(20), seconds(19)),
    ];
    for (hint, policy, from, to, reached) in cases {
        let waits = waits(500, hint, policy).await;
        assert_within(&waits, from, to);
        let longest = waits.iter().max().unwrap();
        assert!(*longest > reached, "{hint:?}: {longest:?}");
    }
}
