//! A call in a test scope, which may replace its budget and its delays, and bound its attempts.

use std::time::Duration;

use super::State;
use crate::budget::{BudgetRef, Share};
use crate::clock::{Stamp, nanos};
use crate::fit::DelayRange;
use crate::rng;
use crate::test_scope::{CallInScope, TestScope};

impl State<'_> {
    /// Puts a call that begins in a test scope into that scope, until the call ends.
    #[cold]
    pub(super) fn enter_test_scope(&self, scope: &TestScope) {
        let frame = &self.frame;
        scope.enter(self.settings.name, &mut frame.rest().noted().scope);
        frame.attempts.set(self.own_attempts());
    }

    /// The attempts that the call may make by itself, in its test scope.
    pub(super) fn own_attempts(&self) -> u32 {
        let most = self.with_test_scope(|own| own.attempts()).flatten();
        most.map_or(self.settings.attempts, |most| {
            most.min(self.settings.attempts)
        })
    }

    /// Shows the call's part of the test scope to `f`, if the call is in a test scope.
    pub(super) fn with_test_scope<T>(&self, f: impl FnOnce(&mut CallInScope) -> T) -> Option<T> {
        self.frame.if_rest()?.noted().scope.as_mut().map(f)
    }

    /// Whether the call is in a test scope.
    pub(super) fn is_in_test_scope(&self) -> bool {
        self.with_test_scope(|_| ()).is_some()
    }

    /// Shows the budget of the call to `f`, if it has one.
    #[inline]
    pub(super) fn with_budget<T>(&self, f: impl FnOnce(BudgetRef<'_>) -> T) -> Option<T> {
        let budget = self.settings.budget()?;
        match self.with_test_scope(|own| own.fresh_cell(budget)) {
            None => Some(f(budget)),
            Some(cell) => {
                let cell = &*cell;
                Some(f(BudgetRef { cell, ..budget }))
            }
        }
    }

    /// Shows the share of hedges of the function to `f`.
    pub(super) fn with_share<T>(&self, f: impl FnOnce(&Share) -> T) -> T {
        let share = &self.settings.shared.share;
        match self.with_test_scope(|own| own.fresh_share(share)) {
            None => f(share),
            Some(own) => f(&own),
        }
    }

    /// Draws the delay before the next attempt. Returns the delay, and how long the call waits, which is zero in a test
    /// scope without waits.
    #[inline]
    pub(super) fn draw(&self, range: &DelayRange, now: Stamp) -> (Duration, Duration) {
        let number = self.frame.number.get();
        let drawn = self.with_test_scope(|own| (own.draw(number, range), own.waits()));
        match drawn {
            None => {
                let delay = rng::duration_in(range, now);
                (delay, delay)
            }
            Some((delay, true)) => (delay, delay),
            Some((delay, false)) => {
                self.frame.pass_over(delay);
                (delay, Duration::ZERO)
            }
        }
    }

    /// The instant of the call at `now`, which is later by the delays that it did not wait for.
    pub(super) fn in_test_scope(&self, now: Stamp) -> Stamp {
        let rest = self.frame.if_rest();
        let passed_over = rest.map(|rest| rest.noted().passed_over);
        now.plus(nanos(passed_over.unwrap_or_default()))
    }

    /// Takes the call out of its test scope.
    pub(super) fn leave_test_scope(&self) -> Option<CallInScope> {
        self.frame.if_rest()?.noted().scope.take()
    }
}
