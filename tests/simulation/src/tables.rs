//! The tables of `docs/LOAD.md`, row by row, so that a test can compute single rows again.

use std::time::Duration;

use reattempt::{Budget, PreviousFailure, Verdict};

use crate::SEED;
use crate::closed::Batch;
use crate::fleet::Fleet;
use crate::hedges::{CALLS, Run, Service};
use crate::loops::{DOWN, Way};
use crate::luck::{self, Calls, Luck};
use crate::manner::Manner;
use crate::quota::Rush;
use crate::server::Trouble;
use crate::timeline::Timeline;

/// Head of the tables of a fleet in trouble.
pub const OVERLOAD_HEAD: &str = "| clients | mean load in the trouble | load of the worst second | back after |\n|---|---|---|---|";

/// A row of such a table.
#[must_use]
pub fn overload_row(name: &str, timeline: &Timeline) -> String {
    format!(
        "| {name} | {:.3} | {:.3} | {} |",
        timeline.mean_load_in_trouble(),
        timeline.peak_load(),
        back_after(timeline)
    )
}

/// The budgets in the table of rates.
pub const BUDGETS: [Manner; 7] = [
    Manner::AWS,
    Manner::BUDGET,
    Manner::SHARED,
    Manner::SMALL,
    Manner::BACKOFF.with_budget("`Budget::new().with_capacity(14).with_refill(0.5)`", || {
        Budget::new().with_capacity(14).with_refill(0.5)
    }),
    Manner::BACKOFF.with_budget("`Budget::ratio(0.1)`", || Budget::ratio(0.1)),
    Manner::BACKOFF.with_budget("`Budget::ratio(0.1).with_capacity(100)`", || {
        Budget::ratio(0.1).with_capacity(100)
    }),
];

/// The calls a second of a process, in the table of rates.
pub const RATES: [u32; 8] = [1, 5, 10, 20, 50, 100, 200, 500];

/// Those with a row on the page. The picture has all.
pub const ROWS: [u32; 5] = [1, 5, 20, 100, 500];

/// Head of the tables of rates.
#[must_use]
pub fn rates_head() -> String {
    let names = BUDGETS.map(|manner| manner.in_tables()).join(" | ");
    format!("| calls a second of one process | {names} |\n|---|---|---|---|---|---|---|---|")
}

/// Trouble after a minute of health, with each budget, for a fleet that makes 10,000 calls a second in
/// all.
#[must_use]
pub fn rates(rate: u32, trouble: Trouble) -> [Timeline; 7] {
    BUDGETS.map(|manner| fleet_in(rate, trouble, &manner))
}

fn fleet_in(rate: u32, trouble: Trouble, manner: &Manner) -> Timeline {
    let fleet = Fleet {
        processes: 10_000 / rate,
        rate,
    };
    fleet.run(manner, trouble.at_second(60), 95, SEED)
}

/// A row of the table of rates: the mean load, the load of the worst second, and the time of recovery.
#[must_use]
pub fn rates_row(rate: u32, timelines: &[Timeline; 7]) -> String {
    let cells = timelines.each_ref().map(load_cell);
    format!("| {rate} | {} |", cells.join(" | "))
}

fn load_cell(timeline: &Timeline) -> String {
    format!(
        "{:.2}, {:.2}, {}",
        timeline.mean_load_in_trouble(),
        timeline.peak_load(),
        back_after(timeline)
    )
}

fn back_after(timeline: &Timeline) -> String {
    match timeline.recovery() {
        Some(seconds) => format!("{seconds} s"),
        None => "never".to_owned(),
    }
}

/// The shares of attempts that fail, in the tables of chance.
pub const FAILING: [f64; 8] = [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75];

/// The columns of the table of costs: a manner, and the calls of a process in a second.
const COSTS: [(Manner, u32); 6] = [
    (Manner::BACKOFF, 200),
    (Manner::AWS, 200),
    (Manner::BUDGET, 200),
    (Manner::BUDGET, 50),
    (Manner::BUDGET, 10),
    (Manner::SMALL, 10),
];

