//! Tests the budget at its edges, and with real threads. `small.rs` has every step of small budgets.

mod small;

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;

use super::numbers::{BudgetConfig, FREE_RETRIES};
use super::{Budget, Charge, Request, drive};
use crate::clock::Stamp;

/// This many milliseconds after the first instant.
fn at(millis: u64) -> Stamp {
    Stamp::FIRST.plus(Duration::from_millis(millis))
}

/// The permit of one retry. It gives the price back if it is dropped before the retry begins, as a call does.
struct Permit<'b> {
    budget: &'b Budget,
    charge: Option<Charge>,
}

impl Permit<'_> {
    fn begin(mut self) {
        self.charge = None;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some(charge) = self.charge {
            self.budget.of_call().give_back(charge);
        }
    }
}

impl Budget {
    fn fresh(&self) -> Self {
        Self {
            cell: self.of_call().fresh(),
            numbers: self.numbers,
        }
    }

    /// Asks for a retry of a call that began in the fault. Times are in milliseconds.
    fn ask(&self, charge: Charge, first: bool, now: u64) -> Option<Permit<'_>> {
        let number = if first { 1 } else { 2 };
        self.ask_of(charge, number, false, now)
    }

    /// Asks for the first retry of a call that had begun when the fault began.
    fn ask_of_first_wave(&self, charge: Charge, now: u64) -> Option<Permit<'_>> {
        self.ask_of(charge, 1, true, now)
    }

    fn ask_of(&self, charge: Charge, number: u32, had_begun: bool, now: u64) -> Option<Permit<'_>> {
        let request = Request {
            charge,
            number,
            had_begun,
            at_once: false,
        };
        let charge = self.of_call().take(request, at(now))?;
        Some(Permit {
            budget: self,
            charge: Some(charge),
        })
    }

    /// Records a success at this time, in milliseconds.
    fn succeed_at(&self, last_retry: Option<Charge>, now: u64) {
        self.of_call().succeed(last_retry, || at(now));
    }
}

/// A budget of 500 tokens, of which 5 come back each second. No call retries for free.
const fn paid() -> Budget {
    Budget::aws()
        .with_retry_cost(2)
        .with_reward(0.2)
        .with_refill(5.0)
}

/// The level in thousandths of a token at the time `now`, in milliseconds.
fn level(budget: &Budget, now: u64) -> u32 {
    budget.of_call().level_at(at(now))
}

fn charge() -> impl Strategy<Value = Charge> {
    prop_oneof![
        Just(Charge::Failure),
        Just(Charge::Throttled),
        Just(Charge::Timeout)
    ]
}

/// What the default budget takes, in thousandths of a token.
fn price(charge: Charge) -> u32 {
    match charge {
        Charge::Free => 0,
        Charge::Failure => 2_000,
        Charge::Throttled => 4_000,
        Charge::Timeout => 6_000,
    }
}

proptest! {
    #[test]
    fn permits_that_are_dropped_conserve_the_balance(
        charges in prop::collection::vec(charge(), 0..100),
    ) {
        let budget = Budget::new();
        let permits: Vec<_> = charges
            .iter()
            .map(|charge| budget.ask_of_first_wave(*charge, 0).unwrap())
            .collect();
        let taken: u32 = permits.iter().map(|permit| price(permit.charge.unwrap())).sum();
        prop_assert_eq!(level(&budget, 0), 200_000 - taken);
        drop(permits);
        prop_assert_eq!(level(&budget, 0), 200_000);
    }
}

/// Asks for a retry and begins it at once.
fn begin(budget: &Budget, charge: Charge, first: bool, now: u64) -> Option<()> {
    budget.ask(charge, first, now).map(Permit::begin)
}

fn drained(budget: Budget) -> Budget {
    drain(&budget, 0);
    budget
}

fn drain(budget: &Budget, now: u64) {
    let mut left = 1_000_000;
    while begin(budget, Charge::Failure, false, now).is_some() {
        left -= 1;
        assert!(left > 0, "the budget never ends");
    }
}

