//! Tests that each key has one budget, and which keys are forgotten.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::Builder;
use tokio::time::advance;

use super::*;
use crate::budget::{Charge, Request};

static HOSTS: Budgets<String> = Budgets::new(Budget::aws());

/// A budget of ten tokens. A retry takes one, and no tokens come back over time.
const fn small() -> Budget {
    Budget::aws().with_capacity(10).with_retry_cost(1)
}

/// The first retry of a call that began in a fault.
const RETRY: Request = Request {
    charge: Charge::Failure,
    number: 1,
    had_begun: false,
    at_once: false,
};

fn take(budget: &Budget) -> bool {
    budget.of_call().take(RETRY, Stamp::FIRST).is_some()
}

fn retries(budget: &Budget) -> usize {
    (0..1_000).take_while(|_| take(budget)).count()
}

fn level<K: Hash + Eq + Clone>(budgets: &Budgets<K>, key: &K) -> u32 {
    budgets.of(key).of_call().level_at(Stamp::FIRST)
}

fn keys<K: Hash + Eq>(budgets: &Budgets<K>) -> usize {
    let lock = budgets.lock();
    lock.as_ref().map_or(0, HashMap::len)
}

fn knows<K: Hash + Eq>(budgets: &Budgets<K>, key: &K) -> bool {
    let lock = budgets.lock();
    lock.as_ref().is_some_and(|known| known.contains_key(key))
}

#[test]
fn a_drained_host_leaves_the_budget_of_another_alone() {
    let (one, other) = (HOSTS.of("one"), HOSTS.of("other"));
    assert_eq!(retries(&one), 35);
    assert!(HOSTS.of("one").level() < 500.0);
    assert_eq!(other.level().to_string(), "500");
    assert!(Arc::ptr_eq(&other, &HOSTS.of("other")));
}

#[test]
fn a_hundred_thousand_keys_take_the_room_of_the_most_allowed() {
    let budgets: Budgets<u32> = Budgets::new(Budget::new()).with_max_keys(100);
    for key in 0..100_000 {
        let _ = budgets.of(&key);
    }
    assert_eq!(keys(&budgets), 100);
    assert_eq!(
        format!("{budgets:?}"),
        "Budgets { keys: 100, max_keys: 100, .. }"
    );
}

#[test]
fn full_budgets_are_forgotten_and_drained_ones_are_not() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(10);
    for key in 0..10 {
        let budget = budgets.of(&key);
        if key % 2 == 0 {
            assert_eq!(retries(&budget), 10);
        }
    }
    for key in 100..10_000 {
        let _ = budgets.of(&key);
    }
    for key in [0, 2, 4, 6, 8] {
        assert_eq!(level(&budgets, &key), 0, "{key}");
    }
    assert_eq!(keys(&budgets), 10);
}

#[test]
fn a_drained_key_does_not_come_back_full_after_a_hundred_other_keys() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(128);
    for key in 0..128 {
        let budget = budgets.of(&key);
        if key < 64 {
            assert_eq!(retries(&budget), 10);
        }
    }
    for key in 1_000..1_100 {
        let _ = budgets.of(&key);
    }
    for key in 0..64 {
        assert_eq!(level(&budgets, &key), 0, "{key}");
    }
}

#[test]
fn a_flood_of_failing_keys_does_not_reset_a_drained_budget_or_make_tokens() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(8);
    assert_eq!(retries(&budgets.of(&0)), 10);
    // Each new key fails until its budget is drained, as the keys of an attacker would.
    let granted: usize = (1..1_000).map(|key| retries(&budgets.of(&key))).sum();
    assert_eq!(granted, 7 * 10, "the tokens of seven other full budgets");
    assert_eq!(level(&budgets, &0), 0);
}

