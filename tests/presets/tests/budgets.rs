//! Budgets of presets, from the code and the configuration: what calls do with them, also after a reload.

use std::io;

use reattempt::{Budget, Policy, Preset, Settings, configure, retry, testing};
use serde::Deserialize;
use tokio::time::{Duration, advance};

/// Makes a preset that no other test sets.
fn preset(policy: Policy) -> &'static Preset {
    Box::leak(Box::new(Preset::new("p", policy)))
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Retry {
    p: Settings,
}

fn apply(preset: &'static Preset, text: &str) {
    let retry: Retry = toml::from_str(text).unwrap();
    configure([(preset, retry.p)]).unwrap();
}

/// The policy that settings make of a policy.
fn applied(code: Policy, text: &str) -> Policy {
    let preset = preset(code);
    apply(preset, text);
    preset.policy()
}

/// A policy of many attempts without waits.
fn many() -> Policy {
    let policy = Policy::new().with_attempts(2_000);
    policy.with_base(Duration::ZERO)
}

/// Counts the retries of one call that fails until the budget refuses a retry, or for all attempts.
async fn retries(preset: &Preset) -> usize {
    let mut attempts = 0;
    let run = preset.run(|| {
        attempts += 1;
        async { Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset)) }
    });
    run.await.unwrap_err();
    attempts - 1
}

fn assert_level(preset: &Preset, expected: f64) {
    let level = preset.budget_level().unwrap();
    assert!((level - expected).abs() < 0.001, "{level}, not {expected}");
}

#[test]
fn each_key_overrides_alone() {
    let with = |budget| Policy::new().with_budget(budget);
    let code = with(Budget::aws().with_refill(3.0));
    let both = with(
        Budget::aws()
            .with_refill(3.0)
            .with_capacity(40)
            .with_reward(0.5),
    );
    assert_eq!(
        applied(code.clone(), "[p.budget]\ncapacity = 40\nreward = 0.5"),
        both
    );
    // Without a budget, the numbers are those of the default budget.
    let fifty = with(Budget::new().with_capacity(50));
    for code in [Policy::new(), Policy::new().without_budget()] {
        assert_eq!(applied(code.clone(), "p.budget.capacity = 50"), fifty);
    }
    assert_eq!(
        applied(
            code.clone(),
            "p.budget = { capacity = 50, kind = 'default' }"
        ),
        fifty
    );
    let ratio = with(Budget::ratio(0.5).with_capacity(50));
    assert_eq!(
        applied(code.clone(), "p.budget = { capacity = 50, ratio = 0.5 }"),
        ratio
    );
    assert_eq!(
        applied(code.clone(), "p.budget.kind = 'none'"),
        Policy::new().without_budget()
    );
    assert_eq!(applied(code.clone(), ""), code);
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_none_never_refuses() {
    let preset = preset(many());
    apply(preset, "p.budget.kind = 'none'");
    assert_eq!(retries(preset).await, 1_999);
    assert_eq!(preset.budget_level(), None);
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_the_aws_sdks_refuses_after_35_retries() {
    let preset = preset(many());
    apply(preset, "p.budget.kind = 'aws'");
    assert_level(preset, 500.0);
    assert_eq!(retries(preset).await, 35);
    assert_level(preset, 10.0);
}

#[tokio::test(start_paused = true)]
async fn unlimited_attempts_wait_longest_once_a_configured_budget_is_empty() {
    let preset = preset(many());
    let limits = "attempts = 'unlimited'\ndeadline = '1h'\nmax_delay = '20s'\njitter = 'none'";
    apply(preset, &format!("[p]\n{limits}\nbudget.kind = 'aws'"));
    // 35 at once, and then one each 20 s, the last of them at 3580 s.
    assert_eq!(retries(preset).await, 35 + 179);
}

#[tokio::test(start_paused = true)]
async fn functions_share_a_configured_budget_and_the_attribute_wins() {
    static P: Preset = Preset::new("p", Policy::new());
    static OTHER: Budget = Budget::aws().with_capacity(14);
    #[retry(policy = P, on = "io::Error")]
    async fn first() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = P, on = "io::Error")]
    async fn second() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = P, on = "io::Error", budget = OTHER)]
    async fn other() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = P, on = "io::Error", budget = "none")]
    async fn unbounded() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    apply(
        &P,
        "[p]\nattempts = 30\nbudget = { kind = 'aws', capacity = 28 }",
    );
    for _ in 0..2 {
        // A scope has fresh budgets.
        let all = async {
            (
                first().await,
                second().await,
                other().await,
                unbounded().await,
            )
        };
        let scope = testing::Scope::new().with_preset(&P, P.policy());
        let (_, log) = scope.run(all).await;
        let attempts = log.calls().iter().map(|call| call.report().attempts());
        assert_eq!(attempts.collect::<Vec<_>>(), [3, 1, 2, 30]);
    }
    assert_level(&P, 28.0);
    first().await.unwrap_err();
    assert_level(&P, 0.0);
    // Without the setting, each function has its default again.
    apply(&P, "");
    assert_eq!(P.budget_level(), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_stays_missing_when_a_reload_changes_the_numbers() {
    let fifty = "p.budget = { kind = 'aws', capacity = 50, retry_cost = 3 }";
    let twenty = "p.budget = { kind = 'aws', capacity = 20, retry_cost = 3, refill = 2.0 }";
    let preset = preset(many().with_attempts(11));
    apply(preset, fifty);
    assert_eq!(retries(preset).await, 10);
    assert_level(preset, 20.0);
    // An hour without a refill gives nothing, also to the numbers of the next reload.
    advance(Duration::from_secs(3_600)).await;
    apply(preset, twenty);
    assert_level(preset, 0.0);
    assert_eq!(retries(preset).await, 0);
    // Ten tokens come back in five seconds before the level rises.
    advance(Duration::from_secs(5)).await;
    assert_level(preset, 0.0);
    advance(Duration::from_secs(4)).await;
    assert_level(preset, 8.0);
    apply(preset, fifty);
    assert_level(preset, 38.0);
    advance(Duration::from_secs(3_600)).await;
    assert_level(preset, 38.0);
    // Also where the preset had no budget for a while.
    apply(preset, "p.budget.kind = 'none'");
    apply(preset, fifty);
    assert_level(preset, 38.0);
}