fn retries_allowed(budget: &Budget, calls: u32) -> u32 {
    let failing = |_: &u32| begin(budget, Charge::Failure, true, 0).is_some();
    u32::try_from((0..calls).filter(failing).count()).unwrap()
}

/// Each call begins after the fault did, and asks once. Times are in milliseconds.
fn retries_of_later_calls(budget: &Budget, charge: Charge, from: u64) -> usize {
    let ask = |call: &u64| begin(budget, charge, true, from + 100 * call).is_some();
    (0..1_000).take_while(ask).count()
}

#[test]
fn calls_that_had_begun_when_a_fault_began_have_five_free_retries_once_a_third_of_the_tokens_is_gone()
 {
    let budget = Budget::new().with_refill(0.0);
    for _ in 0..12 {
        let permit = budget.ask_of_first_wave(Charge::Timeout, 1_000).unwrap();
        assert_eq!(permit.charge, Some(Charge::Timeout));
        permit.begin();
    }
    let ask = |number, had_begun, now: u64| {
        let permit = budget.ask_of(Charge::Timeout, number, had_begun, now);
        permit.map(Permit::begin).is_some()
    };
    for now in [1_000, 1_500] {
        assert!((0..1_000).all(|n| ask(1 + n % FREE_RETRIES, true, now)));
        assert_eq!(level(&budget, now), 128_000);
    }
    // A call that began later pays, and so does a sixth retry.
    assert!(ask(1, false, 1_500));
    assert_eq!(level(&budget, 1_500), 122_000);
    assert!(ask(FREE_RETRIES + 1, true, 3_000));
    assert_eq!(level(&budget, 3_000), 116_000);
    assert!((0..19).all(|_| ask(1, false, 3_000)));
    assert!(!ask(1, false, 3_000));
    assert!(ask(1, true, 1_000_000));
}

#[test]
fn a_fault_ends_with_a_success_when_all_tokens_are_back_and_not_before() {
    let budget = Budget::new();
    let has_fault = || drive::has_fault(&budget);
    // 200 tokens, and 2 a second.
    assert_eq!(retries_of_later_calls(&budget, Charge::Failure, 0), 111);
    // Silence brings back all tokens, but ends no fault.
    let later = 200_000;
    assert_eq!(level(&budget, later), 200_000);
    let free = budget.ask_of_first_wave(Charge::Failure, later).unwrap();
    assert_eq!(free.charge, Some(Charge::Free));
    // A success ends none while a token is missing.
    begin(&budget, Charge::Failure, true, later).unwrap();
    budget.succeed_at(None, later);
    assert!(has_fault());
    budget.succeed_at(Some(Charge::Failure), later);
    assert!(!has_fault());
    // The next retry pays, and begins a fault that any success ends.
    let paid = budget.ask_of_first_wave(Charge::Failure, later).unwrap();
    assert_eq!(paid.charge, Some(Charge::Failure));
    paid.begin();
    assert!(has_fault());
    budget.succeed_at(None, later);
    assert!(!has_fault());
    assert_eq!(level(&budget, later), 198_200);
}

#[test]
fn a_retry_after_a_conflict_begins_no_fault() {
    let budget = Budget::new();
    begin(&budget, Charge::Free, true, 0).unwrap();
    assert!(!drive::has_fault(&budget));
}

/// A process with one failing call in ten seconds never uses half of its tokens.
#[test]
fn a_process_of_few_calls_pays_for_its_retries_and_sees_no_fault() {
    let budget = Budget::new();
    for call in 0..100 {
        let now = call * 10_000;
        for retry in 1..3 {
            let mut permit = budget.ask_of(Charge::Timeout, retry, true, now).unwrap();
            assert_eq!(permit.charge.take(), Some(Charge::Timeout));
        }
    }
}

#[test]
fn only_the_default_budget_has_a_free_first_wave() {
    for budget in [Budget::aws(), Budget::ratio(1.0), paid()] {
        drain(&budget, 0);
        let late = budget.ask_of(Charge::Failure, 2, true, 0);
        assert!(late.is_none(), "{budget:?}");
    }
}

