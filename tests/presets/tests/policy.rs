//! Policies that are read from and written to configuration, in TOML and in JSON.

mod listed;

use std::time::Duration;

use proptest::prelude::*;
use reattempt::{Backoff, Budget, FAST_IO, Jitter, NO_RETRY, Nested, Policy, SLOW_IO};

use self::listed::keys;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn read(text: &str) -> Result<Policy, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
}

#[test]
fn every_key_is_read() {
    let policy = read(
        r#"
        attempts = 6
        timeout = "1.5s"
        deadline = "1m 30s"
        backoff = "linear"
        base = "250ms"
        throttled_base = "2s"
        min_delay = "20ms"
        max_delay = "5s"
        factor = 1.5
        jitter = "equal"
        max_retry_after = "0s"
        hedge = "30ms"
        [budget]
        refill = 1.5
        kind = "aws"
        capacity = 50
        retry_cost = 3
        timeout_cost = 4
        throttled_cost = 0
        reward = 2
        "#,
    );
    let expected = Policy::new()
        .with_attempts(6)
        .with_timeout(ms(1500))
        .with_deadline(ms(90_000))
        .with_backoff(Backoff::Linear)
        .with_base(ms(250))
        .with_throttled_base(ms(2000))
        .with_min_delay(ms(20))
        .with_max_delay(ms(5000))
        .with_factor(1.5)
        .with_jitter(Jitter::Equal)
        .with_max_retry_after(Duration::ZERO)
        .with_hedge(ms(30))
        .with_budget(
            Budget::aws()
                .with_capacity(50)
                .with_retry_cost(3)
                .with_timeout_cost(4)
                .with_throttled_cost(0)
                .with_reward(2.0)
                .with_refill(1.5),
        );
    assert_eq!(policy, Ok(expected));
}

#[test]
fn a_budget_is_a_word_or_a_table() {
    let with = |budget| Policy::new().with_budget(budget);
    for (text, expected) in [
        ("budget = 'none'", Policy::new().without_budget()),
        ("budget = 'default'", with(Budget::new())),
        ("budget = 'aws'", with(Budget::aws())),
        ("budget = {}", Policy::new()),
        ("budget.kind = 'default'", with(Budget::new())),
        ("budget.kind = 'aws'", with(Budget::aws())),
        ("budget.ratio = 0.25", with(Budget::ratio(0.25))),
        ("budget.ratio = 1", with(Budget::ratio(1.0))),
        ("budget.capacity = 1", with(Budget::new().with_capacity(1))),
        (
            "budget = { capacity = 20, ratio = 0.5 }",
            with(Budget::ratio(0.5).with_capacity(20)),
        ),
    ] {
        assert_eq!(read(text), Ok(expected), "{text}");
    }
}

#[test]
fn a_budget_is_written_with_all_numbers() {
    let written = |policy: Policy| {
        let json = serde_json::to_value(policy).unwrap();
        json.get("budget").map(ToString::to_string)
    };
    assert_eq!(written(Policy::new()), None);
    let none = Policy::new().without_budget();
    assert_eq!(written(none).as_deref(), Some("\"none\""));
    let toml = toml::to_string(&Policy::new().with_budget(Budget::new())).unwrap();
    let (_, table) = toml.split_once("\n[budget]\n").unwrap();
    assert_eq!(
        table,
        "kind = \"default\"\n\
         capacity = 200\n\
         retry_cost = 2\n\
         timeout_cost = 6\n\
         throttled_cost = 4\n\
         reward = 0.2\n\
         refill = 2.0\n"
    );
    let ratio = written(Policy::new().with_budget(Budget::ratio(0.1))).unwrap();
    assert!(ratio.contains("\"ratio\":0.1"), "{ratio}");
    assert!(
        !ratio.contains("reward") && !ratio.contains("kind"),
        "{ratio}"
    );
    let above = Policy::new().with_budget(Budget::ratio(0.1).with_reward(1.5));
    let error = serde_json::to_string(&above).unwrap_err().to_string();
    assert!(error.starts_with("ratio 1.5 is not from 0 to 1"), "{error}");
}

