//! The cost of the budget if attempts fail at random, and a comparison with Marc Brooker's figures.

use simulation::SEED;
use simulation::luck::{self, Calls};
use simulation::manner::Manner;
use simulation::reference::amplified;
use simulation::tables::{BROOKER, FAILING, brooker};

#[test]
fn without_a_budget_the_amplification_is_that_of_the_reference() {
    for failing in FAILING {
        let [three_retries, ..] = brooker(failing);
        let theirs = amplified()
            .into_iter()
            .find(|row| {
                row.experiment == BROOKER
                    && row.strategy == "three_retries"
                    && (row.failing - failing).abs() < 1e-9
            })
            .unwrap();
        let apart = (three_retries.amplification - theirs.amplification).abs();
        assert!(apart < 0.02, "{failing}: {three_retries:?} and {theirs:?}");
        let apart = (three_retries.success - theirs.success).abs();
        assert!(apart < 0.01, "{failing}: {three_retries:?} and {theirs:?}");
    }
}

#[test]
fn a_budget_of_ten_percent_amplifies_by_no_more_than_ten_percent() {
    for failing in FAILING {
        let [_, ratio, ..] = brooker(failing);
        // Each process begins with one retry for its 200 calls, and gets one for ten calls.
        assert!(ratio.amplification <= 1.105, "{failing}: {ratio:?}");
    }
}

/// The cost of a budget: the share of all calls that fail and would succeed without it.
fn cost(manner: &Manner, rate: u32, failing: f64) -> f64 {
    let calls = Calls {
        processes: 20,
        each: 10_000,
        rate,
    };
    let [without, with] =
        [&Manner::BACKOFF, manner].map(|manner| luck::run(manner, calls, failing, SEED));
    without.success - with.success
}

#[test]
fn the_default_budget_costs_nothing_up_to_a_fifth_of_failures_and_much_beyond_in_a_busy_process() {
    for failing in [0.01, 0.05, 0.1, 0.2] {
        let cost = cost(&Manner::BUDGET, 200, failing);
        assert!(cost < 1e-4, "{failing}: {cost}");
    }
    for failing in [0.4, 0.5] {
        let cost = cost(&Manner::BUDGET, 200, failing);
        assert!(cost > 0.1, "{failing}: {cost}");
    }
}

#[test]
fn the_default_budget_costs_nothing_at_40_percent_in_a_process_of_ten_calls_a_second() {
    let [rare, aws] = [Manner::BUDGET, Manner::AWS].map(|manner| cost(&manner, 10, 0.4));
    assert!(rare < 1e-3, "{rare}");
    assert!(aws > 0.2, "{aws}");
}

/// The page has the formula for an empty budget: 2 (p² + p³) is above 0.2 (1 - p) + 5 / r.
#[test]
fn the_default_budget_runs_empty_as_the_formula_says() {
    for (rate, dry) in [(200, 0.26), (50, 0.30), (20, 0.37), (10, 0.456)] {
        let net = |p: f64| 2.0 * (p * p + p * p * p) - 0.2 * (1.0 - p) - 5.0 / f64::from(rate);
        assert!(net(dry - 0.01) < 0.0 && net(dry + 0.01) > 0.0, "{rate}");
        let [below, above] = [-0.03, 0.06].map(|by| cost(&Manner::BUDGET, rate, dry + by));
        assert!(below < 1e-3 && above > 0.01, "{rate}: {below} and {above}");
    }
}
