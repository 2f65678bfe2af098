//! The cost of the budget if attempts fail at random, and a comparison with Marc Brooker's figures.

use reattempt::{PreviousFailure, Verdict};
use simulation::SEED;
use simulation::luck::{self, Calls};
use simulation::manner::Manner;
use simulation::reference::amplified;
use simulation::tables::{BROOKER, FAILING, brooker};

#[test]
fn without_a_budget_the_amplification_is_that_of_the_reference() {
    for failing in FAILING {
        let [three_retries, _] = brooker(failing);
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
        let [_, ratio] = brooker(failing);
        // Each process begins with one retry for its 200 calls, and gets one for ten calls.
        assert!(ratio.amplification <= 1.105, "{failing}: {ratio:?}");
    }
}

const FAILURE: PreviousFailure = PreviousFailure::Failed(Verdict::Transient);

/// The cost of a budget: the share of all calls that fail and would succeed without it.
fn cost(manner: &Manner, rate: u32, failing: f64, failure: PreviousFailure) -> f64 {
    let calls = Calls {
        processes: 20,
        each: 10_000,
        rate,
        failure,
    };
    let [without, with] =
        [&Manner::BACKOFF, manner].map(|manner| luck::run(manner, calls, failing, SEED));
    without.success - with.success
}

#[test]
fn the_default_budget_costs_nothing_up_to_a_fifth_of_failures_and_much_beyond_in_a_busy_process() {
    for failing in [0.01, 0.05, 0.1, 0.2] {
        let cost = cost(&Manner::BUDGET, 200, failing, FAILURE);
        assert!(cost < 1e-4, "{failing}: {cost}");
    }
    for failing in [0.4, 0.5] {
        let cost = cost(&Manner::BUDGET, 200, failing, FAILURE);
        assert!(cost > 0.1, "{failing}: {cost}");
    }
}

#[test]
fn the_default_budget_costs_less_at_40_percent_in_a_process_of_ten_calls_a_second() {
    let [rare, aws] = [Manner::BUDGET, Manner::AWS].map(|manner| cost(&manner, 10, 0.4, FAILURE));
    assert!(rare < 0.1, "{rare}");
    assert!(aws > 0.2, "{aws}");
}

/// A retry that succeeds gives back what it took. So with a share `p` of failures, a retry that takes `c` and `r` calls a second,
/// the budget runs empty if `c` (p² + p³) is above 0.2 (1 - p) + 2 / r. The page has this share.
#[test]
fn the_default_budget_runs_empty_as_the_formula_says() {
    const RATES: [u32; 5] = [500, 200, 50, 20, 10];
    let page = include_str!("../../../docs/LOAD.md");
    #[rustfmt::skip]
    let cases = [
        (FAILURE, 2.0, "fail", [0.25, 0.25, 0.27, 0.30, 0.35]),
        (PreviousFailure::Failed(Verdict::Throttled), 4.0, "are throttled", [0.19, 0.19, 0.20, 0.23, 0.26]),
        (PreviousFailure::TimedOut, 6.0, "time out", [0.16, 0.16, 0.17, 0.19, 0.22]),
    ];
    for (failure, price, name, row) in cases {
        for (rate, dry) in RATES.into_iter().zip(row) {
            let net =
                |p: f64| price * (p * p + p * p * p) - 0.2 * (1.0 - p) - 2.0 / f64::from(rate);
            assert!(
                net(dry - 0.01) < 0.0 && net(dry + 0.01) > 0.0,
                "{name}, {rate}"
            );
            let [below, above] =
                [-0.03, 0.06].map(|by| cost(&Manner::BUDGET, rate, dry + by, failure));
            assert!(
                below < 1e-3 && above > 0.01,
                "{name}, {rate}: {below} and {above}"
            );
        }
        let cells = row.map(|dry: f64| format!("{:.0} %", dry * 100.0));
        let row = format!("\n| attempts {name} | {price} | {} |\n", cells.join(" | "));
        assert!(page.contains(&row), "the page has no{row}");
    }
}
