//! The budget against a plain single-threaded model, at its edges, and under real threads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use proptest::prelude::*;

use super::rule::{Rule, State};
use super::{Budget, Charge};

/// The price of one retry, which goes back when it is dropped: what a call does.
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
            self.budget.give_back(charge);
        }
    }
}

impl Budget {
    fn ask(&self, charge: Charge, first: bool, now: u64) -> Option<Permit<'_>> {
        self.take_at(charge, first, now).then(|| Permit {
            budget: self,
            charge: Some(charge),
        })
    }
}

/// The rule of `Budget::new` in whole thousandths, with none of the packing.
struct Plain {
    level: u64,
    capacity: u64,
    floor_per_tick: u64,
    tick: u64,
}

impl Plain {
    fn refill(&mut self, now: u64) {
        if self.floor_per_tick > 0 && now > self.tick {
            self.add((now - self.tick) * self.floor_per_tick);
            self.tick = now;
        }
    }

    fn add(&mut self, amount: u64) {
        self.level = (self.level + amount).min(self.capacity);
    }

    fn ask(&mut self, price: u64, now: u64) -> bool {
        self.refill(now);
        let granted = self.level >= price;
        if granted {
            self.level -= price;
        }
        granted
    }
}

/// The level in thousandths of a token at the time `now`.
fn level(budget: &Budget, now: u64) -> u32 {
    budget.ledger.level(now)
}