#[test]
fn missing_keys_have_their_defaults() {
    assert_eq!(read(""), Ok(Policy::new()));
    assert_eq!(
        read("attempts = \"unlimited\""),
        Ok(Policy::new().with_unlimited_attempts())
    );
    assert_eq!(read("factor = 3"), Ok(Policy::new().with_factor(3.0)));
}

const REFUSED: &[(&str, &str)] = &[
    (
        "atempts = 4",
        "unknown key `atempts`; did you mean `attempts`? KEYS",
    ),
    (
        "maxDelay = '1s'",
        "unknown key `maxDelay`; did you mean `max_delay`? KEYS",
    ),
    ("colour = 1", "unknown key `colour`; KEYS"),
    (
        "max_retries = 3",
        "unknown key `max_retries`, called `attempts` here; `attempts` counts the first call as well: \
             3 retries are 4 attempts",
    ),
    (
        "delays = ['1s']",
        "`delays` cannot be configured; a list of delays belongs in the code: `Policy::with_delays`, \
             or the attribute's `delays`",
    ),
    (
        "attempts = 0",
        "`attempts` is 0, expected at least 1, as the first call counts; write 1 for no retry",
    ),
    (
        "attempts = -1",
        "`attempts` is negative (-1), expected at least 1; write 1 for no retry, or \"unlimited\"",
    ),
    (
        "attempts = 1.5",
        "found 1.5, expected a whole number from 1, or \"unlimited\"; write 4, for example",
    ),
    (
        "attempts = 4.0",
        "found 4.0, expected a whole number from 1, or \"unlimited\"; write 4, for example",
    ),
    (
        "attempts = '4'",
        "found \"4\", expected a whole number from 1, or \"unlimited\"; write 4, for example",
    ),
    (
        "attempts = true",
        "found true, expected a whole number from 1, or \"unlimited\"; write 4, for example",
    ),
    (
        "attempts = 4294967295",
        "`attempts` is out of range (4294967295), expected at most 4294967294; write \"unlimited\" for no limit",
    ),
    (
        "attempts = 'forever'",
        "found \"forever\", expected a whole number from 1, or \"unlimited\"; did you mean \"unlimited\"?",
    ),
    (
        "attempts = 'never'",
        "found \"never\", expected a whole number from 1, or \"unlimited\"; write 1 for no retry",
    ),
    (
        "timeout = '1.5'",
        "duration \"1.5\" has no unit; write \"1.5s\" or \"1.5ms\"",
    ),
    (
        "timeout = 1500",
        "duration 1500 has no unit; write \"1500ms\" or \"1500s\"",
    ),
    (
        "timeout = -5",
        "found -5, expected a duration; write \"1.5s\", for example",
    ),
    (
        "timeout = '25h'",
        "duration \"25h\" is above 24h; write \"24h\" or less",
    ),
    (
        "timeout = '0s'",
        "`timeout` is zero, so that no attempt could end in time; leave it out for no limit",
    ),
    (
        "max_delay = '0s'",
        "`max_delay` is zero, so that no retry would wait; write `base = \"0s\"` to retry without waiting",
    ),
    (
        "timeout = 'none'",
        "found \"none\", expected a duration; leave `timeout` out for no limit",
    ),
    (
        "base = ['1s']",
        "found a list, expected a duration; write \"100ms\", for example",
    ),
    (
        "base = { secs = 1 }",
        "found a table, expected a duration; write \"100ms\", for example",
    ),
    (
        "factor = 0.5",
        "factor 0.5 is not from 1 to 1000; write 2.0, or `backoff = \"constant\"` for equal delays",
    ),
    (
        "factor = 1001",
        "factor 1001 is not from 1 to 1000; write 2.0, for example",
    ),
    (
        "factor = nan",
        "factor NaN is not from 1 to 1000; write 2.0, for example",
    ),
    (
        "factor = '2'",
        "found \"2\", expected a number from 1 to 1000; write 2.0, for example",
    ),
    (
        "jitter = 'ful'",
        "unknown jitter \"ful\"; did you mean \"full\"? `jitter` is one of \"none\", \"full\", \"equal\", \
             \"decorrelated\"",
    ),
    (
        "backoff = 'quadratic'",
        "unknown backoff \"quadratic\"; `backoff` is one of \"exponential\", \"constant\", \"linear\", \"fibonacci\"",
    ),
    (
        "backoff = 2",
        "found 2, expected the name of a backoff; write \"exponential\", for example",
    ),
    (
        "timeout = '5s'\ndeadline = '3s'",
        "`timeout` (5s) is above `deadline` (3s); a timeout is for one attempt, the deadline for all: \
         write `deadline = \"5s\"` or more, or a shorter `timeout`",
    ),
    (
        "base = '30s'",
        "`base` (30s) is above `max_delay` (20s); write `max_delay = \"30s\"` or more, or a shorter `base`",
    ),
];

