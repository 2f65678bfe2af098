//! Rules between keys.

use std::cmp::Ordering;
use std::time::Duration;

use crate::keys::PolicyKey;

/// A duration that is longer than one that it must not exceed.
#[derive(Debug)]
pub(crate) struct TooLong {
    /// The key that should have the shorter duration, and its duration.
    pub(crate) short: (PolicyKey, Duration),
    /// The key that should have the longer duration, and its duration.
    pub(crate) long: (PolicyKey, Duration),
    /// How the first relates to the second: `above`.
    pub(crate) relation: &'static str,
    /// What each of the two limits, if a user may have swapped them.
    pub(crate) swapped: Option<&'static str>,
}

/// Returns the durations that are longer than they may be beside another key. `known` gives the duration of a key, if it
/// is known, and `delays` is whether there is a list of delays.
pub(crate) fn too_long(
    delays: bool,
    known: impl Fn(PolicyKey) -> Option<Duration>,
) -> impl Iterator<Item = TooLong> {
    let pairs = PolicyKey::ALL.iter().flat_map(|short| {
        let longer = short.at_most().iter();
        longer.map(move |long| (*short, *long))
    });
    pairs.filter_map(move |(short, long)| {
        let (short, long) = ((short, known(short)?), (long, known(long)?));
        let relation = match short.1.cmp(&long.1) {
            Ordering::Greater => "above",
            // A hedge would begin when nothing is left of the limit.
            Ordering::Equal if short.0 == PolicyKey::Hedge => "not below",
            _ => return None,
        };
        let counts = !(delays && short.0.delays_replace());
        counts.then_some(TooLong {
            short,
            long,
            relation,
            swapped: (short.0 == PolicyKey::Timeout).then_some(
                "`timeout` limits one attempt and `deadline` the whole call: swap them?",
            ),
        })
    })
}
