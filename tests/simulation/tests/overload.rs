//! The load of a fleet's retries on a server in trouble, with and without the budget.

use simulation::SEED;
use simulation::fleet::Fleet;
use simulation::manner::Manner;
use simulation::server::Trouble;
use simulation::timeline::{Second, Timeline};

const SECONDS: usize = 26;

/// Fifty processes that make as many calls as a busy service: 200 a second.
fn busy(manner: &Manner, trouble: Trouble) -> Timeline {
    let fleet = Fleet {
        processes: 50,
        rate: 200,
    };
    fleet.run(manner, trouble, SECONDS, SEED)
}

#[test]
fn with_a_budget_the_load_stays_below_2_and_is_back_within_ten_seconds() {
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        for (manner, most) in [
            (Manner::AWS, 1.2),
            (Manner::BUDGET, 2.0),
            (Manner::SMALL, 1.8),
        ] {
            let timeline = busy(&manner, trouble);
            // This bounds every second of the run, not only the mean during the trouble.
            let peak = timeline.peak_load();
            assert!(peak <= most, "{}, {trouble:?}: {peak}", manner.name);
            let recovery = timeline.recovery();
            assert!(
                recovery.is_some_and(|seconds| seconds <= 10),
                "{recovery:?}"
            );
        }
    }
}

/// Attempts time out for three seconds, and then the server refuses all requests.
#[test]
fn while_everything_fails_for_ten_minutes_only_the_first_two_seconds_have_many_retries() {
    let outage = Trouble {
        length: 600_000_000_000,
        ..Trouble::OUTAGE
    };
    let fleet = few(200, 4_000);
    let timeline = fleet.run(&Manner::BUDGET, outage, 605, SEED);
    let mean = timeline.mean_load_in_trouble();
    assert!(mean <= 1.03, "{mean}");
    // The calls vary from second to second, so the attempts are compared with the calls.
    let load = |second: &Second| {
        let [attempts, calls] =
            [second.attempts, second.calls].map(|count| f64::from(u32::try_from(count).unwrap()));
        attempts / calls
    };
    let worst = timeline.seconds[7..].iter().map(load).fold(0.0, f64::max);
    assert!(worst <= 1.1, "{worst}");
}

#[test]
fn without_the_budget_the_storm_outlasts_its_cause() {
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        for manner in [Manner::NAIVE, Manner::BACKOFF] {
            let timeline = busy(&manner, trouble);
            let name = manner.name;
            assert!(timeline.peak_load() > 3.0, "{name}, {trouble:?}");
            assert_eq!(timeline.recovery(), None, "{name}, {trouble:?}");
            // Ten seconds after the end, the server works only for clients that have stopped waiting.
            let last = timeline.goodput().last().unwrap();
            assert!(last < 0.05, "{name}, {trouble:?}: {last}");
        }
    }
}

#[test]
fn without_retries_the_server_recovers_by_itself() {
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        let recovery = busy(&Manner::NONE, trouble).recovery();
        assert!(
            recovery.is_some_and(|seconds| seconds <= 10),
            "{recovery:?}"
        );
    }
}

/// The retries of each process until the end of an outage. The outage lasts ten seconds, after five healthy seconds.
fn retries_of_a_process(manner: &Manner, rate: u32) -> f64 {
    let fleet = few(rate, 2000);
    let timeline = fleet.run(manner, Trouble::OUTAGE, 15, SEED);
    let [calls, attempts] = timeline
        .seconds
        .iter()
        .fold([0, 0], |[calls, attempts], second| {
            [calls + second.calls, attempts + second.attempts]
        });
    f64::from(u32::try_from(attempts - calls).unwrap()) / f64::from(fleet.processes)
}

/// A fleet whose processes make `rate` calls a second each, and `all` calls together.
fn few(rate: u32, all: u32) -> Fleet {
    Fleet {
        processes: all / rate,
        rate,
    }
}

/// 500 tokens, at 14 for a retry, are 35 retries, however few calls a process makes. The budget bounds the number of
/// retries. They are a small share only of many calls.
#[test]
fn with_the_numbers_of_aws_a_process_adds_at_most_35_retries_to_an_outage() {
    for rate in [5, 20, 100] {
        let retries = retries_of_a_process(&Manner::AWS, rate);
        assert!((31.5..=35.0).contains(&retries), "{rate}: {retries}");
    }
}

/// 200 tokens and 2 a second for ten seconds are 110 retries at 2 tokens, and 36 at 6. Attempts of the first three
/// seconds time out, and the server refuses later attempts. By then a busy process has spent its tokens, and a
/// process of few calls has not. The first wave adds at most two retries for each call of half a second, which is one retry for
/// each call a second.
#[test]
fn with_the_default_a_process_adds_its_tokens_and_its_first_wave_to_an_outage() {
    for (rate, most) in [
        (5, 95.0),
        (10, 95.0),
        (20, 100.0),
        (50, 130.0),
        (200, 285.0),
    ] {
        let retries = retries_of_a_process(&Manner::BUDGET, rate);
        assert!((36.0..=most).contains(&retries), "{rate}: {retries}");
    }
}

/// The budget does not bound this, as the page says.
#[test]
fn a_process_of_few_calls_has_a_worst_second_above_1_2() {
    let fleet = few(20, 10_000);
    for (manner, mean) in [(Manner::AWS, 1.0..1.2), (Manner::BUDGET, 1.2..1.4)] {
        let timeline = fleet.run(&manner, Trouble::OUTAGE, SECONDS, SEED);
        assert!(mean.contains(&timeline.mean_load_in_trouble()));
        assert!(timeline.peak_load() > 2.0);
        assert!(timeline.recovery().is_some_and(|seconds| seconds <= 10));
    }
}

/// This is the budget for a large fleet of processes with few calls.
#[test]
fn with_a_capacity_of_14_processes_of_20_calls_a_second_stay_below_2() {
    let fleet = few(20, 10_000);
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        let timeline = fleet.run(&Manner::SMALL, trouble, SECONDS, SEED);
        let peak = timeline.peak_load();
        assert!(peak <= 2.0, "{trouble:?}: {peak}");
        assert!(timeline.recovery().is_some_and(|seconds| seconds <= 7));
    }
}

/// Such a process still has tokens after the outage, so that the server recovers late.
#[test]
fn a_process_of_few_calls_a_second_recovers_late() {
    let recovery = |manner: &Manner, rate| {
        let fleet = few(rate, 10_000);
        let timeline = fleet.run(manner, Trouble::OUTAGE, 45, SEED);
        timeline.recovery()
    };
    for manner in [Manner::AWS, Manner::BUDGET] {
        let late = recovery(&manner, 5);
        assert!(late.is_some_and(|seconds| seconds <= 14), "{late:?}");
    }
    let late = recovery(&Manner::AWS, 1);
    assert!(
        late.is_some_and(|seconds| (11..=25).contains(&seconds)),
        "{late:?}"
    );
    // Two tokens a second pay for one retry of a call in each second.
    assert_eq!(recovery(&Manner::BUDGET, 1), None);
    assert!(recovery(&Manner::SMALL, 1).is_some());
}