#[derive(Debug, Clone)]
enum Step {
    Ask { throttled: bool },
    DropPermit,
    BeginRetry,
    RetrySucceeds,
    FirstAttemptSucceeds,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<bool>().prop_map(|throttled| Step::Ask { throttled }),
        2 => Just(Step::DropPermit),
        3 => Just(Step::BeginRetry),
        1 => Just(Step::RetrySucceeds),
        2 => Just(Step::FirstAttemptSucceeds),
        1 => (0_u64..5_000).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn every_history_agrees_with_the_plain_model(
        capacity in 1_u32..60,
        floor in 0_u32..4,
        start in prop_oneof![Just(0_u64), Just(u64::from(u32::MAX)), Just(1 << 35), Just(1 << 40)],
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let budget = Budget::new().capacity(capacity).floor(f64::from(floor));
        let mut plain = Plain {
            level: u64::from(capacity) * 1000,
            capacity: u64::from(capacity) * 1000,
            // Retries a second of 14,000 thousandths each, in thousandths a millisecond.
            floor_per_tick: u64::from(floor) * 14,
            tick: start,
        };
        let mut now = start;
        let mut waiting: Vec<(Permit<'_>, Charge, u64)> = Vec::new();
        let mut begun: Vec<(Charge, u64)> = Vec::new();
        for step in steps {
            match step {
                Step::Ask { throttled } => {
                    let (charge, price) =
                        if throttled { (Charge::Throttled, 5_000) } else { (Charge::Retry, 14_000) };
                    let permit = budget.ask(charge, true, now);
                    prop_assert_eq!(permit.is_some(), plain.ask(price, now));
                    waiting.extend(permit.map(|permit| (permit, charge, price)));
                }
                Step::DropPermit => {
                    if let Some((permit, _, price)) = waiting.pop() {
                        drop(permit);
                        plain.add(price);
                    }
                }
                Step::BeginRetry => {
                    begun.extend(waiting.pop().map(|(permit, charge, price)| {
                        permit.begin();
                        (charge, price)
                    }));
                }
                Step::RetrySucceeds => {
                    if let Some((charge, price)) = begun.pop() {
                        budget.succeed(Some(charge));
                        plain.add(price);
                    }
                }
                Step::FirstAttemptSucceeds => {
                    budget.succeed(None);
                    plain.add(1_000);
                }
                Step::Wait(ticks) => now += ticks,
            }
            let mut seen = Plain { ..plain };
            seen.refill(now);
            prop_assert_eq!(u64::from(level(&budget, now)), seen.level);
        }
    }

    #[test]
    fn permits_that_are_dropped_conserve_the_balance(
        throttled in prop::collection::vec(any::<bool>(), 0..35),
    ) {
        let budget = Budget::new();
        let permits: Vec<_> = throttled
            .iter()
            .map(|throttled| if *throttled { Charge::Throttled } else { Charge::Retry })
            .map(|charge| budget.ask(charge, true, 0).unwrap())
            .collect();
        let taken: u32 = throttled.iter().map(|throttled| if *throttled { 5 } else { 14 }).sum();
        prop_assert_eq!(level(&budget, 0), 500_000 - taken * 1000);
        drop(permits);
        prop_assert_eq!(level(&budget, 0), 500_000);
    }

    #[test]
    fn packing_loses_nothing(level in 0_u32..1 << 28, tick in 0_u64..1 << 36) {
        let state = State { level, tick };
        prop_assert_eq!(State::unpack(state.pack()), state);
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
    while begin(budget, Charge::Retry, false, now).is_some() {
        left -= 1;
        assert!(left > 0, "the budget never ends");
    }
}

fn retries_allowed(budget: &Budget, calls: u32) -> u32 {
    let failing = |_: &u32| begin(budget, Charge::Retry, true, 0).is_some();
    u32::try_from((0..calls).filter(failing).count()).unwrap()
}

#[test]
fn the_standard_budget_allows_thirty_five_retries_then_one_for_fourteen_successes() {
    static BUDGET: Budget = Budget::new();
    assert_eq!(retries_allowed(&BUDGET, 100), 35);
    assert_eq!(level(&BUDGET, 0), 10_000);
    // The ten that are left pay for two throttled retries, and not for a plain one.
    assert!(BUDGET.ask(Charge::Retry, true, 0).is_none());
    assert!(begin(&BUDGET, Charge::Throttled, true, 0).is_some());
    assert!(begin(&BUDGET, Charge::Throttled, true, 0).is_some());
    assert_eq!(level(&BUDGET, 0), 0);
    for _ in 0..13 {
        BUDGET.succeed(None);
    }
    assert!(BUDGET.ask(Charge::Retry, true, 0).is_none());
    BUDGET.succeed(None);
    begin(&BUDGET, Charge::Retry, true, 0).unwrap();
    assert_eq!(level(&BUDGET, 0), 0);
    // It succeeds, so what it took comes back.
    BUDGET.succeed(Some(Charge::Retry));
    assert_eq!(level(&BUDGET, 0), 14_000);
}

#[test]
fn success_never_fills_above_the_capacity() {
    let budget = Budget::new();
    begin(&budget, Charge::Retry, true, 0).unwrap();
    for _ in 0..10 {
        budget.succeed(None);
    }
    budget.succeed(Some(Charge::Retry));
    assert_eq!(level(&budget, 0), 500_000);
}

#[test]
fn a_ratio_allows_its_share_of_the_calls_give_or_take_one() {
    for percent in 1..=100_u32 {
        let ratio = f64::from(percent) / 100.0;
        let expected = percent * 100;
        // Every call fails and asks.
        let asked = retries_allowed(&Budget::ratio(ratio), 10_000);
        assert!(
            asked.abs_diff(expected) <= 1,
            "{percent} %: {asked} of {expected}"
        );
        // Ten thousand calls succeed, then retries are asked for until none is left.
        let saved = drained(Budget::ratio(ratio).capacity(20_000));
        for _ in 0..10_000 {
            saved.succeed(None);
        }
        let mut spent = 0_u32;
        while begin(&saved, Charge::Retry, false, 0).is_some() {
            spent += 1;
        }
        assert!(
            spent.abs_diff(expected) <= 1,
            "{percent} %: {spent} of {expected} saved"
        );
    }
}

#[test]
fn a_call_gives_a_ratio_its_share_only_once() {
    let budget = drained(Budget::ratio(0.5));
    // First retry refused, but the share is in; the next call's share pays for its own retry.
    assert!(budget.ask(Charge::Retry, true, 0).is_none());
    begin(&budget, Charge::Retry, true, 0).unwrap();
    assert_eq!(level(&budget, 0), 0);
    assert!(budget.ask(Charge::Retry, false, 0).is_none());
    budget.succeed(Some(Charge::Retry));
    assert_eq!(level(&budget, 0), 0);
}

#[test]
fn a_fresh_budget_allows_its_first_retry() {
    assert!(Budget::new().ask(Charge::Retry, true, 0).is_some());
    assert!(Budget::ratio(0.01).ask(Charge::Retry, true, 0).is_some());
}

#[test]
fn a_drained_budget_with_a_floor_recovers_by_time_alone() {
    let budget = drained(Budget::new().floor(1.0));
    assert_eq!(level(&budget, 0), 10_000);
    assert_eq!(level(&budget, 500), 17_000);
    assert_eq!(level(&budget, 60_000), 500_000);
    assert!(budget.ask(Charge::Retry, true, 60_000).is_some());
}

#[test]
fn one_failing_call_a_minute_is_retried_every_time() {
    let budget = Budget::ratio(0.1).floor(0.02);
    for minute in 1..100 {
        let retry = budget.ask(Charge::Retry, true, minute * 60_000);
        assert!(retry.map(Permit::begin).is_some(), "minute {minute}");
    }
}

#[test]
fn a_floor_is_exact_however_often_it_is_looked_at() {
    // 0.3 retries a second are 4.2 thousandths of a token a millisecond: not a whole number.
    let budget = drained(Budget::new().floor(0.3).capacity(10_000));
    let before = level(&budget, 0);
    for now in 1..=10_000 {
        drop(budget.ask(Charge::Retry, false, now));
    }
    assert_eq!(level(&budget, 10_000) - before, 42_000);
}

#[test]
fn a_year_of_idling_is_accounted_for_in_one_step() {
    let budget = Budget::new().floor(0.001).capacity(200_000);
    let year = 365 * 24 * 3_600_000_u64;
    let drained = drained(budget);
    // 31,536 retries of 14 tokens would be above the capacity.
    assert_eq!(level(&drained, year), 200_000_000);
    assert_eq!(level(&drained, year / 10), 10_000 + 3_153_600 * 14);
}

#[test]
fn ticks_near_the_end_of_their_range_neither_wrap_nor_give_too_much() {
    let budget = drained(Budget::new().floor(1.0));
    let end = u64::MAX - 5_000;
    // The first look comes after an idle time far beyond the range of the packed tick.
    drop(budget.ask(Charge::Throttled, false, end));
    assert!((0..=500_000).contains(&level(&budget, end)));
    drain(&budget, end);
    let left = level(&budget, end);
    assert_eq!(level(&budget, end + 1_000), left + 14_000);
    // A clock that wraps all the same gives no more than the time that went by.
    assert!((left..=left + 70_100).contains(&level(&budget, 5)));
}

#[test]
fn a_packed_tick_that_comes_round_counts_on() {
    let round = 1_u64 << 36;
    let budget = drained(Budget::new().floor(1.0));
    for around in [round - 5_000, round, round + 500] {
        drop(budget.ask(Charge::Throttled, false, around));
    }
    assert_eq!(level(&budget, round + 500), 10_000 + 5_500 * 14);
    assert_eq!(level(&budget, round + 1_500), 10_000 + 6_500 * 14);
}

#[test]
fn a_late_reading_of_the_clock_changes_nothing() {
    let budget = drained(Budget::new().floor(1.0));
    drop(budget.ask(Charge::Throttled, false, 1_000));
    assert_eq!(level(&budget, 1_000), 24_000);
    drop(budget.ask(Charge::Throttled, false, 400));
    assert_eq!(level(&budget, 1_000), 24_000);
    assert_eq!(level(&budget, 2_000), 38_000);
}

#[test]
fn a_clock_that_was_set_back_is_counted_from_where_it_is() {
    let budget = drained(Budget::new().floor(1.0));
    let day = 24 * 3_600_000;
    drop(budget.ask(Charge::Retry, false, day));
    drain(&budget, day);
    let before = level(&budget, day);
    drop(budget.ask(Charge::Throttled, false, 5_000));
    assert_eq!(level(&budget, 5_000), before);
    assert_eq!(level(&budget, 6_000), before + 14_000);
}

#[test]
fn a_retry_dearer_than_the_capacity_never_happens() {
    let budget = Budget::new().capacity(10);
    assert!(budget.ask(Charge::Retry, true, 0).is_none());
    assert!(
        Budget::new()
            .capacity(10)
            .retry_cost(1)
            .ask(Charge::Retry, true, 0)
            .is_some()
    );
}

#[test]
#[should_panic(expected = "a ratio is in")]
fn a_ratio_is_not_a_percentage() {
    let _ = Budget::ratio(10.0);
}

#[test]
#[should_panic(expected = "at most 268_435")]
fn a_capacity_that_does_not_fit_the_word_is_refused() {
    let _ = Budget::new().capacity(268_436);
}

#[test]
fn the_largest_numbers_saturate() {
    let budget = Budget::new()
        .capacity(268_435)
        .reward(268_435)
        .retry_cost(268_435)
        .floor(10_000.0);
    assert_eq!(level(&budget, 0), 268_435_000);
    begin(&budget, Charge::Retry, true, 0).unwrap();
    budget.succeed(Some(Charge::Retry));
    budget.succeed(None);
    assert_eq!(level(&budget, u64::MAX), 268_435_000);
    assert_eq!(Rule::tokens(268_435), 268_435_000);
}

#[test]
fn c46_threads_neither_overdraw_nor_lose_a_deposit() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 20_000;
    let budget = Budget::new().capacity(268_435).retry_cost(1).reward(1);
    let begun = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let permit = budget.ask(Charge::Retry, true, 0);
                    if round % 3 == 0 {
                        drop(permit);
                    } else if let Some(permit) = permit {
                        permit.begin();
                        begun.fetch_add(1, Ordering::Relaxed);
                    }
                    if round % 5 == 0 {
                        budget.succeed(None);
                        // Nothing was lost to a full budget: it is far below by then.
                        begun.fetch_sub(u32::from(round > 0), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // Each thread's first deposit may have met a full budget; all others came after a retry.
    let missing = 268_435_000 - level(&budget, 0);
    let outstanding = begun.into_inner() * 1000;
    assert!(
        missing.abs_diff(outstanding) <= THREADS * 1000,
        "{missing} {outstanding}"
    );
}