#[test]
fn wrong_values_are_refused_with_the_expected_kind() {
    for (text, message) in REFUSED {
        assert_eq!(read(text), Err(message.replace("KEYS", &keys())), "{text}");
    }
}

#[test]
fn an_error_points_at_its_key_or_value() {
    let error = toml::from_str::<Policy>("attempts = 4\ntimeot = '1s'").unwrap_err();
    assert_eq!(error.span(), Some(13..19));
    let error = toml::from_str::<Policy>("attempts = 4\ntimeout = '1'").unwrap_err();
    assert_eq!(error.span(), Some(23..26));
}

#[test]
fn json_has_the_same_messages_and_a_key_is_given_once() {
    let read = |text| {
        let error = serde_json::from_str::<Policy>(text).unwrap_err();
        error.to_string()
    };
    let twice = read(r#"{ "attempts": 4, "attempts": 5 }"#);
    assert!(twice.starts_with("`attempts` is given twice"), "{twice}");
    let nothing = read(r#"{ "attempts": null }"#);
    assert!(
        nothing.starts_with("found nothing, expected a whole number"),
        "{nothing}"
    );
    let no_map = read("4");
    assert!(
        no_map.contains("expected a map with the keys of a retry policy"),
        "{no_map}"
    );
}

#[test]
fn a_policy_is_written_in_full() {
    let policy = SLOW_IO.with_deadline(ms(90_500));
    assert_eq!(
        toml::to_string(&policy).unwrap(),
        "attempts = 5\n\
         timeout = \"10s\"\n\
         deadline = \"1m 30s 500ms\"\n\
         backoff = \"exponential\"\n\
         base = \"250ms\"\n\
         min_delay = \"0s\"\n\
         max_delay = \"20s\"\n\
         factor = 2.0\n\
         jitter = \"full\"\n\
         max_retry_after = \"1m\"\n"
    );
    for policy in [FAST_IO, SLOW_IO, NO_RETRY, Policy::new()] {
        assert_eq!(read(&toml::to_string(&policy).unwrap()), Ok(policy));
    }
}

#[test]
fn a_policy_that_could_not_be_read_is_not_written() {
    const DELAYS: &[Duration] = &[Duration::ZERO];
    for (policy, reason) in [
        (
            Policy::new().with_delays(DELAYS),
            "`delays` cannot be configured",
        ),
        (
            Policy::new().with_nested(Nested::Outermost),
            "`nested` cannot be configured",
        ),
        (
            Policy::new().with_timeout(Duration::ZERO),
            "`timeout` is zero",
        ),
        (
            Policy::new().with_deadline(Duration::MAX),
            "duration \"5124095576030431h 15s 999ms 999us 999ns\" is above 24h",
        ),
        (
            Policy::new().with_timeout(ms(2)).with_deadline(ms(1)),
            "`timeout` (2ms) is above `deadline` (1ms)",
        ),
    ] {
        let error = serde_json::to_string(&policy).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{error}");
    }
}

/// Sets a budget in a policy, removes it, or does nothing.
fn with_budget(policy: Policy, budget: BudgetCase) -> Policy {
    let (kind, capacity, costs, reward, refill) = budget;
    let budget = match kind {
        0 => return policy,
        1 => return policy.without_budget(),
        2 => Budget::new().with_reward(reward),
        3 => Budget::aws().with_reward(reward),
        _ => Budget::ratio(reward / MOST),
    };
    policy.with_budget(
        budget
            .with_capacity(capacity)
            .with_retry_cost(costs.0)
            .with_timeout_cost(costs.1)
            .with_throttled_cost(costs.2)
            .with_refill(refill),
    )
}

type BudgetCase = (u32, u32, (u32, u32, u32), f64, f64);

/// The largest number of tokens.
const MOST: f64 = 268_435.0;

fn budgets() -> impl Strategy<Value = BudgetCase> {
    let cost = || 0..=268_435_u32;
    let costs = (cost(), cost(), cost());
    (0..5_u32, 1..=268_435_u32, costs, 0.0..=MOST, 0.0..=MOST)
}

fn policies() -> impl Strategy<Value = Policy> {
    let length = || (1..=86_400_000_000_000_u64).prop_map(Duration::from_nanos);
    let backoffs = [
        Backoff::Exponential,
        Backoff::Constant,
        Backoff::Linear,
        Backoff::Fibonacci,
    ];
    let jitters = [
        Jitter::None,
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
    ];
    let limits = (
        1..=u32::MAX,
        prop::option::of(length()),
        prop::option::of(length()),
    );
    let delays = (
        length(),
        prop::option::of(length()),
        length(),
        length(),
        length(),
        1.0..=1000.0_f64,
        prop::option::of(length()),
    );
    let words = (
        prop::sample::select(backoffs.to_vec()),
        prop::sample::select(jitters.to_vec()),
    );
    (limits, delays, words, budgets()).prop_map(|(limits, delays, words, budget)| {
        let (attempts, timeout, deadline) = limits;
        let (base, throttled_base, min_delay, max_delay, max_retry_after, factor, hedge) = delays;
        let mut policy = Policy::new()
            .with_attempts(attempts)
            .with_backoff(words.0)
            .with_base(base.min(max_delay))
            .with_min_delay(min_delay.min(max_delay))
            .with_max_delay(max_delay)
            .with_factor(factor)
            .with_jitter(words.1)
            .with_max_retry_after(max_retry_after);
        if let Some(hedge) = hedge {
            let limits = [timeout, deadline].into_iter().flatten();
            if limits.into_iter().all(|limit| hedge < limit) {
                policy = policy.with_hedge(hedge);
            }
        }
        if let Some(throttled_base) = throttled_base {
            policy = policy.with_throttled_base(throttled_base.min(max_delay));
        }
        if let Some(deadline) = deadline {
            policy = policy.with_deadline(deadline);
        }
        if let Some(timeout) = timeout {
            policy =
                policy.with_timeout(deadline.map_or(timeout, |deadline| timeout.min(deadline)));
        }
        with_budget(policy, budget)
    })
}

proptest! {
    #[test]
    fn a_policy_that_was_written_and_read_is_equal(policy in policies()) {
        let text = toml::to_string(&policy).unwrap();
        prop_assert_eq!(read(&text), Ok(policy), "{}", text);
        let text = serde_json::to_string(&policy).unwrap();
        prop_assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy, "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(attempts|timeout|base|factor|jitter|budget|budget.kind|budget.ratio|budget.refill|budget.capacity) = ('|)[0-9a-zµ. -]{0,12}('|)") {
        let _ = read(&text);
    }
}
