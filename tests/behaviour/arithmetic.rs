//! Compares the arithmetic of delays with a model in whole numbers, for every input.

use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Backoff, Jitter, Policy};

use crate::script::ms;

const BACKOFFS: [Backoff; 4] = [
    Backoff::Exponential,
    Backoff::Constant,
    Backoff::Linear,
    Backoff::Fibonacci,
];

const JITTERS: [Jitter; 5] = [
    Jitter::None,
    Jitter::Full,
    Jitter::Equal,
    Jitter::Decorrelated,
    Jitter::Around(20),
];

/// Durations of every magnitude, including zero and the longest.
fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::MAX),
        (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| Duration::from_nanos(bits >> shift)),
        (any::<u64>(), 0_u32..1_000_000_000)
            .prop_map(|(seconds, nanos)| Duration::new(seconds, nanos)),
    ]
}

/// Retry numbers of every magnitude.
fn number() -> impl Strategy<Value = u32> {
    (0_u32..32, any::<u32>()).prop_map(|(shift, bits)| bits >> shift)
}

fn factor() -> impl Strategy<Value = f64> {
    1.0_f64..=1000.0
}

/// `base * times`, in nanoseconds, saturating and at most `max`.
fn multiple(base: Duration, times: u128, max: Duration) -> u128 {
    base.as_nanos().saturating_mul(times).min(max.as_nanos())
}

fn power(factor: u128, n: u32) -> u128 {
    factor.saturating_pow(n)
}

fn fibonacci(n: u32) -> u128 {
    let (mut current, mut next) = (1_u128, 1_u128);
    for _ in 0..n.min(1000) {
        (current, next) = (next, current.saturating_add(next));
    }
    current
}

/// The ceiling of the delay before retry `n`, which is the delay itself without jitter.
fn ceiling(backoff: Backoff, n: u32, base: Duration, max_delay: Duration, factor: f64) -> Duration {
    let policy = Policy::new()
        .with_backoff(backoff)
        .with_base(base)
        .with_max_delay(max_delay)
        .with_factor(factor)
        .with_jitter(Jitter::None);
    *policy.delay_range(n, None).end()
}

proptest! {
    #[test]
    fn no_ceiling_is_above_max_delay_or_below_the_one_before(
        n in number(), base in duration(), max in duration(), factor in factor(),
    ) {
        for backoff in BACKOFFS {
            let ceiling = ceiling(backoff, n, base, max, factor);
            prop_assert!(ceiling <= max, "{backoff}: {ceiling:?}");
            prop_assert!(ceiling >= base.min(max), "{backoff}: {ceiling:?}");
            let next = self::ceiling(backoff, n.saturating_add(1), base, max, factor);
            prop_assert!(next >= ceiling, "{backoff}: {ceiling:?}, then {next:?}");
        }
    }

    #[test]
    fn every_ceiling_is_what_its_formula_says(
        n in number(), base in duration(), max in duration(), factor in 1_u16..=1000,
    ) {
        let given = f64::from(factor);
        let ceiling = |backoff: Backoff| ceiling(backoff, n, base, max, given).as_nanos();
        prop_assert_eq!(
            ceiling(Backoff::Exponential),
            multiple(base, power(u128::from(factor), n), max)
        );
        prop_assert_eq!(ceiling(Backoff::Constant), multiple(base, 1, max));
        prop_assert_eq!(ceiling(Backoff::Linear), multiple(base, u128::from(n) + 1, max));
        prop_assert_eq!(ceiling(Backoff::Fibonacci), multiple(base, fibonacci(n), max));
    }

    #[test]
    fn no_jitter_leaves_its_bounds(
        base in duration(), max in duration(), previous in proptest::option::of(duration()),
    ) {
        // The ceiling of a constant backoff is `base`.
        let policy = Policy::new().with_backoff(Backoff::Constant).with_base(base).with_max_delay(max);
        let range = |jitter| policy.clone().with_jitter(jitter).delay_range(0, previous);
        for jitter in JITTERS {
            let range = range(jitter);
            prop_assert!(range.start() <= range.end(), "{jitter}: {range:?}");
            prop_assert!(*range.end() <= max, "{jitter}: {range:?}");
        }
        let cut = base.min(max);
        prop_assert_eq!(range(Jitter::None), cut..=cut);
        prop_assert_eq!(range(Jitter::Full), Duration::ZERO..=cut);
        prop_assert_eq!(range(Jitter::Equal), cut / 2..=cut);
        let grown = |factor| previous.unwrap_or(base).saturating_mul(factor).min(max).max(cut);
        prop_assert_eq!(range(Jitter::Decorrelated), cut..=grown(3));
        // The backoff has no effect on it.
        let growing = policy.clone().with_backoff(Backoff::Exponential).with_factor(7.0);
        let drawn = growing.with_jitter(Jitter::Decorrelated).delay_range(5, previous);
        prop_assert_eq!(drawn, cut..=grown(7));
        for percent in [0, 20, 100, 255] {
            let spread = cut.saturating_mul(u32::from(percent).min(100)) / 100;
            let around = cut.saturating_sub(spread)..=cut.saturating_add(spread).min(max);
            prop_assert_eq!(range(Jitter::Around(percent)), around);
        }
    }

    #[test]
    fn no_policy_panics_whatever_its_durations(
        n in number(), attempts in 1_u32..=u32::MAX, timeout in duration(), deadline in duration(),
        base in duration(), max in duration(),
    ) {
        for (backoff, jitter) in BACKOFFS.into_iter().cycle().zip(JITTERS) {
            let policy = Policy::new()
                .with_attempts(attempts)
                .with_timeout(timeout)
                .with_deadline(deadline)
                .with_backoff(backoff)
                .with_jitter(jitter)
                .with_base(base)
                .with_max_delay(max);
            prop_assert!(*policy.delay_range(n, Some(max)).end() <= max);
            prop_assert!(policy.worst_case().unwrap() <= deadline);
            prop_assert!(policy.to_string().contains("at most"));
        }
    }
}

