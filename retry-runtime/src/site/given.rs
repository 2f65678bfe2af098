//! The types of `policy`, `budget` and `delays` expressions: by value, by reference, behind a smart pointer.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tracing::warn;

use super::{GivenBudget, Site, SiteSettings};
use crate::budget::Budget;
use crate::context::FunctionId;
use crate::listen::test_scope_around;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::trace::may_be_heard;

/// A type whose value `policy` can take.
#[diagnostic::on_unimplemented(
    message = "`policy` is a `{Self}`, expected a `reattempt::Policy`",
    label = "expected a `Policy`, a reference to one, one in an `Arc`, or a `Preset`"
)]
pub trait PolicyOf {
    /// The type itself. If [`policy`] returned it by its own name, rustc would report a second error for a wrong type.
    #[doc(hidden)]
    type Same;

    /// What begins a call: a [`Site`], or its [settings](super::SiteSettings) if the type says that there are no limits.
    #[doc(hidden)]
    type Site;

    /// What a layer shows of it: [`Policy`], or [`WithoutLimits`](crate::WithoutLimits).
    type Limits;

    /// Returns the policy of a call that begins now.
    #[doc(hidden)]
    fn policy(&self) -> Policy;

    /// Returns what begins a call, if the attribute has no limit of its own, and its settings.
    #[doc(hidden)]
    fn given<'s, 'p>(
        &self,
        site: &'s Site<true>,
        change: impl FnOnce(SiteSettings<'p>) -> SiteSettings<'p>,
    ) -> (&'s Self::Site, SiteSettings<'p>)
    where
        Site<true>: Borrow<Self::Site>,
    {
        (site.borrow(), self.settings(site, change))
    }

    /// Returns the settings of a call: those of the site with this policy, changed by the attribute.
    #[doc(hidden)]
    #[inline]
    fn settings<'p>(
        &self,
        site: &SiteSettings<'static>,
        change: impl FnOnce(SiteSettings<'p>) -> SiteSettings<'p>,
    ) -> SiteSettings<'p> {
        let policy = self.policy();
        let settings = change(site.of_call().with_policy(|_| policy.clone()));
        self.overridden(&policy, &settings);
        settings
    }

    /// Logs what the configuration changes in the policy without an effect, because the attribute changes it again.
    #[doc(hidden)]
    fn overridden(&self, _policy: &Policy, _settings: &SiteSettings<'_>) {}
}

/// Returns what `policy` gives.
pub const fn policy<P: PolicyOf<Same = P>>(policy: &P) -> &P::Same {
    policy
}

/// What an attribute changes in a policy.
pub(crate) type Change = fn(Policy) -> Policy;

// An attribute can name a policy in capitals. Only rustc knows whether that is a constant, which the site has, or a preset,
// which each call reads. These methods are no trait's, because `of_site` is const.
impl Policy {
    /// Returns the settings of a call that evaluates none: those of the site.
    #[doc(hidden)]
    #[must_use]
    pub const fn lent<S>(&self, site: &'static S, _: Change) -> &'static S {
        site
    }
}

impl Preset {
    /// Returns a policy that no call has. It has a limit, as that of a call may have.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_site(&self) -> Policy {
        Policy::new().with_timeout(Duration::MAX)
    }

    /// Returns the settings of a call that evaluates no others.
    #[doc(hidden)]
    #[must_use]
    pub fn lent(&self, site: &SiteSettings<'static>, change: Change) -> Site<true> {
        Site(self.settings(site, |settings| settings.with_policy(change)))
    }
}

/// A type whose value `timeout` and `deadline` can take.
#[diagnostic::on_unimplemented(
    message = "a limit is a `{Self}`, expected a `Duration`",
    label = "expected a `Duration`, or an `Option<Duration>`, which is `None` for no limit"
)]
pub trait LimitOf {
    /// The limit of this type.
    #[doc(hidden)]
    type Limit;
}

impl LimitOf for Duration {
    type Limit = Limit<Self>;
}

impl LimitOf for Option<Duration> {
    type Limit = Limit<Self>;
}

/// Takes the value of `timeout` or `deadline`. The bound gives a value of another type its message.
pub const fn limit<L: LimitOf<Limit = Limit<L>> + Copy>(limit: &L) -> L::Limit {
    Limit(*limit)
}

