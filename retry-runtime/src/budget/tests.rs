//! Tests the budget against a plain single-threaded model, at its edges, and with real threads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use proptest::prelude::*;

use super::numbers::{BudgetNumbers, LedgerState};
use super::{Budget, Charge};

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

/// The model: the numbers of `Budget::new` in thousandths, not packed.
struct Plain {
    level: u64,
    capacity: u64,
    refill_per_tick: u64,
    tick: u64,
}

impl Plain {
    fn refill(&mut self, now: u64) {
        if self.refill_per_tick > 0 && now > self.tick {
            self.add((now - self.tick) * self.refill_per_tick);
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
    Ask(Charge),
    DropPermit,
    BeginRetry,
    RetrySucceeds,
    FirstAttemptSucceeds,
    Wait(u64),
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
        Charge::Failure => 2_000,
        Charge::Throttled => 5_000,
        Charge::Timeout => 14_000,
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => charge().prop_map(Step::Ask),
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
        refill in 0_u32..40,
        start in prop_oneof![Just(0_u64), Just(u64::from(u32::MAX)), Just(1 << 35), Just(1 << 40)],
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let budget = Budget::new()
            .with_capacity(capacity)
            .with_refill(f64::from(refill));
        let mut plain = Plain {
            level: u64::from(capacity) * 1000,
            capacity: u64::from(capacity) * 1000,
            // Tokens per second equal thousandths per millisecond.
            refill_per_tick: u64::from(refill),
            tick: start,
        };
        let mut now = start;
        let mut waiting: Vec<(Permit<'_>, Charge, u64)> = Vec::new();
        let mut begun: Vec<(Charge, u64)> = Vec::new();
        for step in steps {
            match step {
                Step::Ask(charge) => {
                    let price = u64::from(price(charge));
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
                    plain.add(200);
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
        charges in prop::collection::vec(charge(), 0..35),
    ) {
        let budget = Budget::new();
        let permits: Vec<_> = charges
            .iter()
            .map(|charge| budget.ask(*charge, true, 0).unwrap())
            .collect();
        let taken: u32 = charges.iter().map(|charge| price(*charge)).sum();
        prop_assert_eq!(level(&budget, 0), 500_000 - taken);
        drop(permits);
        prop_assert_eq!(level(&budget, 0), 500_000);
    }

    #[test]
    fn packing_loses_nothing(missing in 0_u32..1 << 28, tick in 0_u64..1 << 36) {
        let state = LedgerState { missing, tick };
        prop_assert_eq!(LedgerState::unpack(state.pack()), state);
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

#[test]
fn the_budget_of_the_aws_sdks_allows_thirty_five_retries_then_one_for_fourteen_successes() {
    static BUDGET: Budget = Budget::aws();
    assert_eq!(retries_allowed(&BUDGET, 100), 35);
    assert_eq!(level(&BUDGET, 0), 10_000);
    // The ten tokens that are left pay for two throttled retries, but not for a retry after a failure.
    assert!(BUDGET.ask(Charge::Failure, true, 0).is_none());
    assert!(begin(&BUDGET, Charge::Throttled, true, 0).is_some());
    assert!(begin(&BUDGET, Charge::Throttled, true, 0).is_some());
    assert_eq!(level(&BUDGET, 0), 0);
    for _ in 0..13 {
        BUDGET.succeed(None);
    }
    assert!(BUDGET.ask(Charge::Failure, true, 0).is_none());
    BUDGET.succeed(None);
    begin(&BUDGET, Charge::Failure, true, 0).unwrap();
    assert_eq!(level(&BUDGET, 0), 0);
    // The call succeeds, so the price of its retry comes back.
    BUDGET.succeed(Some(Charge::Failure));
    assert_eq!(level(&BUDGET, 0), 14_000);
}

#[test]
fn a_full_budget_allows_250_retries_after_failures_100_if_throttled_and_35_after_timeouts() {
    for (charge, retries) in [
        (Charge::Failure, 250),
        (Charge::Throttled, 100),
        (Charge::Timeout, 35),
    ] {
        let budget = Budget::new();
        let granted = (0..300).filter(|_| begin(&budget, charge, true, 0).is_some());
        assert_eq!(granted.count(), retries, "{charge:?}");
    }
}

/// 500 tokens, and 5 tokens a second for ten seconds, are 550 tokens.
#[test]
fn ten_seconds_of_failures_at_250_calls_a_second_have_275_retries_or_39_after_timeouts() {
    for (charge, retries) in [(Charge::Failure, 275), (Charge::Timeout, 39)] {
        let budget = Budget::new();
        // Each of the 2,500 calls asks for two retries.
        let asked = (0..=5_000).filter(|n| begin(&budget, charge, true, n * 2).is_some());
        assert_eq!(asked.count(), retries, "{charge:?}");
    }
}

#[test]
fn ten_calls_that_succeed_at_once_earn_one_retry() {
    let budget = drained(Budget::new().with_refill(0.0));
    assert_eq!(level(&budget, 0), 0);
    for _ in 0..9 {
        budget.succeed(None);
    }
    assert!(budget.ask(Charge::Failure, true, 0).is_none());
    budget.succeed(None);
    begin(&budget, Charge::Failure, true, 0).unwrap();
    budget.succeed(Some(Charge::Failure));
    assert_eq!(level(&budget, 0), 2_000);
}

#[test]
fn a_budget_that_an_hour_of_outage_drained_is_full_after_a_quiet_day() {
    let budget = Budget::new();
    let hour = 3_600_000;
    for now in 0..hour / 100 {
        drain(&budget, now * 100);
    }
    assert!(level(&budget, hour) < 3_000);
    assert_eq!(level(&budget, 25 * hour), 500_000);
    // The budget is full after a hundred seconds.
    assert_eq!(level(&budget, hour + 100_000), 500_000);
}

#[test]
fn a_fresh_budget_starts_as_its_model_started_and_counts_time_from_then() {
    let model = drained(Budget::new());
    assert_eq!(model.fresh().level().to_string(), "500");
    assert_eq!(model.fresh().capacity(), 500);
    let model = Budget::ratio(0.1).with_refill(1.0);
    let fresh = model.fresh();
    assert!((1.0..1.5).contains(&fresh.level()), "{fresh:?}");
    assert_eq!(format!("{:?}", Budget::aws().fresh()), SHOWN);
}

const SHOWN: &str = "Budget { level: 500.0, capacity: 500, retries_when_full: 35 retries }";

#[test]
fn success_never_fills_above_the_capacity() {
    let budget = Budget::new();
    begin(&budget, Charge::Failure, true, 0).unwrap();
    for _ in 0..10 {
        budget.succeed(None);
    }
    budget.succeed(Some(Charge::Failure));
    assert_eq!(level(&budget, 0), 500_000);
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
            saved.succeed(None);
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
    budget.succeed(Some(Charge::Failure));
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
fn a_budget_is_full_until_a_retry_takes_something() {
    let budget = Budget::aws();
    assert!(budget.is_full());
    let permit = budget.ask(Charge::Failure, true, 0);
    assert!(!budget.is_full());
    drop(permit);
    assert!(budget.is_full());
}

#[test]
fn each_budget_has_an_id_of_its_own() {
    let budget = Budget::new();
    let id = budget.id();
    assert_eq!(budget.id(), id);
    assert_ne!(budget.fresh().id(), id);
}

#[test]
fn a_drained_budget_recovers_by_time_alone() {
    let budget = drained(Budget::new());
    assert_eq!(level(&budget, 0), 0);
    assert_eq!(level(&budget, 500), 2_500);
    assert_eq!(level(&budget, 99_999), 499_995);
    assert_eq!(level(&budget, 100_000), 500_000);
    assert!(budget.ask(Charge::Failure, true, 60_000).is_some());
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
fn a_refill_is_exact_however_often_it_is_looked_at() {
    // 0.3 tokens a second are 0.3 thousandths a millisecond, which is not a whole number.
    let budget = drained(Budget::new().with_refill(0.3));
    let before = level(&budget, 0);
    for now in 1..=10_000 {
        drop(budget.ask(Charge::Failure, false, now));
    }
    assert_eq!(level(&budget, 10_000) - before, 3_000);
}

#[test]
fn a_year_of_idling_is_accounted_for_in_one_step() {
    let budget = Budget::new().with_refill(0.014).with_capacity(200_000);
    let year = 365 * 24 * 3_600_000_u64;
    let drained = drained(budget);
    // A year gives 441,504 tokens, more than the capacity.
    assert_eq!(level(&drained, year), 200_000_000);
    assert_eq!(level(&drained, year / 10), 3_153_600 * 14);
}

#[test]
fn ticks_near_the_end_of_their_range_neither_wrap_nor_give_too_much() {
    let budget = drained(Budget::new());
    let end = u64::MAX - 5_000;
    // The first call asks after an idle time far beyond the range of the packed tick.
    drop(budget.ask(Charge::Throttled, false, end));
    assert!((0..=500_000).contains(&level(&budget, end)));
    drain(&budget, end);
    let left = level(&budget, end);
    assert_eq!(level(&budget, end + 1_000), left + 5_000);
    // If the clock wraps, no more comes back than in the time that passed.
    assert!((left..=left + 25_030).contains(&level(&budget, 5)));
}

#[test]
fn a_packed_tick_that_comes_round_counts_on() {
    let round = 1_u64 << 36;
    let budget = drained(Budget::new());
    for around in [round - 5_000, round, round + 500] {
        drop(budget.ask(Charge::Throttled, false, around));
    }
    assert_eq!(level(&budget, round + 500), 5_500 * 5);
    assert_eq!(level(&budget, round + 1_500), 6_500 * 5);
}

#[test]
fn a_late_reading_of_the_clock_changes_nothing() {
    let budget = drained(Budget::new());
    drop(budget.ask(Charge::Throttled, false, 1_000));
    assert_eq!(level(&budget, 1_000), 5_000);
    drop(budget.ask(Charge::Throttled, false, 400));
    assert_eq!(level(&budget, 1_000), 5_000);
    assert_eq!(level(&budget, 2_000), 10_000);
}

#[test]
fn a_clock_that_was_set_back_is_counted_from_where_it_is() {
    let budget = drained(Budget::new());
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
    let budget = Budget::new().with_capacity(10);
    assert!(budget.ask(Charge::Timeout, true, 1 << 40).is_none());
    assert!(budget.ask(Charge::Failure, true, 1 << 40).is_some());
    let budget = budget.fresh().with_timeout_cost(10);
    assert!(budget.ask(Charge::Timeout, true, 0).is_some());
    let budget = Budget::new().with_throttled_cost(501);
    assert!(budget.ask(Charge::Throttled, true, 0).is_none());
}

#[test]
#[should_panic(expected = "a ratio is in")]
fn a_ratio_is_not_a_percentage() {
    let _ = Budget::ratio(10.0);
}

#[test]
#[should_panic(expected = "in `0.0..=268_435.0`")]
fn a_refill_below_zero_is_refused() {
    let _ = Budget::new().with_refill(-0.1);
}

#[test]
#[should_panic(expected = "in `0.0..=268_435.0`")]
fn a_reward_that_is_no_number_is_refused() {
    let _ = Budget::new().with_reward(f64::NAN);
}

#[test]
#[should_panic(expected = "at most 268_435")]
fn a_capacity_that_does_not_fit_the_word_is_refused() {
    let _ = Budget::new().with_capacity(268_436);
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
    budget.succeed(Some(Charge::Failure));
    budget.succeed(None);
    assert_eq!(level(&budget, u64::MAX), 268_435_000);
    assert_eq!(BudgetNumbers::tokens(268_435), 268_435_000);
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
                        budget.succeed(None);
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
