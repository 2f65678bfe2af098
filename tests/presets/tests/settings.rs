//! Policies that are read from and written to configuration, in TOML and in JSON. `loaders.rs` has the mistakes.

use std::collections::BTreeSet;
use std::future::ready;
use std::io;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use reattempt::testing::Scope;
use reattempt::{
    BATCH, Backoff, Budget, FAST_IO, Jitter, NO_RETRY, Nested, Policy, SLOW_IO, Settings,
};
use serde_json::{Value, json};
use tokio::runtime::Builder;

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
fn a_budget_is_a_table() {
    let with = |budget| Policy::new().with_budget(budget);
    for (text, expected) in [
        ("budget.kind = 'none'", Policy::new().without_budget()),
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
    let ratio = toml::to_string(&Policy::new().with_budget(Budget::ratio(0.1))).unwrap();
    assert!(
        ratio.contains("ratio = 0.1") && !ratio.contains("reward") && !ratio.contains("kind"),
        "{ratio}"
    );
}

#[test]
fn a_text_of_any_length_is_refused_without_being_shown() {
    let parts = "1s ".repeat(10_000);
    let digits = "1".repeat(30_000);
    for text in [parts, digits] {
        let error = toml::from_str::<Settings>(&format!("timeout = '{text}'")).unwrap_err();
        let problem = "a duration has at most 100 bytes, and this text has 30000";
        assert_eq!(error.message(), problem);
    }
    for (key, expected) in [
        ("jitter", "unknown variant `…`, expected one of"),
        ("backoff", "unknown variant `…`, expected one of"),
        ("budget.kind", "unknown variant `…`, expected one of"),
        ("budget", "invalid type: string \"…\", expected a table"),
    ] {
        let text = format!("{key} = '{}'", "a".repeat(100_000));
        let error = toml::from_str::<Settings>(&text).unwrap_err();
        assert!(
            error.message().starts_with(expected),
            "{key}: {}",
            error.message()
        );
    }
    let longest = "23hours 59minutes 59seconds 999millis 999usec 999nanos";
    assert!(read(&format!("timeout = '{longest}'")).is_ok());
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

#[test]
fn a_percentage_is_a_jitter() {
    for percent in [0, 20, 100] {
        let policy = Policy::new().with_jitter(Jitter::Around(percent));
        assert_eq!(read(&format!("jitter = '{percent}%'")), Ok(policy));
    }
    for text in ["101%", "-1%", "12.5%", "%", "20", "20 percent"] {
        let error = read(&format!("jitter = '{text}'")).unwrap_err();
        let words = "expected one of `none`, `full`, `equal`, `decorrelated`, `20%`";
        assert_eq!(error, format!("unknown variant `{text}`, {words}"));
    }
}

/// The rows of the table in the documentation of `Settings`: a key, its values and its range.
fn rows() -> impl Iterator<Item = [&'static str; 3]> {
    let source = include_str!("../../../retry-runtime/src/settings.rs");
    source.lines().filter_map(|line| {
        let row = line.strip_prefix("/// | `")?.strip_suffix('|')?;
        let mut cells = row.splitn(3, " | ");
        let mut cell = || cells.next().expect(line).trim();
        Some([cell().trim_end_matches('`'), cell(), cell()])
    })
}

/// Settings with these keys, of which those of the budget stand in its table.
fn with(keys: &[(&str, Value)]) -> Result<Settings, serde_json::Error> {
    let mut object = json!({});
    for (key, value) in keys {
        match key.strip_prefix("budget.") {
            Some(key) => object["budget"][key] = value.clone(),
            None => object[*key] = value.clone(),
        }
    }
    serde_json::from_value(object)
}

#[test]
fn the_table_has_each_key_with_its_values_and_its_range() {
    let names = |value: Value, before: &str| -> BTreeSet<String> {
        let keys = value.as_object().unwrap().keys();
        keys.map(|key| format!("{before}{key}")).collect()
    };
    let mut keys = names(json!(Settings::default()), "");
    let budget = with(&[("budget.capacity", json!(1))]).unwrap();
    keys.extend(names(json!(budget)["budget"].take(), "budget."));
    let documented: BTreeSet<String> = rows().map(|[key, ..]| key.to_owned()).collect();
    assert_eq!(documented, keys);

    let holds = |key, value: Value, expected| {
        let settings = with(&[(key, value.clone())]);
        assert_eq!(settings.is_ok(), expected, "{key} = {value}: {settings:?}");
    };
    for [key, values, range] in rows() {
        for word in values
            .split("`\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            holds(key, json!(word), true);
        }
        if values.contains("a duration") {
            assert!(range.contains("at most 24h"), "{key}: {range}");
            holds(key, json!("24h"), true);
            holds(key, json!("24h 1ns"), false);
            holds(key, json!("0s"), !range.contains("above zero"));
        } else if let Some((least, most)) = range.split_once(" to ") {
            let [least, most] = [least, most].map(|end| end.parse::<i64>().unwrap());
            for (number, fits) in [
                (least, true),
                (most, true),
                (least - 1, false),
                (most + 1, false),
            ] {
                holds(key, json!(number), fits);
            }
            let whole = values.contains("a whole number");
            holds(
                key,
                json!(f64::from(u32::try_from(least).unwrap()) + 0.5),
                !whole,
            );
        }
        for (word, equal_fits) in [("at most `", true), ("below `", false)] {
            for long in range
                .split(word)
                .skip(1)
                .filter_map(|rest| rest.split('`').next())
            {
                let both = |first, second| with(&[(key, json!(first)), (long, json!(second))]);
                assert!(both("1s", "2s").is_ok(), "{key}, {long}");
                assert!(both("2s", "1s").is_err(), "{key}, {long}");
                assert_eq!(both("1s", "1s").is_ok(), equal_fits, "{key}, {long}");
            }
        }
    }
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
         jitter = \"full\"\n\
         max_retry_after = \"1m\"\n"
    );
    for policy in [BATCH, FAST_IO, SLOW_IO, NO_RETRY, Policy::new()] {
        assert_eq!(read(&toml::to_string(&policy).unwrap()), Ok(policy));
    }
}

#[test]
fn a_policy_that_could_not_be_read_is_not_written() {
    for policy in [
        Policy::new().with_delays(&[Duration::ZERO]),
        Policy::new().with_nested(Nested::Outermost),
    ] {
        let error = serde_json::to_string(&policy).unwrap_err().to_string();
        assert!(error.contains("belong in the code"), "{error}");
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
        Jitter::Around(33),
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

#[test]
fn the_policies_that_are_tried_differ_in_each_key() {
    let mut runner = TestRunner::deterministic();
    let mut policy = || policies().new_tree(&mut runner).unwrap().current();
    let tried: Vec<_> = (0..64).map(|_| json!(policy())).collect();
    for [key, ..] in rows() {
        let pointer = format!("/{}", key.replace('.', "/"));
        let value = |policy: &Value| policy.pointer(&pointer).cloned();
        let first = value(&tried[0]);
        let differ = tried.iter().any(|policy| value(policy) != first);
        assert!(differ, "`policies` sets the same `{key}` in each policy");
    }
}

/// The delays of a call whose attempts all fail at once.
fn delays(policy: &Policy) -> Vec<Duration> {
    let runtime = Builder::new_current_thread().start_paused(true).build();
    let fails = || {
        ready(Err::<(), _>(io::Error::from(
            io::ErrorKind::ConnectionReset,
        )))
    };
    let call = policy.run(fails).without_budget();
    let (_, log) = runtime.unwrap().block_on(Scope::new().run(call));
    log.calls()[0].delays().to_vec()
}

proptest! {
    /// What a policy says about its delays is what a call does, also with a key that is new.
    #[test]
    fn a_call_waits_as_its_policy_says(policy in policies(), attempts in 1..=6_u32) {
        let policy = policy.with_attempts(attempts).with_jitter(Jitter::None);
        let delays = delays(&policy);
        let ranges: Vec<_> = (0..attempts - 1).map(|n| policy.delay_range(n, None)).collect();
        prop_assert!(delays.len() == ranges.len() || policy.deadline().is_some());
        prop_assert!(delays.iter().zip(&ranges).all(|(delay, range)| range == &(*delay..=*delay)));
        let waited: Duration = delays.iter().sum();
        prop_assert!(policy.worst_case().is_none_or(|longest| waited <= longest));
        let shown = policy.to_string();
        for (n, delay) in delays.iter().enumerate() {
            let row = format!("attempt {}  after {delay:?}\n", n + 2);
            prop_assert!(shown.contains(&row), "{} is not in {}", row, shown);
        }
    }

    #[test]
    fn a_policy_that_was_written_and_read_is_equal(policy in policies()) {
        let text = toml::to_string(&policy).unwrap();
        prop_assert_eq!(read(&text), Ok(policy.clone()), "{}", text);
        let text = serde_json::to_string(&policy).unwrap();
        prop_assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy, "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(attempts|timeout|base|factor|jitter|budget|budget.kind|budget.ratio|budget.refill|budget.capacity) = ('|)[0-9a-zµ. -]{0,12}('|)") {
        let _ = read(&text);
    }
}
