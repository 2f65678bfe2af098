//! Budgets of presets, from the code and the configuration: what calls do with them, also after a reload.

use std::io;

use reattempt::config::Source;
use reattempt::{Budget, Policy, Preset, retry, testing};
use tokio::time::{Duration, advance};

/// Makes a preset that no other test sets.
fn preset(policy: Policy) -> &'static Preset {
    Box::leak(Box::new(Preset::new("p", policy)))
}

/// Applies a file and variables.
fn apply(preset: &'static Preset, text: &str, variables: &[(&str, &str)]) {
    let source = Source::new([preset]).with_toml_text("retry.toml", text);
    let source = source.with_env_from("RETRY", variables.iter().copied());
    source.unwrap().apply().unwrap();
}

/// The policy that a file and variables make of a policy.
fn applied(code: Policy, text: &str, variables: &[(&str, &str)]) -> Policy {
    let preset = preset(code);
    apply(preset, text, variables);
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
    let text = "[p.budget]\ncapacity = 40\nreward = 0.5";
    let capacity = ("RETRY_P_BUDGET_CAPACITY", "50");
    let file = Budget::aws().with_refill(3.0).with_reward(0.5);
    let both = with(file.with_capacity(50));
    assert_eq!(applied(code, text, &[capacity]), both);
    // Without a budget, the numbers are those of the default budget.
    let fifty = with(Budget::new().with_capacity(50));
    for (code, text) in [
        (Policy::new(), ""),
        (Policy::new().without_budget(), ""),
        (Policy::new(), "p.budget = 'none'"),
        (code, "p.budget = 'default'"),
        (code, "p.budget.kind = 'default'"),
    ] {
        assert_eq!(applied(code, text, &[capacity]), fifty, "{text}");
    }
    // A word in the environment replaces the table of the file.
    let aws = ("RETRY_P_BUDGET", "aws");
    assert_eq!(applied(code, text, &[aws]), with(Budget::aws()));
    assert_eq!(
        applied(code, text, &[("RETRY_P_BUDGET", "none")]),
        Policy::new().without_budget()
    );
    assert_eq!(applied(code, "", &[]), code);
    assert_eq!(applied(code, "[p.budget]", &[]), code);
}

#[test]
fn what_chooses_all_numbers_comes_before_one_number_in_any_order() {
    let with = |budget| Policy::new().with_budget(budget);
    let aws = with(Budget::aws().with_capacity(50));
    let capacity = ("RETRY_P_BUDGET_CAPACITY", "50");
    for text in [
        "p.budget = { capacity = 50, kind = 'aws' }",
        "[p.budget]\nkind = 'aws'\ncapacity = 50",
    ] {
        assert_eq!(applied(Policy::new(), text, &[]), aws, "{text}");
    }
    for chosen in [("RETRY_P_BUDGET_KIND", "aws"), ("RETRY_P_BUDGET", "aws")] {
        assert_eq!(applied(Policy::new(), "", &[capacity, chosen]), aws);
    }
    let ratio = with(Budget::ratio(0.5).with_capacity(50));
    let chosen = ("RETRY_P_BUDGET_RATIO", "0.5");
    assert_eq!(applied(Policy::new(), "", &[capacity, chosen]), ratio);
    // The reward of a file does not contradict the ratio of a variable, which replaces it.
    let rewarded = applied(Policy::new(), "p.budget.reward = 5", &[chosen, capacity]);
    assert_eq!(rewarded, ratio);
}

#[test]
fn a_preset_whose_name_ends_like_a_key_has_variables_of_its_own() {
    static OUTER: Preset = Preset::new("p", Policy::new());
    static INNER: Preset = Preset::new("p-budget", Policy::new());
    let variables = [
        ("RETRY_P_BUDGET_ATTEMPTS", "7"),
        ("RETRY_P_BUDGET_REFILL", "0"),
    ];
    let source = Source::new([&OUTER, &INNER]).with_env_from("RETRY", variables);
    source.unwrap().apply().unwrap();
    assert_eq!(INNER.policy(), Policy::new().with_attempts(7));
    let refill = Budget::new().with_refill(0.0);
    assert_eq!(OUTER.policy(), Policy::new().with_budget(refill));
}

#[tokio::test(start_paused = true)]
async fn a_budget_of_none_never_refuses() {
    let preset = preset(many());
    apply(preset, "p.budget = 'none'", &[]);
    assert_eq!(retries(preset).await, 1_999);
    assert_eq!(preset.budget_level(), None);
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_the_aws_sdks_refuses_after_35_retries() {
    let preset = preset(many());
    apply(preset, "", &[("RETRY_P_BUDGET", "aws")]);
    assert_level(preset, 500.0);
    assert_eq!(retries(preset).await, 35);
    assert_level(preset, 10.0);
}

#[tokio::test(start_paused = true)]
async fn unlimited_attempts_are_bounded_by_a_configured_budget() {
    let preset = preset(many());
    let text = "[p]\nattempts = 'unlimited'\nbudget = 'aws'";
    apply(preset, text, &[]);
    assert_eq!(retries(preset).await, 35);
}

#[tokio::test(start_paused = true)]
async fn functions_share_a_configured_budget_and_the_attribute_wins() {
    static P: Preset = Preset::new("p", Policy::new());
    static OTHER: Budget = Budget::aws().with_capacity(14);
    #[retry(policy = &P, on = "io::Error")]
    async fn first() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = &P, on = "io::Error")]
    async fn second() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = &P, on = "io::Error", budget = OTHER)]
    async fn other() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    #[retry(policy = &P, on = "io::Error", budget = "none")]
    async fn unbounded() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }
    apply(
        &P,
        "[p]\nattempts = 30\nbudget = { kind = 'aws', capacity = 28 }",
        &[],
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
    apply(&P, "", &[]);
    assert_eq!(P.budget_level(), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_stays_missing_when_a_reload_changes_the_numbers() {
    let fifty = "p.budget = { kind = 'aws', capacity = 50, retry_cost = 3 }";
    let twenty = "p.budget = { kind = 'aws', capacity = 20, retry_cost = 3, refill = 2.0 }";
    let preset = preset(many().with_attempts(11));
    apply(preset, fifty, &[]);
    assert_eq!(retries(preset).await, 10);
    assert_level(preset, 20.0);
    // An hour without a refill gives nothing, also to the numbers of the next reload.
    advance(Duration::from_secs(3_600)).await;
    apply(preset, twenty, &[]);
    assert_level(preset, 0.0);
    assert_eq!(retries(preset).await, 0);
    // Ten tokens come back in five seconds before the level rises.
    advance(Duration::from_secs(5)).await;
    assert_level(preset, 0.0);
    advance(Duration::from_secs(4)).await;
    assert_level(preset, 8.0);
    apply(preset, fifty, &[]);
    assert_level(preset, 38.0);
    advance(Duration::from_secs(3_600)).await;
    assert_level(preset, 38.0);
    // Also where the preset had no budget for a while.
    apply(preset, "p.budget = 'none'", &[]);
    apply(preset, fifty, &[]);
    assert_level(preset, 38.0);
}
