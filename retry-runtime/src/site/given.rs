//! The types of `policy`, `budget` and `delays` expressions: by value, by reference, behind a smart pointer.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::Site;
use crate::budget::Budget;
use crate::policy::Policy;
use crate::preset::Preset;

/// A type whose value `policy` can take.
#[diagnostic::on_unimplemented(
    message = "`policy` is a `{Self}`, expected a `reattempt::Policy`",
    label = "expected a `Policy`, a reference to one, one in an `Arc`, or a `&Preset`"
)]
pub trait PolicyOf {
    /// What begins a call: a [`Site`], or its [settings](super::SiteSettings) if the type says that there are no limits.
    type Site;

    /// Returns the policy of a call that begins now.
    fn policy(&self) -> Policy;

    /// Returns what begins a call, if the attribute has no limit of its own.
    fn site(site: &Site<true>) -> &Self::Site;

    /// Returns both.
    fn given<'s>(&self, site: &'s Site<true>) -> (&'s Self::Site, Policy) {
        (Self::site(site), self.policy())
    }
}

/// A type whose constants `policy` can take. `Same` is that type: without it, rustc reports a second error.
#[diagnostic::on_unimplemented(
    message = "`policy` is a `{Self}`, expected a `reattempt::Policy`",
    label = "expected a `Policy`; for a `Preset`, write `&` before it"
)]
pub trait ConstantPolicy {
    /// The type itself.
    type Same;
}

impl ConstantPolicy for Policy {
    type Same = Self;
}

/// Returns the policy, which is a constant.
pub const fn constant<P: ConstantPolicy<Same = P>>(policy: &P) -> &P::Same {
    policy
}

/// A type whose value `budget` can take.
#[diagnostic::on_unimplemented(
    message = "`budget` is a `{Self}`, expected a `reattempt::Budget`",
    label = "expected a `Budget`, a reference to one, one in an `Arc`, or an `Option` of these"
)]
pub trait BudgetOf {
    /// Returns the budget of a call that begins now, or `None` for none.
    fn budget(&self) -> Option<&Budget>;
}

/// A type whose value `delays` and [`Run::with_delays`](crate::Run::with_delays) can take: any `AsRef<[Duration]>`.
#[diagnostic::on_unimplemented(
    message = "`delays` is a `{Self}`, expected a list of durations",
    label = "expected an array, a slice or a `Vec` of `Duration`",
    note = "if it is an iterator of durations, write `.collect::<Vec<_>>()` behind it"
)]
pub trait DelaysOf {
    /// Returns the delays of a call that begins now.
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
    type Site = Site<true>;

    #[inline]
    fn policy(&self) -> Policy {
        self.clone()
    }

    #[inline]
    fn site(site: &Site<true>) -> &Site<true> {
        site
    }
}

impl PolicyOf for Preset {
    type Site = Site<true>;

    #[inline]
    fn policy(&self) -> Policy {
        Self::policy(self)
    }

    #[inline]
    fn site(site: &Site<true>) -> &Site<true> {
        site
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
            type Site = T::Site;

            #[inline]
            fn policy(&self) -> Policy {
                (**self).policy()
            }

            #[inline]
            fn site(site: &Site<true>) -> &T::Site {
                T::site(site)
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
