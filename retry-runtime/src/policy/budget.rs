//! The budget that a policy names.

use std::fmt;

use super::{Policy, UNLIMITED};
use crate::budget::{Budget, BudgetCell, BudgetConfig, BudgetRef};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyBudget {
    /// The policy names none, so each function has its default.
    Default,
    /// Calls have no budget.
    None,
    /// A budget with these numbers, which starts full.
    Of(BudgetConfig, SharedCell),
}

/// The cell of the preset from which a policy comes. `None` stands for the cell of the function. All are equal, because a
/// cell is not a setting.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedCell(Option<&'static BudgetCell>);

impl Policy {
    /// Sets the numbers of the budget that bounds the retries. Default: those of [`Budget::new`], or no budget if the
    /// attempts are unlimited.
    ///
    /// Each function that uses the policy has a budget of its own with these numbers, which starts full. All functions
    /// that use a [`Preset`](crate::Preset) with this policy share one budget. The level of `budget` does not matter. A
    /// budget also bounds unlimited attempts. The attribute's key `budget` overrides it.
    ///
    /// # Panics
    ///
    /// - If the budget has a [pause](Budget::with_pause). In a `const`, that is a compile error. Name such a budget in the
    ///   attribute.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt_runtime as reattempt;
    /// use reattempt::{Budget, Policy, Preset};
    ///
    /// static PAYMENTS: Preset = Preset::new(
    ///     "payments",
    ///     Policy::new().with_budget(Budget::new().with_capacity(50)),
    /// );
    /// assert_eq!(PAYMENTS.budget_level(), Some(50.0));
    /// ```
    #[must_use]
    pub const fn with_budget(mut self, budget: Budget) -> Self {
        let mut numbers = budget.into_numbers();
        numbers.start = numbers.capacity;
        // The code of a function that names no budget does not look for a pause.
        assert!(
            !numbers.pauses,
            "a policy takes no budget with a pause: name it in the attribute, as `budget = …`"
        );
        self.budget = PolicyBudget::Of(numbers, SharedCell(None));
        self
    }

    /// Retries without a budget. Nothing then bounds the load that retries add, and the attribute's key `budget`
    /// overrides it.
    #[must_use]
    pub const fn without_budget(mut self) -> Self {
        self.budget = PolicyBudget::None;
        self
    }

    /// Whether it names no budget, and calls have one.
    #[cfg(feature = "_layers")]
    pub(crate) const fn has_default_budget(&self) -> bool {
        matches!(self.budget, PolicyBudget::Default) && self.attempts().is_some()
    }

    pub(crate) const fn budget(&self) -> &PolicyBudget {
        &self.budget
    }

    /// The budget of a call, or `None` for none. `own` is the cell of its function.
    #[inline]
    pub(crate) const fn budget_of_call<'b>(&'b self, own: &'b BudgetCell) -> Option<BudgetRef<'b>> {
        let (cell, numbers) = match &self.budget {
            // Without a limit on attempts there is none: it would end the loop, and the delays bound its load.
            PolicyBudget::Default if self.attempts == UNLIMITED => return None,
            PolicyBudget::Default => (own, &BudgetConfig::DEFAULT),
            PolicyBudget::None => return None,
            PolicyBudget::Of(numbers, SharedCell(Some(cell))) => (*cell, numbers),
            PolicyBudget::Of(numbers, SharedCell(None)) => (own, numbers),
        };
        Some(BudgetRef { cell, numbers })
    }

    /// Lets all calls share this cell, if the policy has a budget.
    #[inline]
    pub(crate) fn sharing(mut self, cell: impl FnOnce() -> &'static BudgetCell) -> Self {
        if let PolicyBudget::Of(_, shared) = &mut self.budget {
            *shared = SharedCell(Some(cell()));
        }
        self
    }
}

/// As a table shows it, after other settings.
impl fmt::Display for PolicyBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => Ok(()),
            Self::None => f.write_str(", no budget"),
            Self::Of(numbers, _) => match numbers.capacity() {
                1 => f.write_str(", budget of 1 token"),
                tokens => write!(f, ", budget of {tokens} tokens"),
            },
        }
    }
}

impl PartialEq for SharedCell {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SharedCell {}

#[cfg(feature = "_layers")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_with_limited_attempts_that_names_no_budget_has_the_default_one() {
        let policy = Policy::new();
        assert!(policy.has_default_budget());
        assert!(
            !policy
                .clone()
                .with_unlimited_attempts()
                .has_default_budget()
        );
        assert!(!policy.clone().without_budget().has_default_budget());
        assert!(!policy.with_budget(Budget::new()).has_default_budget());
    }
}