#[test]
fn the_worst_case_is_the_sum_of_all_attempts_and_waits() {
    let second = Duration::from_secs(1);
    let policy = Policy::new()
        .with_attempts(6)
        .with_timeout(second)
        .with_base(second)
        .with_throttled_base(second)
        .with_max_delay(second * 5);
    // There are 6 attempts, and waits of 1, 2, 4, 5 and 5 seconds.
    assert_eq!(policy.worst_case(), Some(second * 23));
    assert_eq!(
        policy.clone().with_deadline(second * 20).worst_case(),
        Some(second * 20)
    );
    assert_eq!(policy.clone().with_attempts(1).worst_case(), Some(second));
    assert_eq!(Policy::new().worst_case(), None);
    // Four thousand million delays never reach `max_delay` here. The sum is computed at once.
    let many = policy
        .with_backoff(Backoff::Constant)
        .with_attempts(u32::MAX - 1);
    assert_eq!(
        many.worst_case(),
        Some(second * (u32::MAX - 1) + second * (u32::MAX - 2))
    );
}

/// Beyond 512 waits, each counts as the last one.
#[test]
fn the_worst_case_of_very_many_attempts_is_not_below_the_sum() {
    let policy = Policy::new()
        .with_attempts(601)
        .with_timeout(ms(1))
        .with_base(ms(1))
        .with_throttled_base(ms(1))
        .with_max_delay(Duration::from_secs(10))
        .with_backoff(Backoff::Linear);
    let first: u64 = (1..=512).sum();
    assert_eq!(policy.worst_case(), Some(ms(601 + first + 88 * 600)));
}

#[test]
fn a_policy_shows_at_most_thirteen_attempts() {
    for (attempts, rows, more) in [
        (1, 0, false),
        (3, 3, false),
        (13, 13, false),
        (14, 13, true),
        (99, 13, true),
    ] {
        let shown = Policy::new().with_attempts(attempts).to_string();
        assert_eq!(shown.matches("\n  attempt ").count(), rows, "{shown}");
        assert_eq!(shown.contains('…'), more, "{shown}");
    }
}

#[test]
fn the_worst_case_of_a_list_counts_each_of_its_delays() {
    static DELAYS: [Duration; 600] = {
        let mut delays = [Duration::from_millis(1); 600];
        delays[555] = Duration::from_secs(3600);
        delays
    };
    let second = Duration::from_secs(1);
    let policy = Policy::new().with_delays(&DELAYS).with_timeout(second);
    let waits: Duration = DELAYS.iter().sum();
    assert_eq!(policy.worst_case(), Some(second * 601 + waits));
    // The last delay is repeated.
    let longer = policy.with_attempts(701).worst_case();
    let repeated = Duration::from_millis(100);
    assert_eq!(longer, Some(second * 701 + waits + repeated));
}

