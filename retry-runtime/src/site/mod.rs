//! What is known about an annotated function before it is called, and the settings of a call.

mod given;
mod located;

pub(crate) use self::given::Change;
pub use self::given::{BudgetOf, DelaysOf, Limit, LimitOf, PolicyOf, limit, policy};
#[cfg(feature = "_layers")]
pub(crate) use self::located::Located;

use std::borrow::Borrow;
use std::ops::Deref;
use std::panic::Location;
use std::time::Duration;

use crate::budget::{Budget, BudgetCell, BudgetRef};
use crate::context::FunctionId;
use crate::delays::DelayRange;
use crate::getters::setters;
use crate::policy::{Policy, attempts_for, delays_range};
use crate::trace::Lines;

/// An annotated function: the settings of its calls. The expansion of each function has one.
///
/// `LIMITED` says whether a timer may cut its attempts. It is a parameter of the type. So a function without timeout
/// and deadline has no timer in its future, and its error type need not hold a `Stopped`. The settings alone begin the calls
/// of such a function.
#[derive(Debug, Clone)]
pub struct Site<const LIMITED: bool>(pub SiteSettings<'static>);

/// What all calls of an annotated function share. The expansion of each function has one, in a `static`.
#[derive(Debug)]
pub struct SiteState {
    /// The state of the function's own budget, used if the attribute names none.
    cell: BudgetCell,
    /// How many log lines of the function are left out.
    pub(crate) lines: Lines,
    /// The state of the budget of the function's hedges.
    pub(crate) hedges: BudgetCell,
}

impl SiteState {
    /// The shared part, with a full budget.
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "generated code makes a `static` of it, which rustc checks faster than a call"
    )]
    pub const NEW: Self = Self {
        cell: BudgetCell::full(),
        lines: Lines::new(),
        hedges: BudgetCell::full(),
    };
}

impl<const LIMITED: bool> Deref for Site<LIMITED> {
    type Target = SiteSettings<'static>;

    #[inline]
    fn deref(&self) -> &SiteSettings<'static> {
        &self.0
    }
}

impl Borrow<SiteSettings<'static>> for Site<true> {
    fn borrow(&self) -> &SiteSettings<'static> {
        &self.0
    }
}

/// The settings of a call: the function's name, a policy, and the budget.
///
/// The site holds the settings of the function. A call that computes some settings copies them and changes the copy.
#[derive(Debug, Clone)]
pub struct SiteSettings<'p> {
    /// The label in events, reports and metrics.
    pub(crate) name: &'static str,
    /// Where the attribute of the function is.
    pub(crate) place: &'static Location<'static>,
    /// What all calls of the function share.
    pub(crate) shared: &'static SiteState,
    budget: GivenBudget<'p>,
    /// The delays of this call, which replace the delays of the policy.
    delays: Option<&'p [Duration]>,
    pub(crate) policy: Policy,
    /// Whether the function may run twice, if that is said.
    pub(crate) idempotent: Option<bool>,
    /// Whether it knows itself when a request of it leaves, so that outer calls know the request in place of the call.
    pub(crate) opens_requests: bool,
    /// Whether the text of errors stays out of the log.
    pub(crate) sensitive: bool,
    /// Whether a hook wants to know what the call did, and how long it took.
    pub(crate) listens: bool,
}

/// The budget that the attribute names.
#[derive(Debug, Clone, Copy)]
enum GivenBudget<'p> {
    /// It names none, so the policy decides.
    OfPolicy,
    None,
    Of(&'p Budget),
}

impl<'p> SiteSettings<'p> {
    /// Makes the settings of a function, with the budget of the policy. In generated code, the place of the caller is that of the
    /// attribute.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str, policy: Policy, shared: &'static SiteState) -> Self {
        Self {
            name,
            place: Location::caller(),
            shared,
            budget: GivenBudget::OfPolicy,
            delays: None,
            policy,
            idempotent: None,
            opens_requests: false,
            sensitive: false,
            listens: false,
        }
    }

    /// Copies the settings for one call.
    #[must_use]
    pub fn of_call(&self) -> Self {
        self.clone()
    }

    /// Changes the policy.
    #[must_use]
    pub fn with_policy(mut self, change: impl FnOnce(Policy) -> Policy) -> Self {
        self.policy = change(self.policy);
        self
    }

    /// Sets the delays, with one attempt more than there are delays, and no jitter. The last delay is repeated if the
    /// call makes more attempts.
    #[must_use]
    pub fn with_delays(mut self, delays: &'p [Duration]) -> Self {
        let policy = self.policy.with_delays(&[]);
        self.policy = policy.with_attempts(attempts_for(delays));
        self.delays = Some(delays);
        self
    }

    /// Sets the budget, or `None` for none.
    #[must_use]
    pub const fn with_budget(mut self, budget: Option<&'p Budget>) -> Self {
        self.budget = match budget {
            Some(budget) => GivenBudget::Of(budget),
            None => GivenBudget::None,
        };
        self
    }

    /// Sets the label in events, reports and metrics.
    #[must_use]
    pub const fn with_name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Declares that a hook wants to know what the call did, and how long it took, so that the clock is read.
    #[must_use]
    pub const fn with_listener(mut self) -> Self {
        self.listens = true;
        self
    }

    setters! {
        /// Sets whether the text of errors stays out of the log.
        with_sensitive(sensitive: bool) => sensitive = sensitive;

        /// Says whether the function may run twice. If so, what is unknown is retried too. If not, only what had no effect.
        with_idempotent(idempotent: bool) => idempotent = Some(idempotent);
    }

    /// Identifies the function. The calls of one place in the source may have different names.
    pub(crate) fn function(&self) -> FunctionId {
        FunctionId::of(self.shared, self.name)
    }

    /// The budget, or `None` for none.
    #[inline]
    pub(crate) const fn budget(&self) -> Option<BudgetRef<'_>> {
        match self.budget {
            GivenBudget::Of(budget) => Some(budget.of_call()),
            GivenBudget::None => None,
            GivenBudget::OfPolicy => self.policy.budget_of_call(&self.shared.cell),
        }
    }

    /// The range of the delay before retry `n`, counted from 0. `previous` is the delay before the last retry.
    #[inline]
    pub(crate) fn delay_range(&self, n: u32, previous: Option<Duration>) -> DelayRange {
        match self.delays {
            None => self.policy.range_before(n, previous),
            Some(delays) => delays_range(delays, self.policy.jitter(), n),
        }
    }

    /// The same, after a throttled failure without a hint.
    #[cold]
    pub(crate) fn throttled_delay_range(&self, n: u32, previous: Option<Duration>) -> DelayRange {
        let throttled = self.clone().with_policy(Policy::when_throttled);
        throttled.delay_range(n, previous)
    }

    /// The range of the longest delay.
    #[cold]
    pub(crate) fn longest_delay_range(&self) -> DelayRange {
        match self.delays {
            None => self.policy.longest_delay_range(),
            Some(delays) => delays_range(delays, self.policy.jitter(), u32::MAX),
        }
    }
}
