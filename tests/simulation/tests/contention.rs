//! Compares the AWS experiment with the figures of its own simulator.

use simulation::contention::{Cell, Strategy, cell};
use simulation::reference::{Contended, contended};

const RUNS: u32 = 100;

fn reference(clients: u32, strategy: Strategy) -> Contended {
    contended()
        .into_iter()
        .find(|cell| cell.clients == clients && cell.strategy == strategy)
        .unwrap()
}

/// The differences of calls and time from the reference, in standard errors of the difference.
fn errors(ours: &Cell, theirs: &Contended) -> [f64; 2] {
    [
        ours.calls.errors_from(&theirs.calls),
        ours.millis.errors_from(&theirs.millis),
    ]
}

#[test]
fn a_few_cells_of_the_aws_experiment_are_within_three_standard_errors() {
    for clients in [10, 30, 60] {
        for strategy in Strategy::ALL {
            // The library's decorrelated jitter differs from that of the article, see below.
            if strategy == Strategy::Decorrelated {
                continue;
            }
            let ours = cell(strategy, clients, RUNS, simulation::SEED);
            let errors = errors(&ours, &reference(clients, strategy));
            assert!(
                errors.iter().all(|error| error.abs() < 3.0),
                "{strategy:?} with {clients} clients: {errors:?}"
            );
        }
    }
}

#[test]
fn the_comparison_distinguishes_the_jitters() {
    let ours = cell(Strategy::Equal, 30, RUNS, simulation::SEED);
    let [calls, time] = errors(&ours, &reference(30, Strategy::Full));
    assert!(calls > 10.0 && time > 10.0, "{calls} {time}");
}

/// The library cuts the range before the draw. This changes nothing while few delays reach the cap.
#[test]
fn decorrelated_jitter_differs_from_the_article_only_near_the_cap() {
    let near = |clients, runs| {
        let ours = cell(Strategy::Decorrelated, clients, runs, simulation::SEED);
        errors(&ours, &reference(clients, Strategy::Article))
    };
    let few = near(20, RUNS);
    assert!(few.iter().all(|error| error.abs() < 3.0), "{few:?}");
    let [_, time] = near(150, 40);
    assert!(
        time < -6.0,
        "faster where many delays would reach it: {time}"
    );
}
