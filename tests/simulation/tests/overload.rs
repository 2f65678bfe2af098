//! What a fleet's retries do to a server in trouble, with and without the budget.

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
fn c82_with_the_defaults_the_load_stays_below_1_2_and_is_back_within_ten_seconds() {
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        for manner in [Manner::AWS, Manner::BUDGET, Manner::SMALL] {
            let timeline = busy(&manner, trouble);
            // Every second of the run, not only the mean of the trouble.
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
fn c82_without_the_budget_the_storm_outlasts_its_cause() {
    for trouble in [Trouble::SLOW_DOWN, Trouble::OUTAGE] {
        for manner in [Manner::NAIVE, Manner::BACKOFF] {
            let timeline = busy(&manner, trouble);
            let name = manner.name;
            assert!(timeline.peak_load() > 3.0, "{name}, {trouble:?}");
            assert_eq!(timeline.recovery(), None, "{name}, {trouble:?}");
            // Ten seconds after the end nothing that it does is still wanted.
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

/// 500 tokens at 14 are 35 retries, however few calls a process makes: the bound of the budget is a
/// number, and only many calls make it a small share.
#[test]
fn a_process_adds_at_most_its_35_retries_to_an_outage() {
    for rate in [5, 20, 100] {
        let fleet = Fleet {
            processes: 2000 / rate,
            rate,
        };
        let timeline = fleet.run(&Manner::BUDGET, Trouble::OUTAGE, 15, SEED, || ());
        let [calls, attempts] = timeline
            .seconds
            .iter()
            .fold([0, 0], |[calls, attempts], second| {
                [calls + second.calls, attempts + second.attempts]
            });
        let most = 35 * u64::from(fleet.processes);
        assert!(attempts - calls <= most, "{rate}: {}", attempts - calls);
        assert!(
            attempts - calls > most * 9 / 10,
            "{rate}: {}",
            attempts - calls
        );
    }
}

/// Where the promise ends, so that the page which says so stays true.
#[test]
fn a_process_of_few_calls_has_a_worst_second_above_1_2() {
    let fleet = Fleet {
        processes: 500,
        rate: 20,
    };
    let timeline = fleet.run(&Manner::BUDGET, Trouble::OUTAGE, SECONDS, SEED, || ());
    assert!(timeline.mean_load_in_trouble() <= 1.2);
    assert!(timeline.peak_load() > 2.0);
    assert!(timeline.recovery().is_some_and(|seconds| seconds <= 10));
}

/// Such a process has the tokens to go on after the outage: the server is well again, but late.
#[test]
fn a_process_of_one_call_a_second_recovers_late() {
    let recovery = |rate| {
        let fleet = Fleet {
            processes: 10_000 / rate,
            rate,
        };
        let timeline = fleet.run(&Manner::BUDGET, Trouble::OUTAGE, 45, SEED, || ());
        timeline.recovery().expect("the budget ends the storm")
    };
    assert!(recovery(5) <= 10, "{}", recovery(5));
    assert!((11..=25).contains(&recovery(1)), "{}", recovery(1));
}
