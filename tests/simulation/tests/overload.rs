//! The load of a fleet's retries on a server in trouble, with and without the budget.

use simulation::SEED;
use simulation::fleet::Fleet;
use simulation::manner::Manner;
use simulation::server::Trouble;
use simulation::timeline::Timeline;

const SECONDS: usize = 26;

/// Fifty processes that make as many calls as a busy service: 200 a second.
fn busy(manner: &Manner, trouble: Trouble) -> Timeline {
    let fleet = Fleet {
        processes: 50,
        rate: 200,
    };
    fleet.run(manner, trouble, SECONDS, SEED, || ())
}

#[test]
fn with_the_defaults_the_load_stays_below_1_2_and_is_back_within_ten_seconds() {
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        for manner in [Manner::AWS, Manner::BUDGET, Manner::SMALL] {
            let timeline = busy(&manner, trouble);
            // This bounds every second of the run, not only the mean during the trouble.
            let peak = timeline.peak_load();
            assert!(peak <= 1.2, "{}, {trouble:?}: {peak}", manner.name);
            let recovery = timeline.recovery();
            assert!(
                recovery.is_some_and(|seconds| seconds <= 10),
                "{recovery:?}"
            );
        }
    }
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
    let timeline = fleet.run(manner, Trouble::OUTAGE, 15, SEED, || ());
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

/// 500 tokens and 5 a second for ten seconds are 275 retries at 2 tokens, and 39 at 14. Attempts of the first three
/// seconds time out, and the server refuses later attempts. By then a busy process has spent its tokens, and a
/// process of few calls has not.
#[test]
fn with_the_default_a_process_adds_at_most_275_retries_to_an_outage_and_about_39_if_it_is_busy() {
    for (rate, most) in [(5, 110.0), (10, 150.0), (20, 80.0), (50, 65.0), (200, 60.0)] {
        let retries = retries_of_a_process(&Manner::BUDGET, rate);
        assert!((39.0..=most).contains(&retries), "{rate}: {retries}");
    }
}

/// The budget does not bound this, as the page says.
#[test]
fn a_process_of_few_calls_has_a_worst_second_above_1_2() {
    let fleet = few(20, 10_000);
    for (manner, mean) in [(Manner::AWS, 1.0..1.2), (Manner::BUDGET, 1.25..1.4)] {
        let timeline = fleet.run(&manner, Trouble::OUTAGE, SECONDS, SEED, || ());
        assert!(mean.contains(&timeline.mean_load_in_trouble()));
        assert!(timeline.peak_load() > 2.0);
        assert!(timeline.recovery().is_some_and(|seconds| seconds <= 10));
    }
}

/// This is the budget for a large fleet of processes with few calls.
#[test]
fn with_a_capacity_of_14_processes_of_20_calls_a_second_stay_below_1_3() {
    let fleet = few(20, 10_000);
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        let timeline = fleet.run(&Manner::SMALL, trouble, SECONDS, SEED, || ());
        let peak = timeline.peak_load();
        assert!(peak <= 1.3, "{trouble:?}: {peak}");
        assert!(timeline.recovery().is_some_and(|seconds| seconds <= 7));
    }
}

/// Such a process still has tokens after the outage, so that the server recovers late.
#[test]
fn a_process_of_few_calls_a_second_recovers_late() {
    let recovery = |manner: &Manner, rate| {
        let fleet = few(rate, 10_000);
        let timeline = fleet.run(manner, Trouble::OUTAGE, 45, SEED, || ());
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
    // Five tokens a second pay for both retries of a call in each second.
    assert_eq!(recovery(&Manner::BUDGET, 1), None);
    assert!(recovery(&Manner::SMALL, 1).is_some());
}
