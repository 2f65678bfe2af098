//! A budget without calls, for simulations, which have a clock of their own.
//!
//! These functions charge the budget as a call does, so a simulation shows the budget that calls use.

use std::time::Duration;

use crate::budget::Budget;
use crate::clock::{Stamp, nanos};
use crate::context::Previous;

/// Takes the permit of a retry after an attempt that failed as `previous` says. Returns `false` if the budget refuses.
///
/// `first` says that it is the first retry of the call. `now` is the time since the simulation began. The permit is
/// spent at once.
#[must_use]
pub fn take(budget: &Budget, previous: Previous, first: bool, now: Duration) -> bool {
    let now = Stamp::from_nanos(nanos(now));
    previous
        .charge()
        .is_none_or(|charge| budget.take(charge, first, now))
}

/// Credits a call that succeeded. `previous` says how the attempt before failed, or `None` if there was none.
pub fn succeed(budget: &Budget, previous: Option<Previous>) {
    budget.succeed(previous.and_then(Previous::charge));
}
