//! Schedules of delays that a policy draws without a call.

use std::cell::RefCell;
use std::future::ready;
use std::io;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Backoff, FAST_IO, Jitter, Policy, SLOW_IO, retry, with_report};
use tokio::runtime::Builder;

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
    let (_, report) = with_report(fails.without_budget()).await;
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
        let (attempts, waited) = waited(policy.clone()).await;
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
            by_calls += waited(policy.clone()).await.1;
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
    assert_eq!(endless.nth(100_000), Some(ms(300)));
}

fn policies(longest: u64) -> impl Strategy<Value = Policy> {
    let length = move || prop_oneof![0..2_000_u64, Just(longest)].prop_map(ms);
    let jitter = prop_oneof![
        Just(Jitter::None),
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated)
    ];
    let backoff = prop_oneof![
        Just(Backoff::Exponential),
        Just(Backoff::Constant),
        Just(Backoff::Linear),
        Just(Backoff::Fibonacci)
    ];
    let lengths = (length(), length(), 0..200_u64, prop::option::of(length()));
    let drawn = (1..40_u32, lengths, backoff, 1.0..4.0_f64, jitter);
    (drawn, prop::bool::weighted(0.1)).prop_map(
        |((attempts, (base, max, min, deadline), backoff, factor, jitter), listed)| {
            let policy = Policy::new().with_attempts(attempts).with_jitter(jitter);
            let policy = policy.with_backoff(backoff).with_factor(factor);
            let policy = policy.with_base(base).with_max_delay(max);
            let policy = policy.with_min_delay(ms(min));
            let policy = if listed {
                policy.with_delays(LIST).with_attempts(attempts)
            } else {
                policy
            };
            match deadline {
                Some(deadline) => policy.with_deadline(deadline),
                None => policy,
            }
        },
    )
}

/// Whether a call of this policy may wait so, and end there.
fn keeps_to(policy: &Policy, waits: &[Duration]) -> Result<(), TestCaseError> {
    let retries = policy.attempts().unwrap() as usize - 1;
    prop_assert!(waits.len() <= retries);
    let (mut waited, mut previous) = (Duration::ZERO, None);
    for (n, delay) in (0..).zip(waits.iter().copied()) {
        let range = policy.delay_range(n, previous);
        prop_assert!(delay <= *range.end(), "{:?}", range);
        prop_assert!(delay >= *range.start(), "{:?}", range);
        waited = waited.saturating_add(delay);
        previous = Some(delay);
    }
    if let Some(deadline) = policy.deadline() {
        prop_assert!(waited <= deadline);
    } else {
        prop_assert_eq!(waits.len(), retries);
    }
    Ok(())
}

#[retry(policy = policy, budget = "none", on_retry = |event| waits.borrow_mut().push(event.delay()))]
async fn fails(policy: Policy, waits: &RefCell<Vec<Duration>>) -> io::Result<()> {
    Err(io::ErrorKind::ConnectionReset.into())
}

proptest! {
    #[test]
    fn every_schedule_keeps_to_its_policy(policy in policies(u64::MAX), seed in any::<u64>()) {
        let drawn: Vec<_> = policy.schedule(seed).collect();
        keeps_to(&policy, &drawn)?;
        let retries = policy.attempts().unwrap() as usize - 1;
        prop_assert!(drawn.len() <= retries);
    }

    /// A key that changes the waits of calls has to change schedules too.
    #[test]
    fn a_call_that_always_fails_waits_as_its_schedule(policy in policies(2_000), seed in any::<u64>()) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let waits = RefCell::default();
        let (_, report) = runtime.block_on(with_report(fails(policy.clone(), &waits)));
        let waits = waits.into_inner();
        // tokio's timers have milliseconds.
        let (waited, sum) = (report.unwrap().waited(), waits.iter().sum::<Duration>());
        prop_assert!(waited >= sum && waited <= sum + ms(waits.len() as u64), "{waited:?} {sum:?}");
        let drawn: Vec<_> = policy.schedule(seed).collect();
        if policy.jitter() == Jitter::None {
            prop_assert!(drawn.starts_with(&waits), "{drawn:?} {waits:?}");
            // What the timers took may be what the deadline lacks: a millisecond for each wait, and a tenth of that.
            let rounded = ms(2 * waits.len() as u64);
            let earlier = policy.deadline().map(|deadline| deadline.saturating_sub(rounded));
            let least = match earlier {
                Some(earlier) => policy.with_deadline(earlier).schedule(seed).count(),
                None => drawn.len(),
            };
            prop_assert!(waits.len() >= least, "{drawn:?} {waits:?}");
        } else {
            keeps_to(&policy, &drawn)?;
            keeps_to(&policy, &waits)?;
        }
    }
}
