//! The current settings, which the page shows beside the metrics.

use std::net::SocketAddr;
use std::time::Duration;

use reattempt::{Budget, Policy, is_enabled};
use serde::Serialize;

use crate::admin::Admin;
use crate::presets::FUNCTIONS;
use crate::upstream::{Health, Upstream};

/// How many delays the page has room for.
const MOST_DELAYS: u32 = 6;

/// Everything that is not in the metrics.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    /// Whether retries are on.
    retries: bool,
    load: Option<u32>,
    upstreams: Vec<UpstreamStatus>,
    functions: Vec<FunctionStatus>,
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
    budget_capacity: u32,
    /// `None` without a limit, as for the durations.
    attempts: Option<u32>,
    timeout: Option<String>,
    deadline: Option<String>,
    backoff: String,
    jitter: String,
    /// The range of each delay.
    delays: Vec<String>,
    worst_case: Option<String>,
    /// The policy as text.
    text: String,
}

impl Status {
    pub(crate) fn of(admin: &Admin) -> Self {
        Self {
            retries: is_enabled(),
            load: admin.load,
            upstreams: admin.upstreams.all().map(UpstreamStatus::of).into(),
            functions: FUNCTIONS
                .map(|(function, preset)| {
                    FunctionStatus::of(function, preset.name(), &preset.policy())
                })
                .into(),
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
        Self {
            function,
            preset,
            // Every function here has its own budget, by default.
            budget_capacity: Budget::new().capacity(),
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
