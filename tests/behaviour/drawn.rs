//! Schedules of delays that a policy draws without a call.

use std::future::ready;
use std::io;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Backoff, FAST_IO, Jitter, Policy, SLOW_IO, observe};

use crate::script::ms;

/// The waits of a call whose attempts all fail at once.
async fn waited(policy: Policy) -> (u32, Duration) {
    let mut attempts = 0;
    let fails = policy.run(|| {
        attempts += 1;
        assert!(attempts < 1_000, "the delays never reach the deadline");
        ready(Err::<(), _>(io::Error::from(
            io::ErrorKind::ConnectionReset,
        )))
    });
    let (_, report) = observe(fails.without_budget()).await;
    let report = report.unwrap();
    (report.attempts(), report.waited())
}

const FIXED: Policy = Policy::new()
    .with_attempts(9)
    .with_base(ms(10))
    .with_max_delay(ms(300))
    .with_jitter(Jitter::None);

const LIST: &[Duration] = &[ms(0), ms(20), ms(400)];

#[tokio::test(start_paused = true)]
async fn a_schedule_without_jitter_is_what_a_call_waits() {
    for policy in [
        FIXED,
        FIXED.with_backoff(Backoff::Fibonacci),
        FIXED.with_attempts(1),
        FIXED.with_deadline(ms(700)),
        FIXED.with_deadline(ms(71)),
        FIXED.with_deadline(ms(5)),
        FIXED.with_deadline(Duration::ZERO),
        FIXED.with_unlimited_attempts().with_deadline(ms(2_000)),
        FIXED.with_base(Duration::ZERO).with_deadline(ms(20)),
        FIXED.with_delays(LIST),
        FIXED.with_delays(LIST).with_deadline(ms(300)),
    ] {
        let drawn: Vec<_> = policy.schedule(1).collect();
        let (attempts, waited) = waited(policy).await;
        assert_eq!(drawn.len() + 1, attempts as usize, "{policy}");
        assert_eq!(drawn.iter().sum::<Duration>(), waited, "{policy}");
    }
}

/// The means of 400 calls and of 400 schedules differ by a fifth at most once in 10^7 runs. The standard deviation
/// of one total is below a half of its mean, and that of the difference of the means below a twenty-eighth.
#[tokio::test(start_paused = true)]
async fn schedules_with_jitter_are_drawn_as_those_of_calls() {
    const RUNS: u32 = 400;
    for policy in [
        FIXED.with_jitter(Jitter::Full),
        FIXED.with_jitter(Jitter::Equal),
        FIXED.with_jitter(Jitter::Decorrelated),
        SLOW_IO,
    ] {
        let mut by_calls = Duration::ZERO;
        for _ in 0..RUNS {
            by_calls += waited(policy).await.1;
        }
        let drawn: Duration = (0..RUNS)
            .flat_map(|seed| policy.schedule(seed.into()))
            .sum();
        let apart = drawn.as_secs_f64() / by_calls.as_secs_f64() - 1.0;
        assert!(apart.abs() < 0.2, "{policy}: {by_calls:?} and {drawn:?}");
    }
}

#[test]
fn a_seed_gives_the_same_schedule_each_time() {
    let drawn = |seed| SLOW_IO.schedule(seed).collect::<Vec<_>>();
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7), drawn(8));
    let mut schedule = FAST_IO.schedule(7);
    assert_eq!(schedule.by_ref().count(), 2);
    assert_eq!((schedule.next(), schedule.next()), (None, None));
}

#[test]
fn a_schedule_without_limits_has_no_end() {
    let mut endless = FIXED.with_unlimited_attempts().schedule(0);
    assert_eq!(endless.size_hint(), (usize::MAX, None));
    assert_eq!(endless.nth(100_000), Some(ms(300)));
}

fn policies() -> impl Strategy<Value = Policy> {
    let length = || prop_oneof![0..2_000_u64, Just(u64::MAX)].prop_map(ms);
    let jitter = prop_oneof![
        Just(Jitter::None),
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated)
    ];
    let deadline = prop::option::of(length());
    (1..40_u32, length(), length(), jitter, deadline).prop_map(
        |(attempts, base, max_delay, jitter, deadline)| {
            let policy = Policy::new().with_attempts(attempts).with_jitter(jitter);
            let policy = policy.with_base(base).with_max_delay(max_delay);
            match deadline {
                Some(deadline) => policy.with_deadline(deadline),
                None => policy,
            }
        },
    )
}

proptest! {
    #[test]
    fn every_schedule_keeps_to_its_policy(policy in policies(), seed in any::<u64>()) {
        let drawn: Vec<_> = policy.schedule(seed).collect();
        let retries = policy.attempts().unwrap() as usize - 1;
        prop_assert!(drawn.len() <= retries);
        prop_assert_eq!(policy.schedule(seed).size_hint().1, Some(retries));
        let (mut waited, mut previous) = (Duration::ZERO, None);
        for (n, delay) in (0..).zip(drawn) {
            let range = policy.delay_range(n, previous);
            prop_assert!(delay <= *range.end(), "{:?}", range);
            prop_assert!(delay >= *range.start(), "{:?}", range);
            waited = waited.saturating_add(delay);
            previous = Some(delay);
        }
        if let Some(deadline) = policy.deadline() {
            prop_assert!(waited <= deadline);
        } else {
            prop_assert_eq!(policy.schedule(seed).count(), retries);
        }
    }
}
