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

use super::ledger::Ledger;
use super::numbers::{BudgetNumbers, Charge, Earning, FREE_TICKS, FaultAge, LedgerState};
use super::share::Share;
use crate::atomics::{AtomicU64, Word};

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
fn states(capacity: u32, wave: bool) -> impl Iterator<Item = LedgerState> {
    let faults = [FaultAge::None, FaultAge::Old]
        .into_iter()
        .chain((0..FREE_TICKS).map(FaultAge::Young));
    faults
        .flat_map(move |fault| {
            (0..=capacity).map(move |missing| LedgerState {
                missing,
                fault,
                tick: 7,
            })
        })
        .filter(move |state| is_valid(*state, capacity, wave))
}

/// A full budget has no fault, and no budget has one if its first wave pays.
fn is_valid(state: LedgerState, capacity: u32, wave: bool) -> bool {
    state.missing <= capacity && (state.fault == FaultAge::None || (wave && state.missing > 0))
}

fn numbers(capacity: u32, price: u32, refill: u32, wave: bool) -> BudgetNumbers {
    BudgetNumbers {
        start: capacity,
        capacity,
        failure: price,
        refill,
        first_wave_is_free: wave,
        ..BudgetNumbers::DEFAULT
    }
}

/// Runs `step` on the production code, from `state`. Returns the state after it.
fn run<T>(
    numbers: &BudgetNumbers,
    state: LedgerState,
    step: impl FnOnce(&Ledger<'_, AtomicU64>) -> T,
) -> (LedgerState, T) {
    let word = AtomicU64::new(state.pack());
    let result = step(&Ledger {
        word: &word,
        numbers,
    });
    let after = LedgerState::unpack(Word::load(&word));
    assert!(
        is_valid(after, numbers.capacity, numbers.first_wave_is_free),
        "{numbers:?}: from {state:?} to {after:?}"
    );
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
                for age in 0..=FREE_TICKS {
                    a_retry_keeps_the_balance(&numbers, price, state, age);
                }
            }
        }
    }
}

/// A retry of a call that began `age` ticks ago.
fn a_retry_keeps_the_balance(numbers: &BudgetNumbers, price: u32, state: LedgerState, age: u64) {
    let (after, charge) = run(numbers, state, |ledger| {
        ledger.take(Charge::Failure, true, state.tick, || age)
    });
    let [before, left] = [state, after].map(|state| numbers.level(state));
    let seen = || format!("{numbers:?}, age {age}: {state:?}, {charge:?}, {after:?}");
    let begins = state.fault == FaultAge::None && after.fault == FaultAge::Young(0);
    let was_under_way = matches!(state.fault, FaultAge::Young(fault) if fault <= age);
    match charge {
        Some(Charge::Free) => {
            assert!(before == left && price <= numbers.capacity, "{}", seen());
            assert!(was_under_way || (begins && before < price), "{}", seen());
        }
        Some(paid) => {
            assert_eq!(
                (paid, before),
                (Charge::Failure, left + price),
                "{}",
                seen()
            );
            assert!(!was_under_way, "{}", seen());
        }
        // Only what cannot be paid is refused.
        None => {
            assert!(state == after && before < price, "{}", seen());
            assert!(price > numbers.capacity || !was_under_way, "{}", seen());
        }
    }
    // A fault begins below half of the tokens, or with a retry that they cannot pay for, and never ends here.
    let below_half = 2 * left < numbers.capacity;
    let begins_now = charge.is_some() && (below_half || charge == Some(Charge::Free));
    let expected = state.fault == FaultAge::None && numbers.first_wave_is_free && begins_now;
    assert_eq!(begins, expected, "{}", seen());
    assert!(begins || state.fault == after.fault, "{}", seen());
}

fn every_success_and_every_tick_keeps_the_balance(width: Width) {
    for capacity in width.all() {
        for state in states(capacity, true) {
            for amount in width.all() {
                a_success_keeps_the_balance(capacity, state, amount);
                for ticks in width.all() {
                    a_wait_keeps_the_balance(capacity, state, amount, u64::from(ticks));
                }
            }
        }
    }
}