#[test]
fn a_fresh_budget_starts_as_its_model_started_and_counts_time_from_then() {
    let model = drained(paid());
    assert_eq!(model.fresh().level().to_string(), "500");
    assert_eq!(model.fresh().capacity(), 500);
    let model = Budget::ratio(0.1).with_refill(1.0);
    let fresh = model.fresh();
    assert!((1.0..1.5).contains(&fresh.level()), "{fresh:?}");
    assert_eq!(format!("{:?}", Budget::aws().fresh()), SHOWN);
}

const SHOWN: &str = "Budget { level: 500.0, capacity: 500, retries_when_full: 35 retries }";

fn words(budget: &Budget) -> String {
    budget.of_call().retries_when_full()
}

#[test]
fn a_full_budget_says_how_many_retries_it_allows() {
    for (budget, expected) in [
        (
            Budget::new(),
            "100 retries after failures, 33 after timeouts",
        ),
        (Budget::aws(), "35 retries"),
        (Budget::ratio(0.1), "10 retries"),
        (
            Budget::new().with_capacity(14),
            "7 retries after failures, 2 after timeouts",
        ),
        (
            Budget::new().with_capacity(2),
            "1 retry after failures, none after timeouts",
        ),
        (Budget::new().with_capacity(1), "no retries"),
        (
            Budget::new().with_retry_cost(0),
            "any number of retries after failures, 33 after timeouts",
        ),
        (
            Budget::new().with_timeout_cost(0),
            "100 retries after failures, any number after timeouts",
        ),
        (
            Budget::new().with_retry_cost(0).with_timeout_cost(0),
            "any number of retries",
        ),
    ] {
        assert_eq!(words(&budget), expected);
    }
}

#[test]
fn the_words_are_of_a_full_budget_also_where_it_is_empty() {
    let budget = Budget::ratio(0.0);
    assert_eq!(words(&budget), "10 retries");
}

#[test]
fn a_new_budget_counts_no_time_from_before_the_process() {
    for budget in [
        Budget::ratio(0.1).with_refill(1.0),
        Budget::ratio(0.1).with_capacity(1_000).with_refill(0.001),
    ] {
        assert_eq!(level(&budget, 0), 1_000, "{budget:?}");
    }
}

#[test]
fn a_budget_counts_time_from_its_first_use() {
    let hour = 3_600_000;
    let late = || Budget::ratio(0.1).with_refill(1.0);
    assert_eq!(level(&late(), hour), 1_000);
    // A call gives 0.1, and a retry takes 1.
    let asked = late();
    begin(&asked, Charge::Failure, true, hour).unwrap();
    assert_eq!(level(&asked, hour + 2_000), 2_100);
    let succeeded = late();
    succeeded.succeed_at(None, hour);
    assert_eq!(level(&succeeded, hour + 2_000), 3_100);
}

#[test]
fn a_ratio_allows_its_share_of_the_calls_give_or_take_one() {
    for percent in 1..=100_u32 {
        let ratio = f64::from(percent) / 100.0;
        let expected = percent * 100;
        // Every call fails and asks for a retry.
        let asked = retries_allowed(&Budget::ratio(ratio), 10_000);
        assert!(
            asked.abs_diff(expected) <= 1,
            "{percent} %: {asked} of {expected}"
        );
        // Ten thousand calls succeed. Then calls ask for retries until the budget refuses.
        let saved = drained(Budget::ratio(ratio).with_capacity(20_000));
        for _ in 0..10_000 {
            saved.of_call().succeed(None, Stamp::now);
        }
        let asks = (0..20_000).map_while(|_| begin(&saved, Charge::Failure, false, 0));
        let spent = u32::try_from(asks.count()).unwrap();
        assert!(
            spent.abs_diff(expected) <= 1,
            "{percent} %: {spent} of {expected} saved"
        );
    }
}

