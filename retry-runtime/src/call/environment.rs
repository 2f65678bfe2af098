//! The environment of a call: its budget, the budget of its hedges, the switch, the most attempts, and the draw of its delays.
//!
//! It is that of the process, or that of the test scope in which the call begins.

use std::time::Duration;

use super::State;
use crate::budget::{BudgetCell, BudgetConfig, BudgetRef};
use crate::clock::Stamp;
use crate::jitter::DelayRange;
use crate::listen::test_scope_around;
use crate::test_scope::CallInScope;
use crate::{rng, switch};

impl State<'_> {
    /// Puts a call that begins in a test scope into that scope, until the call ends.
    pub(super) fn enter_test_scope(&self) {
        let (frame, settings) = (&self.frame, self.settings);
        if frame.observed.get() && self.test_scope().is_none() {
            if let Some(scope) = test_scope_around() {
                let enter = || {
                    scope.enter(
                        settings.name,
                        settings.budget(),
                        hedges_of(&settings.shared.hedges),
                    )
                };
                frame.rest().scope.get_or_init(enter);
                frame.attempts.set(self.own_attempts());
            }
        }
    }

    /// What the test scope of the call gives to it, if the call is in one.
    #[inline]
    pub(super) fn test_scope(&self) -> Option<&CallInScope> {
        self.frame.if_rest()?.scope.get()
    }

    /// The attempts that the call may make by itself.
    pub(super) fn own_attempts(&self) -> u32 {
        let most = self.test_scope().and_then(|own| own.scope.attempts);
        let own = self.settings.policy.most_attempts();
        own.min(most.unwrap_or(u32::MAX))
    }

    /// Whether retries are on.
    pub(super) fn is_enabled(&self) -> bool {
        self.test_scope()
            .map_or_else(switch::is_enabled_outside, |own| {
                own.scope.disabled.is_down()
            })
    }

    /// The budget, or `None` for none.
    #[inline]
    pub(super) fn budget(&self) -> Option<BudgetRef<'_>> {
        let budget = self.settings.budget()?;
        let own = self.test_scope().and_then(|own| own.cell.as_deref());
        let cell = own.unwrap_or(budget.cell);
        Some(BudgetRef { cell, ..budget })
    }

    /// The budget of the function's hedges.
    pub(super) fn hedges(&self) -> BudgetRef<'_> {
        let own = self.test_scope().map(|own| &*own.hedges);
        hedges_of(own.unwrap_or(&self.settings.shared.hedges))
    }

    /// Draws the delay before the next attempt. Returns it, and whether the call waits for it.
    pub(super) fn draw(&self, range: &DelayRange, now: Stamp) -> (Duration, bool) {
        match self.test_scope() {
            None => (rng::duration_in(range, now), true),
            Some(own) => (own.draw(self.frame.number.get(), range), own.scope.waits),
        }
    }
}

fn hedges_of(cell: &BudgetCell) -> BudgetRef<'_> {
    let numbers = &BudgetConfig::HEDGES;
    BudgetRef { cell, numbers }
}
