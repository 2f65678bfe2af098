//! Rules between keys.

use std::time::Duration;

use crate::keys::PolicyKey;

/// A duration that is longer than one that it must not exceed.
#[derive(Debug)]
pub struct TooLong {
    /// The key that should have the shorter duration, and its duration.
    pub short: (PolicyKey, Duration),
    /// The key that should have the longer duration, and its duration.
    pub long: (PolicyKey, Duration),
    /// What each of the two limits, if a user may have swapped them: as the attribute says it, and as configuration does.
    pub swapped: Option<(&'static str, &'static str)>,
}

/// Returns the durations that are longer than they may be beside another key. `known` gives the duration of a key, if it
/// is known, and `delays` is whether there is a list of delays.
pub fn too_long(
    delays: bool,
    known: impl Fn(PolicyKey) -> Option<Duration>,
) -> impl Iterator<Item = TooLong> {
    PolicyKey::ALL.iter().filter_map(move |&short| {
        let long = short.at_most()?;
        let (short, long) = ((short, known(short)?), (long, known(long)?));
        let wrong = short.1 > long.1 && !(delays && short.0.delays_replace());
        wrong.then_some(TooLong {
            short,
            long,
            swapped: (short.0 == PolicyKey::Timeout).then_some((
                "`timeout` limits one attempt and `deadline` the whole call: swap them?",
                "a timeout is for one attempt, the deadline for all: ",
            )),
        })
    })
}
