//! The settings of one call.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::SiteState;
use crate::budget::{Budget, BudgetCell, BudgetConfig, BudgetRef};
use crate::clock::nanos;
use crate::context::{FunctionId, NEVER};
use crate::jitter::Jitter;
use crate::policy::{Policy, PolicyBudget, attempts_for, delays_range};

/// The settings of a call: the function's name, a policy, and the budget.
///
/// The site holds the settings of the function. A call that computes some settings copies them and changes the copy.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one key")]
pub struct SiteSettings<'p> {
    /// The label in events, reports and metrics.
    pub(crate) name: &'static str,
    /// What all calls of the function share.
    pub(crate) shared: &'static SiteState,
    /// The cell of the budget that was set, or that of the function. A call without a budget has one too.
    pub(crate) cell: &'p BudgetCell,
    /// Its numbers. `None` stands for those of the policy.
    numbers: Option<&'p BudgetConfig>,
    /// Whether the call uses it.
    budgeted: bool,
    /// Whether the attribute names a budget, `"none"` included.
    budget_given: bool,
    /// The delays of this call, which replace the delays of the policy.
    delays: Option<&'p [Duration]>,
    /// Set only by `of_policy`, together with the next three, which are computed from it.
    pub(crate) policy: Policy,
    /// The limit of one attempt in nanoseconds, or `NEVER` for none.
    pub(crate) timeout: u64,
    /// The limit of the whole call in nanoseconds, or `NEVER` for none.
    pub(crate) deadline: u64,
    /// The number of attempts, or `u32::MAX` for no limit.
    pub(crate) attempts: u32,
    /// Whether the function may run twice.
    pub(crate) idempotent: bool,
    /// Whether the text of errors stays out of the log.
    pub(crate) sensitive: bool,
    /// Whether a hook wants to know what the call did, and how long it took.
    pub(crate) listens: bool,
}

/// The numbers of a budget that nothing names.
const DEFAULT: &BudgetConfig = &BudgetConfig::DEFAULT;

impl<'p> SiteSettings<'p> {
    pub(super) const fn new(
        name: &'static str,
        policy: Policy,
        shared: &'static SiteState,
    ) -> Self {
        Self {
            name,
            shared,
            cell: &shared.cell,
            numbers: None,
            budgeted: false,
            budget_given: false,
            delays: None,
            policy,
            timeout: 0,
            deadline: 0,
            attempts: 0,
            idempotent: true,
            sensitive: false,
            listens: false,
        }
        .of_policy(policy)
    }

    /// Copies the settings for one call.
    #[must_use]
    pub const fn of_call(&self) -> Self {
        *self
    }

    /// Changes the policy.
    #[must_use]
    pub fn with_policy(self, change: impl FnOnce(Policy) -> Policy) -> Self {
        let policy = change(self.policy);
        self.of_policy(policy)
    }

    /// Sets the delays, with one attempt more than there are delays, and no jitter. The last delay is repeated if the
    /// call makes more attempts.
    #[must_use]
    pub fn with_delays(self, delays: &'p [Duration]) -> Self {
        let policy = self.policy.with_attempts(attempts_for(delays));
        Self {
            delays: Some(delays),
            ..self.of_policy(policy.with_jitter(Jitter::None))
        }
    }

    /// Sets the budget, or `None` for none.
    #[must_use]
    pub const fn with_budget(mut self, budget: Option<&'p Budget>) -> Self {
        self.budgeted = budget.is_some();
        if let Some(budget) = budget {
            let BudgetRef { cell, numbers } = budget.of_call();
            self.cell = cell;
            self.numbers = Some(numbers);
        }
        self.budget_given = true;
        self
    }

    /// Sets the label in events, reports and metrics.
    #[must_use]
    pub(crate) const fn with_name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Declares that a hook wants to know what the call did.
    #[must_use]
    pub(crate) const fn with_listener(mut self) -> Self {
        self.listens = true;
        self
    }

    /// Sets whether the text of errors stays out of the log.
    #[must_use]
    pub(crate) const fn with_sensitive(mut self, sensitive: bool) -> Self {
        self.sensitive = sensitive;
        self
    }

    /// Sets whether the function may run twice.
    #[must_use]
    pub const fn with_idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Sets the policy, and the values that are computed from it.
    const fn of_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.timeout = length(policy.timeout());
        self.deadline = length(policy.deadline());
        self.attempts = match policy.attempts() {
            Some(attempts) => attempts,
            None => u32::MAX,
        };
        if !self.budget_given {
            self.cell = match policy.shared_cell() {
                Some(cell) => cell,
                None => &self.shared.cell,
            };
            (self.numbers, self.budgeted) = match policy.budget() {
                // Without a limit on attempts there is none: it would end the loop, and the delays bound its load.
                PolicyBudget::Default => (Some(DEFAULT), policy.attempts().is_some()),
                PolicyBudget::None => (None, false),
                PolicyBudget::Of(..) => (None, true),
            };
        }
        self
    }

    /// Identifies the function. The calls of one place in the source may have different names.
    pub(crate) fn function(&self) -> FunctionId {
        FunctionId::of(self.shared, self.name)
    }

    /// The budget, or `None` for none.
    #[inline]
    pub(crate) const fn budget(&self) -> Option<BudgetRef<'_>> {
        if !self.budgeted {
            return None;
        }
        match (self.numbers, self.policy.budget()) {
            (Some(numbers), _) | (None, PolicyBudget::Of(numbers, _)) => Some(BudgetRef {
                cell: self.cell,
                numbers,
            }),
            (None, _) => None,
        }
    }

    /// The range of the delay before retry `n`, counted from 0. `previous` is the delay before the last retry, and
    /// `throttled` says that the failure was throttled without a hint.
    #[inline]
    pub(crate) fn delay_range(
        &self,
        n: u32,
        previous: Option<Duration>,
        throttled: bool,
    ) -> RangeInclusive<Duration> {
        match self.delays {
            None if throttled => self.policy.throttled_delay_range(n, previous),
            None => self.policy.delay_range(n, previous),
            Some(delays) => delays_range(delays, self.policy.jitter(), n),
        }
    }
}

impl SiteSettings<'_> {
    /// The range of the longest delay.
    #[cold]
    pub(crate) fn longest_delay_range(&self) -> RangeInclusive<Duration> {
        match self.delays {
            None => self.policy.longest_delay_range(),
            Some(delays) => delays_range(delays, self.policy.jitter(), u32::MAX),
        }
    }
}

/// A limit in nanoseconds, or `NEVER` for none.
const fn length(limit: Option<Duration>) -> u64 {
    match limit {
        Some(limit) => nanos(limit),
        None => NEVER,
    }
}