/// Its budget may be full: a call with one attempt takes nothing from it.
#[test]
fn a_key_in_a_pause_is_not_forgotten_while_there_are_others() {
    let budgets: Budgets<u32> = Budgets::new(small().with_pause()).with_max_keys(3);
    let end = Stamp::now().plus(Duration::from_secs(60));
    budgets.of(&0).of_call().pause_until(end);
    for key in 1..100 {
        let _ = budgets.of(&key);
    }
    assert!(knows(&budgets, &0));
}

#[test]
fn a_budget_that_somebody_holds_is_forgotten_last() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(3);
    let held = [0, 2].map(|key| budgets.of(&key));
    assert_eq!(retries(&budgets.of(&1)), 10);
    let _ = budgets.of(&3);
    let known = [0, 1, 2].map(|key| knows(&budgets, &key));
    assert_eq!(known, [true, false, true]);
    // All are held, so the fullest is forgotten.
    let _last = budgets.of(&3);
    assert_eq!(retries(&held[0]), 10);
    let _ = budgets.of(&4);
    let known = [0, 2, 3].map(|key| knows(&budgets, &key));
    assert_eq!(known, [true, false, true]);
}

/// 200 keys that are drained one after the other cannot reset the first 100, which were forgotten meanwhile.
#[test]
fn a_forgotten_key_comes_back_with_what_it_had() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(100);
    for key in 0..100 {
        let budget = budgets.of(&key);
        assert!((0..7).all(|_| take(&budget)));
    }
    for key in 100..200 {
        assert_eq!(level(&budgets, &key), 3_000);
    }
    for key in 0..100 {
        assert_eq!(level(&budgets, &key), 3_000, "{key}");
    }
}

#[test]
fn a_key_that_takes_the_place_of_another_has_no_more_tokens_than_that_had() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(2);
    for (key, taken) in [(0, 10), (1, 4)] {
        let budget = budgets.of(&key);
        for _ in 0..taken {
            assert!(take(&budget));
        }
    }
    assert_eq!(level(&budgets, &2), 6_000);
    assert_eq!(level(&budgets, &0), 0, "the fuller budget is gone");
}

#[test]
fn a_ratio_starts_with_one_retry_also_in_the_place_of_a_full_one() {
    let budgets: Budgets<u32> = Budgets::new(Budget::ratio(1.0)).with_max_keys(1);
    let budget = budgets.of(&0);
    for _ in 0..100 {
        budget.of_call().succeed(None, Stamp::now);
    }
    assert_eq!(level(&budgets, &0), 10_000);
    assert_eq!(level(&budgets, &1), 1_000);
}

#[test]
fn a_budget_whose_key_was_forgotten_stays_usable() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(1);
    let held = budgets.of(&0);
    assert_eq!(retries(&budgets.of(&1)), 10);
    assert_eq!(retries(&held), 10);
}

/// A key that counts how often it was copied.
#[derive(PartialEq, Eq, Hash)]
struct Copied(u32);

static COPIES: AtomicU32 = AtomicU32::new(0);

