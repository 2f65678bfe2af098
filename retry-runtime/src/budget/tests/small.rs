//! Every step of small budgets: each state, operation and time. A step that is right from every valid state, and leads to a
//! valid state, is right in a sequence of any length.
//!
//! What each step keeps is a balance: what was there and what came in is there or was taken. So in any sequence
//!
//! ```text
//! price × retries that paid ≤ tokens at the start + tokens that came back + tokens that calls gave
//! ```
//!
//! With the numbers of the default, that is the promise about a service that is down.

use std::time::Duration;

use super::super::numbers::{Balance, BudgetConfig, Charge, FREE_RETRIES, FaultState, Request};
use super::super::{BudgetCell, BudgetRef};
use crate::clock::Stamp;

/// The time between two steps: a twentieth of a second.
const TICK: Duration = Duration::from_millis(50);

/// Amounts in thousandths of a token: all that fit this many bits.
#[derive(Clone, Copy)]
struct Width(u32);

impl Width {
    fn all(self) -> std::ops::Range<u32> {
        0..1 << self.0
    }
}

#[test]
fn every_step_of_budgets_of_four_bits_keeps_the_balance() {
    every_retry_keeps_the_balance(Width(4));
    every_success_and_every_tick_keeps_the_balance(Width(4));
}

#[test]
#[ignore = "half a minute in a release build: `.ci/release` runs it"]
fn every_step_of_budgets_of_six_bits_keeps_the_balance() {
    every_retry_keeps_the_balance(Width(6));
    every_success_and_every_tick_keeps_the_balance(Width(6));
}

/// What a budget of this capacity can hold.
fn states(capacity: u32, wave: bool) -> impl Iterator<Item = Balance> {
    let faults = [FaultState::None, FaultState::Slight, FaultState::Serious].into_iter();
    faults
        .flat_map(move |fault| {
            (0..=capacity).map(move |missing| Balance {
                fault,
                ..Balance::new(missing, Stamp::FIRST)
            })
        })
        .filter(move |state| is_valid(*state, capacity, wave))
}

/// No budget has a fault if its first wave pays. A slight one has lost at most a third of the tokens.
fn is_valid(state: Balance, capacity: u32, wave: bool) -> bool {
    let missing = state.missing;
    missing <= capacity
        && match state.fault {
            FaultState::None => true,
            FaultState::Slight => wave && missing <= capacity / 3,
            FaultState::Serious => wave,
        }
}

fn numbers(capacity: u32, price: u32, refill: u32, wave: bool) -> BudgetConfig {
    BudgetConfig {
        start: capacity,
        capacity,
        failure: price,
        refill,
        first_wave_is_free: wave,
        ..BudgetConfig::DEFAULT
    }
}

