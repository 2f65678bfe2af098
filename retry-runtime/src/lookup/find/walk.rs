//! The walk along the chain of an error.

use std::error::Error;

use crate::adapters::known;
use crate::classify::{Links, Said, Verdict, as_type};
use crate::lookup::Probe;

#[cold]
#[inline(never)]
pub(crate) fn find_in<A: Error + 'static>(
    first: &(dyn Error + 'static),
    said: fn(&Probe<'_, A>) -> Said,
) -> Option<Said> {
    walk(first, &|link| {
        as_type::<A>(link)
            .map(|found| said(&Probe::new(found)))
            .filter(qualifies)
    })
}

/// Returns the first answer in the chain, or `None` if an error in the chain has the last word.
fn walk(
    first: &(dyn Error + 'static),
    ask: &dyn Fn(&(dyn Error + 'static)) -> Option<Said>,
) -> Option<Said> {
    let mut found = None;
    for link in Links::of(first) {
        if known::has_last_word(link).is_some() {
            return None;
        }
        // The search goes on after a link that does not qualify.
        found = found.or_else(|| ask(link));
    }
    found
}

#[cold]
#[inline(never)]
pub(super) fn contained_in<A: Error + 'static>(first: &(dyn Error + 'static)) -> bool {
    for link in Links::of(first) {
        if as_type::<A>(link).is_some() {
            return true;
        }
    }
    false
}

/// Another attempt does not help against a permanent error, even if `on` names its type.
pub(super) fn qualifies(said: &Said) -> bool {
    said.verdict != Verdict::Permanent
}
