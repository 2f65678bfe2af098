//! The settings of calls of `Policy::run` and of layers, for each place in the source.

use std::panic::Location;
use std::sync::OnceLock;

use super::{SiteSettings, SiteState};
#[cfg(feature = "_layers")]
use crate::budget::Budgets;
use crate::policy::Policy;

/// What all calls at one place share. It is made once and never dropped.
pub(crate) struct Located {
    location: &'static Location<'static>,
    name: String,
    state: SiteState,
    /// The default budgets of a layer, one for each host.
    #[cfg(feature = "_layers")]
    pub(crate) hosts: Budgets<String>,
    next: NextLocated,
}

type NextLocated = OnceLock<&'static Located>;

impl Located {
    /// Finds what is shared at this place. Places in the same list are those with the same remainder of their line: it is only
    /// added to, so no call waits for another.
    pub(crate) fn of(place: &'static Location<'static>) -> &'static Self {
        static LISTS: [NextLocated; 64] = [const { OnceLock::new() }; 64];
        let mut next = &LISTS[place.line() as usize % LISTS.len()];
        loop {
            let known = *next.get_or_init(|| {
                Box::leak(Box::new(Self {
                    location: place,
                    name: place.to_string(),
                    state: SiteState::NEW,
                    #[cfg(feature = "_layers")]
                    hosts: Budgets::default(),
                    next: OnceLock::new(),
                }))
            });
            if known.location == place {
                return known;
            }
            next = &known.next;
        }
    }
}

impl SiteSettings<'static> {
    /// Returns the settings of a call at `place`. All calls at one place share a name and a budget.
    pub(crate) fn at(place: &'static Location<'static>, policy: Policy) -> Self {
        let shared = Located::of(place);
        Self {
            place,
            ..Self::new(&shared.name, policy, &shared.state)
        }
    }
}