/// Head of the table of what the budget costs.
pub const COST_HEAD: &str = "| attempts that fail | no budget | `Budget::aws()` | `Budget::new()`, the default, 200 calls a second | 50 calls a second | 10 calls a second | `.with_capacity(14)`, 10 calls a second |\n|---|---|---|---|---|---|---|";

/// A row: attempts for each call, and the share that succeeded, for a hundred processes with the
/// defaults that make 10,000 calls each.
#[must_use]
pub fn cost_row(failing: f64) -> String {
    let cells = COSTS.map(|(manner, rate)| {
        let luck = luck::run(&manner, TEN_THOUSAND.at(rate), failing, SEED);
        cell(luck.amplification, luck.success)
    });
    format!("| {:.0} % | {} |", failing * 100.0, cells.join(" | "))
}

const TEN_THOUSAND: Calls = Calls {
    processes: 100,
    each: 10_000,
    rate: 1,
    failure: PreviousFailure::Failed(Verdict::Transient),
};

/// Marc Brooker's experiment: a hundred clients, ten calls a second, twenty seconds, four attempts at most.
pub const BROOKER: &str = "budget_100clients_10rps_20s";

/// Our manners in his experiment: without a budget, and with a budget of 10 %.
#[must_use]
pub fn brooker(failing: f64) -> [Luck; 2] {
    const FOUR: Manner = Manner {
        policy: Manner::BACKOFF.policy.with_attempts(4),
        ..Manner::BACKOFF
    };
    const HIS: Calls = Calls {
        processes: 100,
        each: 200,
        rate: 10,
        failure: PreviousFailure::Failed(Verdict::Transient),
    };
    [FOUR, FOUR.with_budget("", || Budget::ratio(0.1))]
        .map(|manner| luck::run(&manner, HIS, failing, SEED))
}

fn cell(amplification: f64, success: f64) -> String {
    format!("{amplification:.3}, {:.1} %", success * 100.0)
}

/// The budgets in the tables of workers.
const CLOSED: [Manner; 3] = [Manner::BACKOFF, Manner::AWS, Manner::BUDGET];

/// Head of the tables of workers.
#[must_use]
pub fn closed_head() -> String {
    let names = CLOSED.map(|manner| manner.in_tables()).join(" | ");
    format!("| calls | {names} |\n|---|---|---|---|")
}

/// A row: the calls that each budget refused, the mean of twenty runs in virtual time.
#[must_use]
pub fn closed_row(batch: &Batch) -> String {
    let cells = CLOSED.map(|manner| format!("{:.1}", mean_lost(batch, &manner)));
    format!("| {} | {} |", batch.name, cells.join(" | "))
}

fn mean_lost(batch: &Batch, manner: &Manner) -> f64 {
    const RUNS: u32 = 20;
    let lost: u32 = (0..RUNS)
        .map(|run| batch.lost(manner.budget, SEED + u64::from(run)))
        .sum();
    f64::from(lost) / f64::from(RUNS)
}

/// Head of the table of callers while a server is down.
pub const LOOPS_HEAD: &str = "| calls | eight workers: requests a second | items lost | 200 calls a second: requests a second | a call fails after |\n|---|---|---|---|---|";

/// A row: the means of five runs in virtual time.
#[must_use]
pub fn loops_row(way: Way) -> String {
    let [requests, lost, open, fails] = loops_means(way);
    let fails = if fails > 0.0 {
        format!("{:.0} ms", fails * 1000.0)
    } else {
        "–".to_owned()
    };
    let name = way.name();
    format!("| {name} | {requests:.0} | {lost:.0} | {open:.0} | {fails} |")
}

