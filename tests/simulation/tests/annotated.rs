//! The simulation agrees with the same fleet through annotated functions.

use simulation::SEED;
use simulation::fleet::Fleet;
use simulation::manner::Manner;
use simulation::real::{self, Annotated, CLIENTS_EACH, PROCESSES};
use simulation::server::Trouble;

/// Calls a second of each client. A process of ten clients makes 200.
const RATE: u32 = 20;
const SLOW_DOWN: Trouble = Trouble::SLOW_DOWN.at_second(2);
const SECONDS: usize = 10;

// This is a single test, because the budget of an annotated function lasts as long as the process, and each fleet
// needs fresh budgets.
#[test]
fn a_thousand_clients_of_annotated_functions_agree_with_the_simulation() {
    let fleet = Fleet {
        processes: PROCESSES,
        rate: RATE * CLIENTS_EACH,
    };
    std::thread::scope(|scope| {
        for (annotated, manner) in [
            (Annotated::Backoff, Manner::BACKOFF),
            (Annotated::Aws, Manner::AWS),
            (Annotated::Defaults, Manner::BUDGET),
        ] {
            scope.spawn(move || compare(annotated, &manner, fleet));
        }
    });
}

fn compare(annotated: Annotated, manner: &Manner, fleet: Fleet) {
    let real = real::run(annotated, RATE, SLOW_DOWN, SECONDS, SEED);
    let simulated = fleet.run(manner, SLOW_DOWN, SECONDS, SEED);
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 10.0;
    for [real, simulated] in [
        [mean(&mut real.load()), mean(&mut simulated.load())],
        [mean(&mut real.goodput()), mean(&mut simulated.goodput())],
        [
            real.mean_load_in_trouble(),
            simulated.mean_load_in_trouble(),
        ],
    ] {
        let apart = (real - simulated).abs();
        assert!(apart < 0.05, "{annotated:?}: {real} and {simulated}");
    }
    assert_eq!(real.recovery(), simulated.recovery(), "{annotated:?}");
    match annotated {
        Annotated::Backoff => assert_eq!(real.recovery(), None),
        _ => {
            // The first wave is free with the default.
            let most = if annotated == Annotated::Defaults {
                2.0
            } else {
                1.2
            };
            assert!(real.peak_load() <= most && real.recovery().is_some());
        }
    }
}
