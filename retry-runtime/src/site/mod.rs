//! What is known about an annotated function before it is called, and the settings of a call.

mod given;
mod located;
mod settings;

pub use self::given::{BudgetOf, DelaysOf, PolicyOf};
pub use self::settings::SiteSettings;

use std::ops::Deref;
use std::panic::Location;

use crate::atomics::Flag;
use crate::budget::{Budget, BudgetCell, Share};
use crate::policy::Policy;
use crate::trace::Lines;

/// An annotated function. The expansion of each function has one.
///
/// `LIMITED` says whether a timer may cut its attempts. It is a parameter of the type. So a function without timeout
/// and deadline has no timer in its future, and its error type need not hold a `Stopped`.
#[derive(Debug)]
pub struct Site<const LIMITED: bool>(UnlimitedSite);

/// The part of a site that does not depend on limits. It begins the calls of a function without limits.
#[derive(Debug)]
pub struct UnlimitedSite {
    settings: SiteSettings<'static>,
}

/// What all calls of an annotated function share. The expansion of each function has one, in a `static`.
#[derive(Debug)]
pub struct SiteState {
    /// Where the attribute of the function is.
    pub(crate) place: &'static Location<'static>,
    /// Set after the "fewer attempts" event has been logged once.
    pub(crate) told: Flag,
    /// Raised once an event has said that a wait of the function blocks a thread of a runtime.
    pub(crate) blocked: Flag,
    /// The state of the function's own budget, used if the attribute names none.
    cell: BudgetCell,
    /// The limits of the log lines of the function.
    pub(crate) lines: Lines,
    /// How many hedges the function may make.
    pub(crate) share: Share,
}

impl SiteState {
    /// Makes the shared part, with a full budget. In generated code, the place of the caller is that of the attribute.
    #[expect(
        clippy::new_without_default,
        reason = "generated code calls it in a `static`"
    )]
    #[must_use]
    #[track_caller]
    pub const fn new() -> Self {
        Self::at(Location::caller())
    }

    /// Makes the shared part of the calls at `place`.
    const fn at(place: &'static Location<'static>) -> Self {
        Self {
            place,
            told: Flag::new(),
            blocked: Flag::new(),
            cell: BudgetCell::full(),
            lines: Lines::new(),
            share: Share::full(),
        }
    }
}

impl<const LIMITED: bool> Site<LIMITED> {
    /// Describes an annotated function.
    #[must_use]
    pub const fn new(name: &'static str, policy: Policy, shared: &'static SiteState) -> Self {
        Self(UnlimitedSite {
            settings: SiteSettings::new(name, policy, shared),
        })
    }

    /// Returns the settings of the function. A call uses them unless it computes some of its own.
    #[inline]
    #[must_use]
    pub const fn settings(&self) -> &SiteSettings<'static> {
        &self.0.settings
    }

    /// Sets the budget that all calls of the function share.
    #[must_use]
    pub const fn with_budget(mut self, budget: &'static Budget) -> Self {
        self.0.settings = self.0.settings.with_budget(Some(budget));
        self
    }

    /// Retries without a budget.
    #[must_use]
    pub const fn without_budget(mut self) -> Self {
        self.0.settings = self.0.settings.with_budget(None);
        self
    }

    /// Declares that the function is not idempotent: only refused attempts are retried.
    #[must_use]
    pub const fn not_idempotent(mut self) -> Self {
        self.0.settings.idempotent = false;
        self
    }

    /// Keeps the text of errors out of the log.
    #[must_use]
    pub const fn sensitive(mut self) -> Self {
        self.0.settings = self.0.settings.with_sensitive(true);
        self
    }

    /// Declares that a hook wants to know how long the call took, so that the clock is read.
    #[must_use]
    pub const fn with_listener(mut self) -> Self {
        self.0.settings.listens = true;
        self
    }
}

impl<const LIMITED: bool> Deref for Site<LIMITED> {
    type Target = UnlimitedSite;

    #[inline]
    fn deref(&self) -> &UnlimitedSite {
        &self.0
    }
}

impl UnlimitedSite {
    /// The same as [`Site::settings`].
    #[inline]
    #[must_use]
    pub const fn settings(&self) -> &SiteSettings<'static> {
        &self.settings
    }
}
