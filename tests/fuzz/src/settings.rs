//! Settings as text.

use std::time::Duration;

use reattempt::{Policy, Preset, Settings, configure};
use serde::Deserialize;

static PAYMENTS: Preset = Preset::new("payments", Policy::new());
static SEARCH: Preset = Preset::new("search", reattempt::SLOW_IO);

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Retry {
    payments: Settings,
    search: Settings,
}

/// What is refused changes nothing, and each policy that is made has its limits.
pub(crate) fn toml(text: &str) {
    let before = [PAYMENTS.policy(), SEARCH.policy()];
    let read = toml::from_str::<Retry>(text).map_err(|error| error.to_string());
    let applied = read.and_then(|Retry { payments, search }| {
        let applied = configure([(&PAYMENTS, payments), (&SEARCH, search)]);
        applied.map_err(|error| error.to_string())
    });
    let after = [PAYMENTS.policy(), SEARCH.policy()];
    match applied {
        Ok(()) => after.iter().for_each(keeps_its_limits),
        Err(error) => {
            assert_eq!(after, before);
            is_short(&error, text);
        }
    }
}

fn keeps_its_limits(policy: &Policy) {
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
    let limits = [policy.timeout(), policy.deadline(), policy.hedge()];
    for limit in limits.into_iter().flatten() {
        assert!(!limit.is_zero() && limit <= LONGEST, "{policy:?}");
    }
    assert!(
        policy.timeout() <= policy.deadline().or(policy.timeout()),
        "{policy:?}"
    );
    assert!(policy.min_delay() <= policy.max_delay(), "{policy:?}");
    assert!(
        policy.base() <= policy.max_delay() && policy.max_delay() <= LONGEST,
        "{policy:?}"
    );
}

/// A policy that can be read is written and read again without loss.
pub(crate) fn json(text: &str) {
    match serde_json::from_str::<Policy>(text) {
        Ok(policy) => {
            let written =
                serde_json::to_string(&policy).expect("a policy that was read can be written");
            let again: Policy =
                serde_json::from_str(&written).expect("what was written can be read");
            assert_eq!(again, policy, "{written}");
        }
        Err(error) => is_short(&error.to_string(), text),
    }
}

/// A message quotes little of what it is about.
fn is_short(message: &str, text: &str) {
    const MOST: usize = 64 * 1024;
    assert!(
        !message.is_empty() && message.len() <= MOST,
        "{} bytes for {}",
        message.len(),
        text.len()
    );
}