/// For the closed loop the requests a second and the calls that failed, and for the open one the requests a second and the seconds
/// after which a call failed.
#[must_use]
pub fn loops_means(way: Way) -> [f64; 4] {
    const RUNS: u32 = 5;
    let mut sums = [0.0; 4];
    for run in 0..RUNS {
        let seed = SEED + u64::from(run);
        let (closed, open) = (way.closed(DOWN, seed), way.open(DOWN, seed));
        let [of_closed, of_open] =
            [closed, open].map(|seen| f64::from(seen.requests) / f64::from(DOWN));
        let fails = open.time.as_secs_f64() / f64::from(open.lost.max(1));
        for (sum, of_run) in sums
            .iter_mut()
            .zip([of_closed, closed.lost.into(), of_open, fails])
        {
            *sum += of_run / f64::from(RUNS);
        }
    }
    sums
}

/// The bases of the table of quotas. `None` is the default, ten times `base`.
pub const THROTTLED: [(&str, Option<Duration>); 3] = [
    (
        "`throttled_base = \"100ms\"`, as `base`",
        Some(Duration::from_millis(100)),
    ),
    ("`\"300ms\"`", Some(Duration::from_millis(300))),
    ("`\"1s\"`, the default", None),
];

/// Head of the table of quotas.
#[must_use]
pub fn quota_head() -> String {
    let names = THROTTLED.map(|(name, _)| name).join(" | ");
    format!("| calls | {names} |\n|---|---|---|---|")
}

/// A row: the calls that succeeded, the requests for each call, and the mean time of those that succeeded. The mean of five
/// runs in virtual time.
#[must_use]
pub fn quota_row(rush: &Rush) -> String {
    let cells = THROTTLED.map(|(_, base)| {
        let [calls, requests, time] = quota_means(rush, base);
        format!(
            "{:.0} %, {requests:.2}, {:.0} ms",
            calls * 100.0,
            time * 1000.0
        )
    });
    format!("| {} | {} |", rush.name, cells.join(" | "))
}

/// The share of calls that succeeded, the requests for each call, and the seconds that a call that succeeded took.
#[must_use]
pub fn quota_means(rush: &Rush, throttled_base: Option<Duration>) -> [f64; 3] {
    const RUNS: u32 = 5;
    let runs: Vec<_> = (0..RUNS)
        .map(|run| rush.run(throttled_base, SEED + u64::from(run)))
        .collect();
    let all = f64::from(RUNS * rush.calls);
    let calls: u32 = runs.iter().map(|run| run.calls).sum();
    let requests: u32 = runs.iter().map(|run| run.requests).sum();
    let time: Duration = runs.iter().map(|run| run.time).sum();
    [
        f64::from(calls) / all,
        f64::from(requests) / all,
        time.as_secs_f64() / f64::from(calls.max(1)),
    ]
}

/// The calls a second of the rows on hedges.
pub const HEDGES_RATES: [u32; 2] = [5, 500];

/// Head of the table of hedges.
pub const HEDGES_HEAD: &str = "| the service | calls a second | p50, p99, p99.9 | with `hedge = \"20ms\"` | requests for each call | with `hedge` | hedges of 16,000 calls |\n|---|---|---|---|---|---|---|";

/// A row: how long calls took and how many requests they made, without and with a hedge.
#[must_use]
pub fn hedges_row(service: Service, rate: u32) -> String {
    let runs = [false, true].map(|hedged| Run::of(service, rate, hedged, SEED));
    let times = runs.each_ref().map(|run| {
        let times = [0.5, 0.99, 0.999].map(|share| run.percentile(share).as_millis());
        let [half, most, nearly_all] = times;
        format!("{half}, {most}, {nearly_all} ms")
    });
    let loads = runs
        .each_ref()
        .map(|run| format!("{:.4}", f64::from(run.requests) / f64::from(CALLS)));
    let cells = [times, loads].concat().join(" | ");
    let hedges = runs[1].hedges();
    format!("| {} | {rate} | {cells} | {hedges} |", service.name())
}
