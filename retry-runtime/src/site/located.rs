//! The settings of calls of `Policy::run`, for each place in the source.

use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use super::{SiteSettings, SiteState};
use crate::few;
use crate::policy::Policy;

impl SiteSettings<'static> {
    /// Returns the settings of a call at `place`. All calls at one place share a name and a budget.
    ///
    /// The shared part is made once for each place and never dropped.
    pub(crate) fn at(place: &'static Location<'static>, policy: Policy) -> Self {
        type Places = Vec<(
            &'static Location<'static>,
            (&'static str, &'static SiteState),
        )>;
        static PLACES: Mutex<Places> = Mutex::new(Vec::new());
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, shared) = *few::get_or_insert_with(&mut places, place, || {
            let name: &'static str = place.to_string().leak();
            let shared: &'static SiteState = Box::leak(Box::new(SiteState::NEW));
            (name, shared)
        });
        Self {
            place,
            ..Self::new(name, policy, shared)
        }
    }
}