#[test]
fn only_jitter_around_it_makes_a_listed_delay_longer() {
    static DELAYS: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(200)];
    let around = Policy::new()
        .with_delays(&DELAYS)
        .with_jitter(Jitter::Around(20));
    assert_eq!(around.delay_range(0, None), ms(8)..=ms(12));
    assert_eq!(around.delay_range(7, None), ms(160)..=ms(240));
    for jitter in JITTERS
        .into_iter()
        .filter(|jitter| *jitter != Jitter::Around(20))
    {
        let policy = Policy::new()
            .with_delays(&DELAYS)
            .with_jitter(jitter)
            .with_attempts(600)
            .with_timeout(Duration::ZERO);
        for n in 0..600 {
            let listed = DELAYS[usize::from(n > 0)];
            let range = policy.delay_range(n, Some(Duration::from_secs(3600)));
            assert_eq!(*range.end(), listed, "{jitter}, retry {n}");
        }
        let longest = DELAYS[0] + DELAYS[1] * 598;
        assert_eq!(policy.worst_case(), Some(longest), "{jitter}");
    }
    let decorrelated = |policy: Policy| policy.with_jitter(Jitter::Decorrelated);
    let range = decorrelated(Policy::new().with_delays(&DELAYS)).delay_range(1, None);
    assert_eq!(range, Duration::ZERO..=DELAYS[1], "as with full jitter");
}

#[test]
fn no_factor_outside_of_its_range_is_stored() {
    let counts_as_1 = [
        f64::NAN,
        f64::NEG_INFINITY,
        -1.0,
        -0.0,
        0.0,
        f64::MIN_POSITIVE / 2.0,
        0.999,
    ];
    for factor in counts_as_1 {
        let policy = Policy::new().with_factor(factor);
        assert_eq!(policy, Policy::new().with_factor(1.0), "{factor}");
    }
    for factor in [f64::INFINITY, 1000.001, 1e308] {
        let policy = Policy::new().with_factor(factor);
        assert_eq!(policy, Policy::new().with_factor(1000.0), "{factor}");
    }
    for factor in [1.0, 1.5, 2.0, 999.999, 1000.0] {
        let stored = Policy::new().with_factor(factor).factor();
        assert!((stored - factor).abs() < 1e-9, "{factor}: {stored}");
    }
}

#[test]
fn zero_attempts_count_as_one() {
    let policy = Policy::new();
    assert_eq!(policy.clone().with_attempts(0), policy.with_attempts(1));
}

#[test]
fn only_unlimited_attempts_have_no_worst_case() {
    let policy = Policy::new();
    assert_eq!(policy.clone().with_unlimited_attempts().attempts(), None);
    assert_eq!(policy.clone().with_attempts(u32::MAX).attempts(), None);
    assert_eq!(
        policy.with_attempts(u32::MAX - 1).attempts(),
        Some(u32::MAX - 1)
    );
}

#[test]
fn a_timeout_or_a_deadline_limits_a_policy() {
    let policy = Policy::new();
    assert!(!policy.is_limited());
    assert!(policy.clone().with_timeout(ms(1)).is_limited());
    assert!(policy.with_deadline(ms(1)).is_limited());
}

/// The documentation has the same numbers.
#[test]
fn a_policy_without_settings_has_the_documented_defaults() {
    let policy = Policy::default();
    assert_eq!(policy.attempts(), Some(3));
    assert_eq!((policy.timeout(), policy.deadline()), (None, None));
    assert_eq!(policy.backoff(), Backoff::Exponential);
    assert_eq!(policy.jitter(), Jitter::Full);
    assert_eq!(policy.base(), Duration::from_millis(100));
    assert_eq!(policy.max_delay(), Duration::from_secs(20));
    assert_eq!(policy.factor().to_string(), "2");
    assert_eq!(
        policy
            .clone()
            .with_jitter(Jitter::Decorrelated)
            .factor()
            .to_string(),
        "3"
    );
    assert_eq!(policy.max_retry_after(), Duration::from_secs(60));
}

/// The `f64` nearest to 1.001, times 1000, is less than 1,001.
#[test]
fn a_factor_keeps_its_thousandths() {
    for thousandths in 1000..=20_000_u32 {
        let factor = f64::from(thousandths) / 1000.0;
        let kept = Policy::new().with_factor(factor).factor();
        assert_eq!(kept.to_string(), factor.to_string());
    }
}