impl Clone for Copied {
    fn clone(&self) -> Self {
        COPIES.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

#[test]
fn a_key_that_is_known_is_not_copied() {
    let budgets = Budgets::default();
    for _ in 0..100 {
        let _ = budgets.of(&Copied(1));
    }
    assert_eq!(COPIES.load(Ordering::Relaxed), 1);
}

/// A key whose hash panics once in a while.
#[derive(Clone, PartialEq, Eq)]
struct Bad(u32);

impl Hash for Bad {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(self.0 < 100, "out of luck");
        self.0.hash(state);
    }
}

#[test]
fn a_key_whose_hash_panics_leaves_the_others_usable() {
    let budgets: Budgets<Bad> = Budgets::new(small()).with_max_keys(4);
    assert_eq!(retries(&budgets.of(&Bad(1))), 10);
    for _ in 0..3 {
        thread::scope(|scope| {
            let panics = scope.spawn(|| budgets.of(&Bad(100)));
            panics.join().unwrap_err();
        });
    }
    assert_eq!(level(&budgets, &Bad(1)), 0);
    assert_eq!(level(&budgets, &Bad(2)), 10_000);
}

#[test]
fn threads_that_ask_for_the_same_new_keys_get_the_same_budgets() {
    let budgets: Budgets<u32> = Budgets::new(small()).with_max_keys(1_000);
    thread::scope(|scope| {
        let ask = || (0..500).map(|key| budgets.of(&key)).collect::<Vec<_>>();
        let other = scope.spawn(ask);
        for (mine, theirs) in ask().iter().zip(other.join().unwrap()) {
            assert!(Arc::ptr_eq(mine, &theirs));
        }
    });
    assert_eq!(keys(&budgets), 500);
}

#[test]
fn a_set_for_no_key_keeps_one() {
    let budgets = Budgets::default().with_max_keys(0);
    let first = budgets.of(&1);
    assert!(Arc::ptr_eq(&first, &budgets.of(&1)));
    assert_eq!(keys(&budgets), 1);
}

#[derive(Debug, Clone)]
enum Step {
    /// A call of a key asks for a retry.
    Ask(u8),
    Succeed(u8),
    /// A call of a key begins, and holds its budget.
    Begin(u8),
    /// The call that began last asks for a retry.
    AskHeld,
    /// The call that began last ends.
    End,
    /// Milliseconds.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0_u8..20).prop_map(Step::Ask),
        3 => (0_u8..20).prop_map(Step::Succeed),
        2 => (0_u8..20).prop_map(Step::Begin),
        2 => Just(Step::AskHeld),
        2 => Just(Step::End),
        1 => (0_u64..5_000).prop_map(Step::Wait),
    ]
}

fn kinds() -> impl Strategy<Value = Budget> {
    let small = |(capacity, refill)| {
        small()
            .with_capacity(capacity)
            .with_refill(f64::from(refill))
    };
    prop_oneof![
        (1_u32..8, 0_u32..4).prop_map(small),
        (0_u32..=10).prop_map(|tenths| Budget::ratio(f64::from(tenths) / 10.0)),
        (2_u32..20).prop_map(|capacity| Budget::new().with_capacity(capacity)),
    ]
}

/// The budget of a key, which takes no tokens from nowhere: at the bound, a new key has at most those of the key that it
/// replaces. So all budgets together never grow by asking for keys.
fn ask_for(budgets: &Budgets<u8>, key: u8) -> Result<Arc<Budget>, TestCaseError> {
    let total = || {
        let lock = budgets.lock();
        let known = lock.iter().flat_map(HashMap::values);
        let levels = known.map(|budget| budget.of_call().level_at(Stamp::now()));
        levels.fold((0, 0), |(keys, sum), level| (keys + 1, sum + level))
    };
    let ((before, tokens), known) = (total(), knows(budgets, &key));
    let budget = budgets.of(&key);
    let (after, left) = total();
    if known || before == budgets.max_keys {
        prop_assert_eq!(after, before);
        prop_assert!(left <= tokens, "{} above {}", left, tokens);
    } else {
        prop_assert_eq!(after, before + 1);
        prop_assert_eq!(left - tokens, budgets.numbers.numbers.start);
    }
    Ok(budget)
}

async fn run(budgets: &Budgets<u8>, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut held = Vec::new();
    for step in steps {
        match step {
            Step::Ask(key) => {
                let budget = ask_for(budgets, key)?;
                budget.of_call().take(RETRY, Stamp::now());
            }
            Step::Succeed(key) => ask_for(budgets, key)?.of_call().succeed(None, Stamp::now),
            Step::Begin(key) => held.push(ask_for(budgets, key)?),
            Step::AskHeld => {
                let last = held.last();
                last.and_then(|budget| budget.of_call().take(RETRY, Stamp::now()));
            }
            Step::End => drop(held.pop()),
            Step::Wait(millis) => advance(Duration::from_millis(millis)).await,
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn asking_for_other_keys_never_makes_tokens(
        budget in kinds(),
        max_keys in 1_usize..8,
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let budgets = Budgets::new(budget).with_max_keys(max_keys);
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(run(&budgets, steps))?;
    }
}
