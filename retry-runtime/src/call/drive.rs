//! A budget without calls, for simulations, which have a clock of their own.
//!
//! These functions charge the budget as a call does, so a simulation shows the budget that calls use.

use std::time::Duration;

use crate::budget::{Budget, Charge};
use crate::clock::{Stamp, nanos};
use crate::context::Previous;

/// Takes the permit of a retry after an attempt that failed as `previous` says. Returns `None` if the budget refuses.
///
/// `first` says that it is the first retry of the call, which began at `began`. Times count from the beginning of the
/// simulation. The permit is spent at once.
#[must_use]
pub fn take(
    budget: &Budget,
    previous: Previous,
    first: bool,
    began: Duration,
    now: Duration,
) -> Option<Spent> {
    let [began, now] = [began, now].map(|time| Stamp::from_nanos(nanos(time)));
    let charge = budget
        .of_call()
        .take(previous.charge(), first, now, || began);
    charge.map(Spent)
}

/// Credits a call that succeeded. `last` is the permit of its last retry, or `None` if it made no retry.
pub fn succeed(budget: &Budget, last: Option<Spent>) {
    budget.of_call().succeed(last.map(|Spent(charge)| charge));
}

/// A permit that was spent.
#[derive(Debug, Clone, Copy)]
pub struct Spent(Charge);
