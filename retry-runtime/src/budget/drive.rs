//! A budget without calls, for simulations, which have a clock of their own.
//!
//! These functions charge the budget as a call does, so a simulation shows the budget that calls use.

use std::time::Duration;

use super::numbers::FaultState;
use super::{Budget, Charge, Request};
use crate::clock::{Stamp, nanos};
use crate::report::PreviousFailure;

/// Whether the budget has a fault, so that a call that begins now does not belong to its first wave.
#[must_use]
pub fn has_fault(budget: &Budget) -> bool {
    budget.cell.lock().fault != FaultState::None
}

/// Takes the permit of a retry after an attempt that failed as `previous` says. Returns `None` if the budget refuses.
///
/// `number` is 1 for the first retry of the call, and `had_begun` says that there was no fault when the call began. Times
/// count from the beginning of the simulation. The permit is spent at once.
#[must_use]
pub fn take(
    budget: &Budget,
    previous: PreviousFailure,
    number: u32,
    had_begun: bool,
    now: Duration,
) -> Option<Spent> {
    let request = Request {
        charge: Charge::after(previous),
        number,
        had_begun,
        at_once: false,
    };
    budget.of_call().take(request, stamp(now)).map(Spent)
}

/// Credits a call that succeeded. `last` is the permit of its last retry, or `None` if it made no retry.
pub fn succeed(budget: &Budget, last: Option<Spent>, now: Duration) {
    let last = last.map(|Spent(charge)| charge);
    budget.of_call().succeed(last, || stamp(now));
}

fn stamp(time: Duration) -> Stamp {
    Stamp::from_nanos(nanos(time))
}

/// A permit that was spent.
#[derive(Debug, Clone, Copy)]
pub struct Spent(Charge);