/// Runs `step` on the production code, from `state`. Returns the state after it.
fn run<T>(
    numbers: &BudgetConfig,
    state: Balance,
    step: impl FnOnce(BudgetRef<'_>) -> T,
) -> (Balance, T) {
    let cell = &BudgetCell::of(state);
    let result = step(BudgetRef { cell, numbers });
    let after = *cell.lock();
    assert!(
        is_valid(after, numbers.capacity, numbers.first_wave_is_free),
        "{numbers:?}: from {state:?} to {after:?}"
    );
    let at_rest = Balance {
        faults: after.faults,
        ..Balance::new(0, after.credited)
    };
    assert_eq!(cell.is_at_rest(), after == at_rest);
    (after, result)
}

fn every_retry_keeps_the_balance(width: Width) {
    for (capacity, wave) in width
        .all()
        .flat_map(|capacity| [(capacity, false), (capacity, true)])
    {
        for price in width.all() {
            let numbers = numbers(capacity, price, 0, wave);
            for state in states(capacity, wave) {
                for number in 1..=FREE_RETRIES + 1 {
                    for (had_begun, at_once) in [(false, false), (true, false), (true, true)] {
                        a_retry_keeps_the_balance(&numbers, state, number, had_begun, at_once);
                    }
                }
            }
        }
    }
}

fn a_retry_keeps_the_balance(
    numbers: &BudgetConfig,
    state: Balance,
    number: u32,
    had_begun: bool,
    at_once: bool,
) {
    let price = numbers.failure;
    let charge = Charge::Failure;
    let (after, charge) = run(numbers, state, |budget| {
        let request = Request {
            charge,
            number,
            had_begun,
            at_once,
        };
        budget.take(request, state.credited)
    });
    let [before, left] = [state, after].map(|state| numbers.level(&state));
    let seen = || {
        format!("{numbers:?}, {number}, {had_begun}, {at_once}: {state:?}, {charge:?}, {after:?}")
    };
    let wave = numbers.first_wave_is_free;
    let may_be_free = wave && had_begun && number <= FREE_RETRIES && price <= numbers.capacity;
    // Only what cannot be paid is refused, and only in a serious fault is anything free.
    let expected = if may_be_free && (state.fault == FaultState::Serious || before < price) {
        Some(Charge::Free)
    } else {
        (before >= price).then_some(Charge::Failure)
    };
    assert_eq!(charge, expected, "{}", seen());
    let taken = if charge == Some(Charge::Failure) {
        price
    } else {
        0
    };
    assert_eq!(left + taken, before, "{}", seen());
    // A retry that takes something begins a fault, which is serious if more than a third is gone. None ends here.
    let is_serious = after.missing > numbers.capacity / 3;
    let fault = match (state.fault, charge) {
        (_, Some(Charge::Free)) => FaultState::Serious,
        (FaultState::None, Some(_)) if !wave || price == 0 => FaultState::None,
        (FaultState::None | FaultState::Slight, Some(_)) if is_serious => FaultState::Serious,
        (FaultState::None, Some(_)) if at_once => FaultState::None,
        (FaultState::None, Some(_)) => FaultState::Slight,
        (fault, _) => fault,
    };
    assert_eq!(after.fault, fault, "{}", seen());
    let begins = state.fault == FaultState::None && fault != FaultState::None;
    assert_eq!(after.faults, u32::from(begins), "{}", seen());
}

fn every_success_and_every_tick_keeps_the_balance(width: Width) {
    for capacity in width.all() {
        for state in states(capacity, true) {
            for amount in width.all() {
                a_success_keeps_the_balance(capacity, state, amount);
                for ticks in width.all() {
                    a_wait_keeps_the_balance(capacity, state, amount, ticks);
                }
            }
        }
    }
}

/// A success gives what its last retry took, or the reward, up to the capacity. It ends a fault, but a serious one only in a
/// full budget.
fn a_success_keeps_the_balance(capacity: u32, state: Balance, amount: u32) {
    for each_call_gives in [false, true] {
        for (last_retry, gives) in [
            (None, amount),
            (Some(Charge::Failure), amount * u32::from(!each_call_gives)),
            (Some(Charge::Free), 0),
        ] {
            let numbers = BudgetConfig {
                reward: amount,
                each_call_gives,
                ..numbers(capacity, amount, 0, true)
            };
            let (after, ()) = run(&numbers, state, |budget| {
                budget.succeed(last_retry, || state.credited);
            });
            let is_full = numbers.level(&state) + gives >= numbers.capacity;
            let fault = match state.fault {
                FaultState::Serious if !is_full => FaultState::Serious,
                _ => FaultState::None,
            };
            came_in(&numbers, state, after, gives, fault);
        }
    }
}

/// Time gives `refill` a second, in whole thousandths, and ends no fault.
fn a_wait_keeps_the_balance(capacity: u32, state: Balance, refill: u32, ticks: u32) {
    // The multiples of a tick, twenty in a second.
    let refill = 20 * refill;
    let numbers = numbers(capacity, capacity + 1, refill, true);
    let now = state.credited.plus(TICK * ticks);
    // What costs more than the capacity is always refused, so that only the time counts.
    let request = Request {
        charge: Charge::Failure,
        number: 1,
        had_begun: true,
        at_once: false,
    };
    let (after, refused) = run(&numbers, state, |budget| budget.take(request, now));
    let gives = refill / 20 * ticks;
    assert_eq!(refused, None);
    came_in(&numbers, state, after, gives, state.fault);
    assert_eq!(after.credited, now);
    // A success in a serious fault credits the time too.
    let (after, ()) = run(&numbers, state, |budget| {
        budget.succeed(Some(Charge::Free), || now);
    });
    let credited = if state.fault == FaultState::Serious {
        gives
    } else {
        0
    };
    let is_full = numbers.level(&state) + credited >= capacity;
    let fault = match state.fault {
        FaultState::Serious if !is_full => FaultState::Serious,
        _ => FaultState::None,
    };
    came_in(&numbers, state, after, credited, fault);
}

fn came_in(numbers: &BudgetConfig, before: Balance, after: Balance, gives: u32, fault: FaultState) {
    let level = (numbers.level(&before) + gives).min(numbers.capacity);
    let expected = (level, fault);
    let seen = (numbers.level(&after), after.fault);
    assert_eq!(
        seen, expected,
        "{numbers:?}, {gives}: {before:?}, {after:?}"
    );
}

/// Each call adds a sixteenth and each hedge takes sixteen, so hedges are at most ten and a sixteenth of the calls.
#[test]
fn every_step_of_a_share_keeps_the_balance() {
    let numbers = BudgetConfig::HEDGES;
    let hedge = Request {
        charge: Charge::Failure,
        number: 1,
        had_begun: false,
        at_once: false,
    };
    for missing in 0..=160 {
        let state = Balance::new(missing * 1_000, Stamp::FIRST);
        let (after, ()) = run(&numbers, state, |hedges| {
            hedges.succeed(None, || Stamp::FIRST);
        });
        assert_eq!(after.missing, missing.saturating_sub(1) * 1_000);
        let takes = missing <= 160 - 16;
        let left = if takes { missing + 16 } else { missing };
        let (after, charge) = run(&numbers, state, |hedges| hedges.take(hedge, Stamp::FIRST));
        assert_eq!((after.missing, charge.is_some()), (left * 1_000, takes));
        assert_eq!(after.fault, FaultState::None, "no hedge is free");
    }
}

/// Refills that are no whole number of thousandths in a tick lose nothing in the long run: over any time, from any tick, they
/// give what the rate says, less than a thousandth off.
#[test]
fn no_refill_is_lost_by_rounding() {
    for refill in 0..64 {
        let numbers = numbers(1 << 20, 1, refill, false);
        for from in 0..20 {
            let from = Stamp::FIRST.plus(TICK * from);
            let mut state = Balance::new(1 << 20, from);
            for ticks in 1..=64_u32 {
                numbers.credit(&mut state, from.plus(TICK * ticks));
                let given = i64::from(numbers.level(&state)) * 20;
                let rate = i64::from(ticks * refill);
                assert!(
                    (given - rate).abs() < 20,
                    "{refill} a second, {ticks} ticks after {from:?}"
                );
            }
        }
    }
}
