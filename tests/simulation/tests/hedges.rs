//! What hedges add to the load, and what they do for slow answers.

use std::time::Duration;

use simulation::SEED;
use simulation::hedges::{CALLS, RATES, Run, Service};

#[test]
fn a_function_makes_at_most_one_hedge_for_16_calls_beyond_ten_whatever_happens() {
    for service in Service::ALL {
        for rate in RATES {
            let run = Run::of(service, rate, true, SEED);
            // Between any two attempts, not only from the first.
            let most = run.most_saved_up();
            assert!(most <= 10.0, "{service:?}, {rate} a second: {most}");
        }
    }
}

#[test]
fn a_service_that_is_slow_as_a_whole_gets_one_request_more_for_16_calls_at_any_rate() {
    for rate in RATES {
        let run = Run::of(Service::Slow, rate, true, SEED);
        let bound = f64::from(CALLS) * 1.0625 + 10.0;
        assert!(f64::from(run.requests) <= bound, "{rate}: {}", run.requests);
        // The bound is what stops them.
        assert!(
            f64::from(run.requests) > bound - 12.0,
            "{rate}: {}",
            run.requests
        );
    }
}

/// Its calls empty the budget below its half, from where a call makes no hedge.
#[test]
fn a_service_that_fails_gets_no_more_requests_than_without_hedges() {
    for rate in RATES {
        let [without, with] =
            [false, true].map(|hedged| Run::of(Service::Fails, rate, hedged, SEED));
        let more = f64::from(with.requests) / f64::from(without.requests);
        assert!(more < 1.005, "{rate}: {more}");
        assert!(with.hedges() < 100, "{rate}: {}", with.hedges());
    }
}

#[test]
fn with_one_slow_answer_in_a_hundred_the_999th_of_a_thousand_calls_takes_a_tenth() {
    for rate in RATES {
        let [without, with] =
            [false, true].map(|hedged| Run::of(Service::SlowAtTimes, rate, hedged, SEED));
        let slowest = |run: &Run| run.percentile(0.999);
        assert_eq!(slowest(&without), Duration::from_millis(500));
        assert!(slowest(&with) <= slowest(&without) / 10, "{rate}: {with:?}");
        let more = with.requests - without.requests;
        assert!(
            f64::from(more) <= 0.015 * f64::from(CALLS),
            "{rate}: {more}"
        );
    }
}

/// The numbers of a row of the table that `examples/hedged_reads` wrote: milliseconds, and requests for each call.
fn measured(row: &str) -> [f64; 4] {
    let page = include_str!("../../../docs/LOAD.md");
    let (_, table) = page.split_once("<!-- storm: hedged reads -->").unwrap();
    let (table, _) = table.split_once("<!-- /storm -->").unwrap();
    let row = table.lines().find(|line| line.starts_with(row)).unwrap();
    let cells = row.trim_matches(['|', ' ']).split(" | ").skip(1);
    let numbers = cells.map(|cell| cell.trim_end_matches(" ms").parse().unwrap());
    numbers.collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn over_sockets_the_slowest_calls_take_a_tenth_for_few_more_requests() {
    let [_, _, slow, one] = measured("| without |");
    let [_, _, fast, more] = measured("| `hedge");
    assert!((one - 1.0).abs() < 1e-9 && fast <= slow / 10.0 && more <= 1.015);
}