/// The value of `timeout` or `deadline`. No constant can call the method of a trait.
#[derive(Debug)]
pub struct Limit<L>(L);

impl Limit<Duration> {
    /// Returns the limit.
    #[must_use]
    #[allow(clippy::unnecessary_wraps, reason = "the other one may have none")]
    pub const fn get(self) -> Option<Duration> {
        Some(self.0)
    }
}

impl Limit<Option<Duration>> {
    /// Returns the limit.
    #[must_use]
    pub const fn get(self) -> Option<Duration> {
        self.0
    }
}

/// A type whose value `budget` can take.
#[diagnostic::on_unimplemented(
    message = "`budget` is a `{Self}`, expected a `reattempt::Budget`",
    label = "expected a `Budget`, a reference to one, one in an `Arc`, or an `Option` of these"
)]
pub trait BudgetOf {
    /// Returns the budget of a call that begins now, or `None` for none.
    #[doc(hidden)]
    fn budget(&self) -> Option<&Budget>;
}

/// A type whose value `delays` can take: any `AsRef<[Duration]>`.
#[diagnostic::on_unimplemented(
    message = "`delays` is a `{Self}`, expected a list of durations",
    label = "expected an array, a slice or a `Vec` of `Duration`",
    note = "if it is an iterator of durations, write `.collect::<Vec<_>>()` behind it; for one that you keep, write `&mut` before it, and each retry takes the next"
)]
pub trait DelaysOf {
    /// Returns the delays of a call that begins now.
    #[doc(hidden)]
    fn delays(&self) -> &[Duration];
}

#[diagnostic::do_not_recommend]
impl<T: AsRef<[Duration]> + ?Sized> DelaysOf for T {
    #[inline]
    fn delays(&self) -> &[Duration] {
        self.as_ref()
    }
}

impl PolicyOf for Policy {
    type Same = Self;
    type Site = Site<true>;
    type Limits = Policy;

    #[inline]
    fn policy(&self) -> Policy {
        self.clone()
    }
}

impl PolicyOf for Preset {
    type Same = Self;
    type Site = Site<true>;
    type Limits = Policy;

    #[inline]
    fn policy(&self) -> Policy {
        Self::policy(self)
    }

    fn overridden(&self, policy: &Policy, settings: &SiteSettings<'_>) {
        let (code, of_call) = (&self.policy, &settings.policy);
        let budget =
            policy.budget() != code.budget() && !matches!(settings.budget, GivenBudget::OfPolicy);
        let keys = policy.overridden(code, of_call).into_iter().flatten();
        let keys = keys.chain(budget.then_some("budget"));
        // In a test scope, the policy is that of the scope.
        let configured = cfg!(feature = "serde") && test_scope_around().is_none();
        if configured && may_be_heard() && !of_call.is_silent() {
            // Not in the state of each function: rustc would check it there for each.
            static LOGGED: Mutex<BTreeSet<(FunctionId, &str)>> = Mutex::new(BTreeSet::new());
            let logged = || LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
            let new: Vec<_> = keys
                .filter(|key| logged().insert((settings.function(), key)))
                .collect();
            if !new.is_empty() {
                warn!(
                    target: "reattempt",
                    function = settings.name,
                    preset = self.name(),
                    keys = new.join(", "),
                    "keys of the attribute override the configuration of its preset",
                );
            }
        }
    }
}

impl BudgetOf for Budget {
    fn budget(&self) -> Option<&Budget> {
        Some(self)
    }
}

impl<B: BudgetOf> BudgetOf for Option<B> {
    fn budget(&self) -> Option<&Budget> {
        self.as_ref().and_then(BudgetOf::budget)
    }
}

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        impl<T: PolicyOf + ?Sized> PolicyOf for $pointer {
            type Same = Self;
            type Site = T::Site;
            type Limits = T::Limits;

            #[inline]
            fn policy(&self) -> Policy {
                (**self).policy()
            }

            fn overridden(&self, policy: &Policy, settings: &SiteSettings<'_>) {
                (**self).overridden(policy, settings);
            }
        }

        impl<T: BudgetOf + ?Sized> BudgetOf for $pointer {
            fn budget(&self) -> Option<&Budget> {
                (**self).budget()
            }
        }
    )*};
}

pointers!(&T, &mut T, Arc<T>, Rc<T>, Box<T>);