/// A success gives what its last retry took, or the reward, up to the capacity. Only a full budget ends a fault.
fn a_success_keeps_the_balance(capacity: u32, state: LedgerState, amount: u32) {
    for earning in [Earning::Success, Earning::Call] {
        for (last_retry, gives) in [
            (None, amount),
            (
                Some(Charge::Failure),
                amount * u32::from(earning == Earning::Success),
            ),
            (Some(Charge::Free), 0),
        ] {
            let numbers = BudgetNumbers {
                reward: amount,
                earning,
                ..numbers(capacity, amount, 0, true)
            };
            let (after, ()) = run(&numbers, state, |ledger| ledger.succeed(last_retry));
            came_in(&numbers, state, after, gives, state.fault);
        }
    }
}

/// Time gives `refill` a second, in whole thousandths, and ages a fault.
fn a_wait_keeps_the_balance(capacity: u32, state: LedgerState, refill: u32, ticks: u64) {
    // The multiples of a tick, twenty in a second.
    let refill = 20 * refill;
    let numbers = numbers(capacity, capacity + 1, refill, true);
    let now = state.tick + ticks;
    // What costs more than the capacity is always refused, so that only the time counts.
    let (after, refused) = run(&numbers, state, |ledger| {
        ledger.take(Charge::Failure, true, now, || 0)
    });
    let gives = refill / 20 * u32::try_from(ticks).unwrap();
    let fault = match state.fault {
        FaultAge::Young(age) if age + ticks >= FREE_TICKS => FaultAge::Old,
        FaultAge::Young(age) => FaultAge::Young(age + ticks),
        other => other,
    };
    assert_eq!(refused, None);
    came_in(&numbers, state, after, gives, fault);
    assert_eq!(after.tick, now);
}

fn came_in(
    numbers: &BudgetNumbers,
    before: LedgerState,
    after: LedgerState,
    gives: u32,
    fault: FaultAge,
) {
    let level = (numbers.level(before) + gives).min(numbers.capacity);
    let is_full = level == numbers.capacity;
    let expected = (level, if is_full { FaultAge::None } else { fault });
    let seen = (numbers.level(after), after.fault);
    assert_eq!(
        seen, expected,
        "{numbers:?}, {gives}: {before:?}, {after:?}"
    );
}

/// Each call adds a sixteenth and each hedge takes sixteen, so hedges are at most ten and a sixteenth of the calls.
#[test]
fn every_step_of_a_share_keeps_the_balance() {
    for missing in 0..=160 {
        let step = |step: fn(&Share) -> bool| {
            let share = Share(AtomicU64::new(missing));
            let taken = step(&share);
            (Word::load(&share.0), taken)
        };
        let (after, _) = step(|share| {
            share.add();
            true
        });
        assert_eq!(after, missing.saturating_sub(1));
        let takes = missing <= 160 - 16;
        let after = if takes { missing + 16 } else { missing };
        assert_eq!(step(Share::take), (after, takes));
    }
}

/// Refills that are no whole number of thousandths in a tick lose nothing in the long run: over any time, from any tick, they
/// give what the rate says, less than a thousandth off.
#[test]
fn no_refill_is_lost_by_rounding() {
    for refill in 0..64 {
        let numbers = numbers(1 << 20, 1, refill, false);
        for from in 0..20 {
            let mut state = LedgerState {
                missing: 1 << 20,
                fault: FaultAge::None,
                tick: from,
            };
            for ticks in 1..=64_u32 {
                state = numbers.at(state, from + u64::from(ticks));
                let given = i64::from(numbers.level(state)) * 20;
                let rate = i64::from(ticks * refill);
                assert!(
                    (given - rate).abs() < 20,
                    "{refill} a second, {ticks} ticks after {from}"
                );
            }
        }
    }
}
