//! Random histories, against a model that never forgets a key.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use tokio::runtime::Builder;
use tokio::time::advance;

use super::super::*;
use super::RETRY;
use crate::budget::numbers::TICK_MILLIS;
use crate::budget::of_call::tick_now;
use crate::clock::Stamp;

/// The numbers of a budget, in thousandths of a token. All retries have the same price.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    start: u64,
    capacity: u64,
    price: u64,
    reward: u64,
    /// Whether a call gives the reward when it asks for a retry, too.
    per_call: bool,
    /// Tokens per second equal thousandths per millisecond.
    refill: u64,
}

/// The model: one level for each key, with the time at which it was counted.
#[derive(Debug, Clone, Copy)]
struct Plain {
    level: u64,
    at: u64,
}

impl Plain {
    fn add(&mut self, amount: u64, numbers: &Numbers) {
        self.level = (self.level + amount).min(numbers.capacity);
    }

    fn refill(&mut self, now: u64, numbers: &Numbers) {
        self.add((now - self.at) * numbers.refill, numbers);
        self.at = now;
    }
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
        1 => (0_u64..100).prop_map(|ticks| Step::Wait(ticks * TICK_MILLIS)),
    ]
}

fn budgets() -> impl Strategy<Value = (Budget, Numbers)> {
    let full = (1_u32..8, 0_u32..4).prop_map(|(capacity, refill)| {
        let budget = Budget::aws()
            .with_capacity(capacity)
            .with_retry_cost(1)
            .with_reward(0.2)
            .with_refill(f64::from(refill));
        let capacity = u64::from(capacity) * 1_000;
        let numbers = Numbers {
            start: capacity,
            capacity,
            price: 1_000,
            reward: 200,
            per_call: false,
            refill: refill.into(),
        };
        (budget, numbers)
    });
    let ratio = (0_u32..=10).prop_map(|tenths| {
        let numbers = Numbers {
            start: 1_000,
            capacity: 10_000,
            price: 1_000,
            reward: u64::from(tenths) * 100,
            per_call: true,
            refill: 0,
        };
        (Budget::ratio(f64::from(tenths) / 10.0), numbers)
    });
    prop_oneof![3 => full, 1 => ratio]
}

/// The number of known keys, and the sum of their levels.
fn total(budgets: &Budgets<u8>, now: u64) -> (usize, u64) {
    let lock = budgets.lock();
    let known = lock.iter().flat_map(|known| &known.budgets);
    let levels = known.map(|(_, budget)| u64::from(budget.of_call().ledger().level(now)));
    (levels.clone().count(), levels.sum())
}

fn same_or_less(
    budget: &Budget,
    model: &HashMap<u8, Plain>,
    key: u8,
    exact: bool,
) -> Result<(), TestCaseError> {
    let (level, plain) = (
        budget.of_call().ledger().level(tick_now()),
        model[&key].level,
    );
    prop_assert!(u64::from(level) <= plain, "{key}: {level} above {plain}");
    if exact {
        prop_assert_eq!(u64::from(level), plain);
    }
    Ok(())
}

async fn run(
    budgets: &Budgets<u8>,
    max_keys: usize,
    numbers: &Numbers,
    steps: Vec<Step>,
) -> Result<(), TestCaseError> {
    let mut model: HashMap<u8, Plain> = HashMap::new();
    let mut held: Vec<(u8, Arc<Budget>)> = Vec::new();
    let mut now = 0;
    for step in steps {
        let (key, budget) = match &step {
            Step::Ask(key) | Step::Succeed(key) | Step::Begin(key) => {
                let ticks = tick_now();
                let (keys, before) = total(budgets, ticks);
                let budget = budgets.of(key);
                let (_, after) = total(budgets, ticks);
                prop_assert!(keys < max_keys || after <= before, "{after} above {before}");
                (*key, budget)
            }
            Step::AskHeld => match held.last() {
                Some((key, budget)) => (*key, Arc::clone(budget)),
                None => continue,
            },
            Step::End => {
                held.pop();
                continue;
            }
            Step::Wait(millis) => {
                advance(Duration::from_millis(*millis)).await;
                now += millis;
                continue;
            }
        };
        let exact = model.len() <= max_keys;
        let plain = model.entry(key).or_insert(Plain {
            level: numbers.start,
            at: now,
        });
        plain.refill(now, numbers);
        match step {
            Step::Ask(_) | Step::AskHeld => {
                if numbers.per_call {
                    plain.add(numbers.reward, numbers);
                }
                let granted = budget.of_call().take(RETRY, Stamp::now()).is_some();
                prop_assert!(!granted || plain.level >= numbers.price, "{} granted", key);
                if granted {
                    plain.level -= numbers.price;
                }
            }
            Step::Succeed(_) => {
                budget.of_call().succeed(None, Stamp::now);
                plain.add(numbers.reward, numbers);
            }
            // Among the keys there is always one that no one holds.
            Step::Begin(_) if held.len() + 1 < max_keys => held.push((key, Arc::clone(&budget))),
            Step::Begin(_) | Step::End | Step::Wait(_) => {}
        }
        let exact = exact && model.len() <= max_keys;
        same_or_less(&budget, &model, key, exact)?;
        prop_assert!(total(budgets, 0).0 <= max_keys);
    }
    Ok(())
}

proptest! {
    /// No key ever has more tokens than if no key were ever forgotten. While no key needs to be forgotten, it has exactly
    /// as many. At the bound, a new key does not add to the tokens of all keys.
    #[test]
    fn asking_for_other_keys_never_gives_a_key_tokens(
        (budget, numbers) in budgets(),
        max_keys in 1_usize..8,
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let budgets = Budgets::new(budget).with_max_keys(max_keys);
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(run(&budgets, max_keys, &numbers, steps))?;
    }
}
