//! Rules between keys.

use std::time::Duration;

use crate::keys::PolicyKey;

/// The keys that have no effect beside a list of delays.
pub const OF_COMPUTED_DELAYS: [PolicyKey; 4] = [
    PolicyKey::Backoff,
    PolicyKey::Base,
    PolicyKey::MaxDelay,
    PolicyKey::Factor,
];

/// Two keys of which the first must not be longer than the second.
#[derive(Debug)]
pub struct Ordered {
    /// The key with the shorter duration.
    pub short: PolicyKey,
    /// The key with the longer duration.
    pub long: PolicyKey,
    /// What each of the two limits, if a user may have swapped them: as the attribute says it, and as configuration does.
    pub swapped: Option<(&'static str, &'static str)>,
}

/// A duration that is longer than one that it must not exceed.
#[derive(Debug)]
pub struct TooLong {
    /// The two keys.
    pub keys: &'static Ordered,
    /// The duration of the key that should be short.
    pub short: Duration,
    /// The duration of the key that should be long.
    pub long: Duration,
}

static ORDERED: [Ordered; 2] = [
    Ordered {
        short: PolicyKey::Timeout,
        long: PolicyKey::Deadline,
        swapped: Some((
            "`timeout` limits one attempt and `deadline` the whole call: swap them?",
            "a timeout is for one attempt, the deadline for all: ",
        )),
    },
    Ordered {
        short: PolicyKey::Base,
        long: PolicyKey::MaxDelay,
        swapped: None,
    },
];

/// Returns the durations that are longer than they may be beside another key. `known` gives the duration of a key, if it
/// is known, and `delays` is whether there is a list of delays.
pub fn too_long(
    delays: bool,
    known: impl Fn(PolicyKey) -> Option<Duration>,
) -> impl Iterator<Item = TooLong> {
    ORDERED.iter().filter_map(move |keys| {
        if delays && OF_COMPUTED_DELAYS.contains(&keys.short) {
            return None;
        }
        let (short, long) = (known(keys.short)?, known(keys.long)?);
        (short > long).then_some(TooLong { keys, short, long })
    })
}
