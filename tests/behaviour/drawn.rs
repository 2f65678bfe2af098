//! The delays that a call draws are in the ranges of its policy.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Backoff, Jitter, Policy, retry, with_report};
use tokio::runtime::Builder;

use crate::script::ms;

const LIST: &[Duration] = &[ms(0), ms(20), ms(400)];

fn policies() -> impl Strategy<Value = Policy> {
    let length = || (0..2_000_u64).prop_map(ms);
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
    fn a_call_that_always_fails_waits_as_its_policy_says(policy in policies()) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let waits = RefCell::default();
        let (_, report) = runtime.block_on(with_report(fails(policy.clone(), &waits)));
        let waits = waits.into_inner();
        // tokio's timers have milliseconds.
        let (waited, sum) = (report.unwrap().waited(), waits.iter().sum::<Duration>());
        prop_assert!(waited >= sum && waited <= sum + ms(waits.len() as u64), "{waited:?} {sum:?}");
        keeps_to(&policy, &waits)?;
    }
}