#[test]
fn a_call_gives_a_ratio_its_share_only_once() {
    let budget = drained(Budget::ratio(0.5));
    // The budget refuses the first retry, but that call has given its share. With the share of the next call, it is
    // enough for one retry.
    assert!(budget.ask(Charge::Failure, true, 0).is_none());
    begin(&budget, Charge::Failure, true, 0).unwrap();
    assert_eq!(level(&budget, 0), 0);
    assert!(budget.ask(Charge::Failure, false, 0).is_none());
    budget.of_call().succeed(Some(Charge::Failure), Stamp::now);
    assert_eq!(level(&budget, 0), 0);
}

#[test]
fn a_fresh_budget_allows_its_first_retry() {
    assert!(Budget::new().ask(Charge::Failure, true, 0).is_some());
    assert!(Budget::ratio(0.01).ask(Charge::Failure, true, 0).is_some());
}

#[test]
fn a_budget_starts_full_or_with_one_token_whatever_its_capacity() {
    for capacity in [2, 20, 600] {
        let full = Budget::new().with_capacity(5).with_capacity(capacity);
        assert_eq!(level(&full, 0), capacity * 1_000);
        let ratio = Budget::ratio(0.1).with_capacity(capacity);
        assert_eq!(level(&ratio, 0), 1_000);
    }
}

#[test]
fn each_budget_has_an_id_of_its_own() {
    let budget = Budget::new();
    let id = budget.of_call().id();
    assert_eq!(budget.of_call().id(), id);
    assert_ne!(budget.fresh().of_call().id(), id);
}

#[test]
fn no_refill_reward_or_ratio_is_rounded_to_nothing() {
    let budget = drained(paid().with_refill(0.0001).with_reward(0.0001));
    let before = level(&budget, 0);
    assert_eq!(level(&budget, 60_000) - before, 60);
    budget.succeed_at(None, 0);
    assert_eq!(level(&budget, 0) - before, 1);
    let ratio = drained(Budget::ratio(f64::MIN_POSITIVE));
    ratio.succeed_at(None, 0);
    assert_eq!(level(&ratio, 0), 1);
    assert_eq!(level(&drained(paid().with_refill(0.0)), 60_000), before);
}

#[test]
fn one_failing_call_a_minute_is_retried_every_time() {
    let budget = Budget::ratio(0.1).with_refill(0.02);
    for minute in 1..100 {
        let retry = budget.ask(Charge::Failure, true, minute * 60_000);
        assert!(retry.map(Permit::begin).is_some(), "minute {minute}");
    }
}

#[test]
fn half_a_year_of_idling_is_accounted_for_in_one_step() {
    let budget = paid().with_refill(0.014).with_capacity(100_000);
    let half_a_year = 182 * 24 * 3_600_000_u64;
    let drained = drained(budget);
    // Half a year gives 220,147 tokens, more than the capacity.
    assert_eq!(level(&drained, half_a_year), 100_000_000);
    assert_eq!(level(&drained, half_a_year / 10), 1_572_480 * 14);
}

#[test]
fn instants_near_the_end_of_their_range_give_what_they_should() {
    let budget = drained(paid());
    let year = 365 * 24 * 3_600_000;
    let end = 440 * year;
    drop(budget.ask(Charge::Throttled, false, end));
    assert_eq!(level(&budget, end), 500_000);
    drain(&budget, end);
    let left = level(&budget, end);
    assert_eq!(level(&budget, end + 1_000), left + 5_000);
    // Beyond the end, time stands still.
    let last = level(&budget, u64::MAX - 1_000);
    assert_eq!(level(&budget, u64::MAX), last);
}

#[test]
fn a_late_reading_of_the_clock_changes_nothing() {
    let budget = drained(paid());
    drop(budget.ask(Charge::Throttled, false, 1_000));
    assert_eq!(level(&budget, 1_000), 5_000);
    for late in [400, 0] {
        drop(budget.ask(Charge::Throttled, false, late));
        assert_eq!(level(&budget, 1_000), 5_000);
    }
    assert_eq!(level(&budget, 2_000), 10_000);
}

#[test]
fn a_pause_is_over_at_the_instant_of_its_end() {
    let budget = Budget::new().with_pause();
    budget.of_call().pause_until(at(1_000));
    assert_eq!(budget.of_call().paused_until(at(999)), Some(at(1_000)));
    assert_eq!(budget.of_call().paused_until(at(1_000)), None);
}

