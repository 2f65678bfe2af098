//! Settings as text.

use reattempt::config::Source;
use reattempt::{Policy, Preset};
use retry_settings::duration;

pub(crate) fn duration(text: &str) {
    match duration::parse(text) {
        Ok(length) => assert_eq!(
            duration::parse(&duration::human(length)),
            Ok(length),
            "{text}"
        ),
        Err(fault) => is_short(&fault.problem(text), text),
    }
}

static PAYMENTS: Preset = Preset::new("payments", Policy::new());
static SEARCH: Preset = Preset::new("search", reattempt::SLOW_IO);

pub(crate) fn toml(text: &str) {
    let config = Source::new([&PAYMENTS, &SEARCH]).with_toml_text("settings.toml", text);
    if let Err(error) = config.apply() {
        assert!(!error.problems().is_empty());
        is_short(&error.to_string(), text);
    }
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
