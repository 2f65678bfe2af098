//! The beginning of a call.
//!
//! Generated code writes `Site::begin(&SITE)` for a function with limits, and `UnlimitedSite::begin(&SITE)` for one
//! without. If only rustc can read the policy, it writes `SITE.begin()`. rustc then finds the method on `Site<true>`,
//! or behind another site. If such a policy has a wrong type, the parameter of its site is unknown: rustc takes the
//! first method, and reports only the policy. If each kind of site had methods of its own, rustc would report that it
//! cannot choose.

use super::{Call, Nothing};
use crate::site::{Settings, Site, UnlimitedSite};

impl Site<true> {
    /// Begins a call with the function's own settings.
    #[inline]
    #[must_use]
    pub fn begin<K>(&self) -> Call<'_, true, K> {
        Call::with(self.settings())
    }

    /// Begins a call with settings made for it.
    #[inline]
    #[must_use]
    pub fn begin_with<'p, K>(&self, settings: &'p Settings<'p>) -> Call<'p, true, K> {
        Call::with(settings)
    }
}

impl UnlimitedSite {
    /// Begins a call with the function's own settings.
    #[inline]
    #[must_use]
    pub fn begin(&self) -> Call<'_, false, Nothing> {
        Call::with(self.settings())
    }

    /// Begins a call with settings made for it.
    #[inline]
    #[must_use]
    pub fn begin_with<'p>(&self, settings: &'p Settings<'p>) -> Call<'p, false, Nothing> {
        Call::with(settings)
    }
}