#[test]
fn a_clock_that_was_set_back_is_counted_from_where_it_is() {
    let budget = drained(paid());
    let day = 24 * 3_600_000;
    drop(budget.ask(Charge::Failure, false, day));
    drain(&budget, day);
    let before = level(&budget, day);
    drop(budget.ask(Charge::Throttled, false, 5_000));
    assert_eq!(level(&budget, 5_000), before);
    assert_eq!(level(&budget, 6_000), before + 5_000);
}

#[test]
fn a_retry_dearer_than_the_capacity_never_happens() {
    let budget = Budget::new().with_capacity(5);
    assert!(budget.ask(Charge::Timeout, true, 1 << 40).is_none());
    assert!(budget.ask(Charge::Failure, true, 1 << 40).is_some());
    let budget = budget.fresh().with_timeout_cost(5);
    assert!(budget.ask(Charge::Timeout, true, 0).is_some());
    let budget = Budget::new().with_throttled_cost(501);
    assert!(budget.ask(Charge::Throttled, true, 0).is_none());
}

#[test]
fn a_number_out_of_range_counts_as_the_nearer_end_of_the_range() {
    let ratio = |ratio: f64| Budget::ratio(ratio).numbers;
    assert_eq!(ratio(10.0), ratio(1.0));
    assert_eq!(ratio(-0.1), ratio(0.0));
    assert_eq!(ratio(f64::NAN), ratio(0.0));
    let full = Budget::new;
    let most = f64::from(BudgetConfig::MOST);
    for (far, near) in [
        (-0.1, 0.0),
        (f64::NAN, 0.0),
        (1e9, most),
        (f64::INFINITY, most),
    ] {
        let [far_refill, near_refill] =
            [far, near].map(|number| full().with_refill(number).numbers);
        assert_eq!(far_refill, near_refill, "{far}");
        let [far_reward, near_reward] =
            [far, near].map(|number| full().with_reward(number).numbers);
        assert_eq!(far_reward, near_reward, "{far}");
    }
    assert_eq!(full().with_capacity(0).capacity(), 1);
    assert_eq!(
        full().with_capacity(u32::MAX).capacity(),
        BudgetConfig::MOST
    );
    let dear = full().with_retry_cost(u32::MAX).numbers;
    assert_eq!(dear.failure, BudgetConfig::MOST * 1_000);
}

#[test]
fn the_largest_numbers_saturate() {
    let budget = Budget::new()
        .with_capacity(268_435)
        .with_reward(268_435.0)
        .with_retry_cost(268_435)
        .with_refill(268_435.0);
    assert_eq!(level(&budget, 0), 268_435_000);
    begin(&budget, Charge::Failure, true, 0).unwrap();
    budget.of_call().succeed(Some(Charge::Failure), Stamp::now);
    budget.of_call().succeed(None, Stamp::now);
    assert_eq!(level(&budget, u64::MAX), 268_435_000);
    assert_eq!(BudgetConfig::tokens(268_435), 268_435_000);
}

#[test]
fn threads_neither_overdraw_nor_lose_a_deposit() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 20_000;
    let budget = Budget::new()
        .with_capacity(268_435)
        .with_retry_cost(1)
        .with_reward(1.0)
        .with_refill(0.0);
    let begun = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let permit = budget.ask(Charge::Failure, true, 0);
                    if round % 3 == 0 {
                        drop(permit);
                    } else if let Some(permit) = permit {
                        permit.begin();
                        begun.fetch_add(1, Ordering::Relaxed);
                    }
                    if round % 5 == 0 {
                        budget.of_call().succeed(None, Stamp::now);
                        // The budget is not full after the first round, so it takes the whole deposit.
                        begun.fetch_sub(u32::from(round > 0), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // The first deposit of each thread may find a full budget. All other deposits come after a retry.
    let missing = 268_435_000 - level(&budget, 0);
    let outstanding = begun.into_inner() * 1000;
    assert!(
        missing.abs_diff(outstanding) <= THREADS * 1000,
        "{missing} {outstanding}"
    );
}
