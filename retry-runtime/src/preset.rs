//! Policies with a name.

use std::sync::OnceLock;
#[cfg(feature = "serde")]
use std::sync::{PoisonError, RwLock};

use crate::budget::{BudgetCell, BudgetRef};
use crate::listen::test_scope_around;
use crate::policy::{Policy, PolicyBudget};

/// A policy with a name, for a `static`: the settings of all calls to one service.
///
/// Name it in the attribute: `#[retry(policy = PAYMENTS)]`. Other keys of the attribute override it. A
/// call reads its policy once, when it begins. With the feature `serde`, the configuration of the program can override the
/// policy, also while the program runs.
///
/// If the policy has a budget ([`Policy::with_budget`]), all functions that use the preset share it. Otherwise each has
/// its default.
///
/// The error type of the function must be able to hold a [`Stopped`](crate::Stopped), because a preset may have a
/// timeout or a deadline.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::time::Duration;
///
/// use reattempt::{Policy, Preset};
///
/// static PAYMENTS: Preset = Preset::new(
///     "payments",
///     Policy::new().with_attempts(4).with_timeout(Duration::from_millis(800)),
/// );
///
/// assert_eq!(PAYMENTS.name(), "payments");
/// assert_eq!(PAYMENTS.policy().attempts(), Some(4));
/// ```
#[derive(Debug)]
pub struct Preset {
    name: &'static str,
    /// The policy in the code. Calls read [`policy()`](Self::policy).
    pub(crate) policy: Policy,
    /// The cell of the budget, made at the first use and never dropped, because a copy of the policy may live as long as
    /// the program.
    cell: OnceLock<&'static BudgetCell>,
    #[cfg(feature = "serde")]
    configured: RwLock<Option<Policy>>,
}

impl Preset {
    /// Makes a preset from a name, which errors of the configuration have, and a policy.
    #[must_use]
    pub const fn new(name: &'static str, policy: Policy) -> Self {
        Self {
            name,
            policy,
            cell: OnceLock::new(),
            #[cfg(feature = "serde")]
            configured: RwLock::new(None),
        }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the policy of a call that begins now: the policy in the code, with the overrides of the configuration.
    ///
    /// Without the feature `serde`, it is always the policy in the code. With the feature, this costs a read lock and a copy.
    ///
    /// In a test scope, it is the policy of the scope: the one in the code, unless the scope has another.
    #[must_use]
    #[inline]
    pub fn policy(&self) -> Policy {
        let policy = match test_scope_around() {
            Some(scope) => {
                let of_scope = scope.state().presets.get(&self.address()).cloned();
                of_scope.unwrap_or_else(|| self.policy.clone())
            }
            None => self.policy_outside(),
        };
        policy.sharing(|| self.cell())
    }

    /// The address, by which test scopes know the preset.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline]
    fn policy_outside(&self) -> Policy {
        #[cfg(feature = "serde")]
        if let Some(policy) = &*self
            .configured
            .read()
            .unwrap_or_else(PoisonError::into_inner)
        {
            return policy.clone();
        }
        self.policy.clone()
    }

    /// Returns the tokens left in the budget that all functions with this preset share, or `None` if the policy has no
    /// budget of its own.
    ///
    /// When the numbers change at a reload, the tokens that are missing stay missing. Inside a test scope it is the level
    /// outside, because a scope has its own budgets.
    #[must_use]
    pub fn budget_level(&self) -> Option<f64> {
        self.with_budget(|budget| budget.level())
    }

    /// Shows the budget that the functions share to `f`, if the policy has one.
    fn with_budget<T>(&self, f: impl FnOnce(BudgetRef<'_>) -> T) -> Option<T> {
        let policy = self.policy_outside();
        let PolicyBudget::Of(numbers, _) = policy.budget() else {
            return None;
        };
        let cell = self.cell();
        Some(f(BudgetRef { cell, numbers }))
    }

    #[cold]
    fn cell(&self) -> &'static BudgetCell {
        self.cell
            .get_or_init(|| Box::leak(Box::new(BudgetCell::full())))
    }

    /// Sets the policy of calls that begin from now on, outside of test scopes.
    #[cfg(feature = "serde")]
    pub(crate) fn set(&self, policy: Policy) {
        self.with_budget(|budget| budget.settle());
        let configured = self.configured.write();
        *configured.unwrap_or_else(PoisonError::into_inner) = Some(policy);
    }
}
