//! The presets of `docs/CONFIGURATION.md`, as they are in the code.

use std::time::Duration;

use reattempt::{Policy, Preset};

pub(super) const PAYMENTS: Policy = Policy::new()
    .with_attempts(4)
    .with_timeout(Duration::from_secs(1))
    .with_deadline(Duration::from_secs(3));
pub(super) const SEARCH: Policy = Policy::new().with_delays(&[Duration::from_millis(5)]);

/// Makes presets that no other test sets.
pub(super) fn presets() -> [&'static Preset; 3] {
    [
        ("payments", PAYMENTS),
        ("search", SEARCH),
        ("db.read-only", Policy::new()),
    ]
    .map(|(name, policy)| &*Box::leak(Box::new(Preset::new(name, policy))))
}
