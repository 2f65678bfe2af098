//! The current settings, which the page shows beside the metrics.

use std::net::SocketAddr;
use std::time::Duration;

use reattempt::{Budget, Policy, Preset, is_enabled};
use serde::Serialize;
use serde_json::Value;

use crate::admin::Admin;
use crate::presets::{PRESETS, functions};
use crate::upstream::{Health, Upstream};

/// How many delays the page has room for.
const MOST_DELAYS: u32 = 6;

/// Everything that is not in the metrics.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    retries: bool,
    load: Option<u32>,
    upstreams: Vec<UpstreamStatus>,
    functions: Vec<FunctionStatus>,
    presets: Vec<PresetStatus>,
}

/// The budget that all functions with a preset share.
#[derive(Debug, Serialize)]
struct PresetStatus {
    preset: &'static str,
    /// The tokens that are left. `None` if each function has a budget of its own, or none.
    budget_level: Option<f64>,
}

#[derive(Debug, Serialize)]
struct UpstreamStatus {
    name: &'static str,
    kind: &'static str,
    address: SocketAddr,
    health: Health,
    /// What the health does.
    effect: String,
}

/// A retried function and its policy, durations with their unit.
#[derive(Debug, Serialize)]
struct FunctionStatus {
    /// The label in metrics and events.
    function: &'static str,
    preset: &'static str,
    budget_capacity: u64,
    /// Whose budget it is.
    budget: String,
    /// Its numbers, unless they are the default.
    budget_numbers: Option<String>,
    /// `None` without a limit, as for the durations.
    attempts: Option<u32>,
    timeout: Option<String>,
    deadline: Option<String>,
    backoff: String,
    jitter: String,
    delays: Vec<String>,
    worst_case: Option<String>,
    text: String,
}

impl Status {
    pub(crate) fn of(admin: &Admin) -> Self {
        Self {
            retries: is_enabled(),
            load: admin.load,
            upstreams: admin.upstreams.all().map(UpstreamStatus::of).into(),
            functions: functions()
                .into_iter()
                .map(|(function, preset)| {
                    FunctionStatus::of(function, preset.name(), &preset.policy())
                })
                .collect(),
            presets: PRESETS.map(PresetStatus::of).into(),
        }
    }
}

impl PresetStatus {
    fn of(preset: &'static Preset) -> Self {
        Self {
            preset: preset.name(),
            budget_level: preset.budget_level(),
        }
    }
}

impl UpstreamStatus {
    fn of(upstream: &Upstream) -> Self {
        let health = *upstream.health.borrow();
        Self {
            name: upstream.name,
            kind: upstream.kind,
            address: upstream.address,
            health,
            effect: health.effect(upstream.kind == "HTTP server"),
        }
    }
}

impl FunctionStatus {
    fn of(function: &'static str, preset: &'static str, policy: &Policy) -> Self {
        let human = |duration: Option<Duration>| duration.map(|duration| format!("{duration:?}"));
        let (budget_capacity, budget, budget_numbers) = budget(policy);
        Self {
            function,
            preset,
            budget_capacity,
            budget,
            budget_numbers,
            attempts: policy.attempts(),
            timeout: human(policy.timeout()),
            deadline: human(policy.deadline()),
            backoff: policy.backoff().to_string(),
            jitter: policy.jitter().to_string(),
            delays: delays(policy),
            worst_case: human(policy.worst_case()),
            text: policy.to_string(),
        }
    }
}

/// The capacity of the budget, whose it is, and its numbers. A policy is written with the budget that it names, if it names
/// one.
fn budget(policy: &Policy) -> (u64, String, Option<String>) {
    let policy = serde_json::to_value(policy).unwrap_or_default();
    let default = u64::from(Budget::new().capacity());
    match policy.get("budget") {
        None | Some(Value::Null) => (default, "default".to_owned(), None),
        Some(budget) if budget["kind"] == "none" => (default, "none".to_owned(), None),
        Some(budget) => {
            let numbers = budget.as_object().into_iter().flatten();
            let numbers = numbers.filter(|(_, value)| !value.is_null());
            let capacity = budget["capacity"].as_u64().unwrap_or(default);
            let numbers = numbers.map(|(key, value)| match value {
                Value::String(word) => format!("{key} {word}"),
                number => format!("{key} {number}"),
            });
            let numbers: Vec<_> = numbers.collect();
            (
                capacity,
                format!("{capacity}, shared"),
                Some(numbers.join(", ")),
            )
        }
    }
}

fn delays(policy: &Policy) -> Vec<String> {
    let retries = policy.attempts().unwrap_or(u32::MAX) - 1;
    let mut previous = None;
    (0..retries.min(MOST_DELAYS))
        .map(|n| {
            let (shortest, longest) = policy.delay_range(n, previous).into_inner();
            previous = Some(longest);
            if shortest.is_zero() {
                format!("0 to {longest:?}")
            } else {
                format!("{shortest:?} to {longest:?}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_of_a_policy_has_a_capacity_and_a_text() {
        let own = (200, "default".to_owned(), None);
        assert_eq!(budget(&Policy::new()), own);
        let none = (200, "none".to_owned(), None);
        assert_eq!(budget(&Policy::new().without_budget()), none);
        let numbers = "capacity 50, kind aws, refill 0.0, retry_cost 14, reward 1.0, throttled_cost 5, timeout_cost 14";
        let fifty = Policy::new().with_budget(Budget::aws().with_capacity(50));
        let shared = (50, "50, shared".to_owned(), Some(numbers.to_owned()));
        assert_eq!(budget(&fifty), shared);
    }

    #[test]
    fn the_file_of_the_example_sets_a_budget_for_the_cart() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/retry.toml");
        crate::presets::load(file.as_ref()).unwrap();
        let levels = PRESETS.map(Preset::budget_level);
        assert_eq!(levels, [None, Some(100.0), None]);
    }
}
