//! A budget driven from outside a call: for simulations, which have a clock of their own.
//!
//! They ask what a call asks, in the words of a call, so that what they show is this budget.

use std::time::Duration;

use super::state::charge;
use crate::budget::Budget;
use crate::clock::{Stamp, nanos};
use crate::context::Previous;

/// Takes what a retry after such an attempt costs; `false` where the budget refuses it.
///
/// `first` says that the call never asked before, `now` how long the simulation runs. The retry counts as begun.
#[must_use]
pub fn take(budget: &Budget, previous: Previous, first: bool, now: Duration) -> bool {
    budget.take(charge(previous), first, Stamp::from_nanos(nanos(now)))
}

/// Takes note of a call that succeeded, after such an attempt, or with its first.
pub fn succeed(budget: &Budget, previous: Option<Previous>) {
    budget.succeed(previous.map(charge));
}
