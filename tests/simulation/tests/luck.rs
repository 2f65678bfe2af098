//! What the budget costs where attempts fail at random, beside Marc Brooker's figures.

use simulation::SEED;
use simulation::luck;
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
        let [_, ratio, _] = brooker(failing);
        // One retry to begin with for each of 200 calls, and one for ten.
        assert!(ratio.amplification <= 1.105, "{failing}: {ratio:?}");
    }
}

#[test]
fn the_default_budget_costs_nothing_up_to_a_fifth_of_failures_and_much_beyond() {
    let cost = |failing| {
        let [without, with] = [Manner::BACKOFF, Manner::BUDGET]
            .map(|manner| luck::run(&manner, 20, 5000, failing, SEED));
        without.success - with.success
    };
    for failing in [0.01, 0.05, 0.1, 0.2] {
        assert!(cost(failing) < 1e-4, "{failing}: {}", cost(failing));
    }
    for failing in [0.3, 0.4, 0.5] {
        assert!(cost(failing) > 0.1, "{failing}: {}", cost(failing));
    }
}
