//! The tables of `docs/LOAD.md`, row by row, so that a test can compute single rows again.

use reattempt::{Budget, Previous, Verdict};

use crate::contention::{Cell, Strategy};
use crate::fleet::Fleet;
use crate::luck::{self, Calls, Luck};
use crate::manner::Manner;
use crate::reference::{self, Contended};
use crate::server::Trouble;
use crate::timeline::Timeline;
use crate::{SEED, contention};

/// The runs of each cell of the AWS experiment, as many as in the reference.
pub const RUNS: u32 = 400;

/// The numbers of clients in the tables of the AWS experiment.
pub const CLIENTS: [u32; 5] = [10, 50, 100, 150, 190];

/// Head of the tables of the AWS experiment.
#[must_use]
pub fn contention_head() -> String {
    let names = Strategy::ALL.map(Strategy::name).join(" | ");
    format!("| clients | {names} |\n|---|---|---|---|---|---|---|")
}

/// A row for the calls and a row for the time: our figures, and those of the reference in brackets.
#[must_use]
pub fn contention_rows(clients: u32, cells: &[(Strategy, Cell)]) -> [String; 2] {
    let reference = reference::contended();
    let row = |value: &dyn Fn(&Cell) -> f64, theirs: &dyn Fn(&Contended) -> f64| {
        let cells = cells.iter().map(|(strategy, cell)| {
            let of = |other: &&Contended| other.clients == clients && other.strategy == *strategy;
            match reference.iter().find(of) {
                Some(other) => format!("{:.1} ({:.1})", value(cell), theirs(other)),
                None => format!("{:.1}", value(cell)),
            }
        });
        format!("| {clients} | {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    [
        row(&|cell| cell.calls.mean, &|other| other.calls.mean),
        row(&|cell| cell.millis.mean, &|other| other.millis.mean),
    ]
}

/// All cells for this many clients.
#[must_use]
pub fn contention_cells(clients: u32, runs: u32) -> Vec<(Strategy, Cell)> {
    Strategy::ALL
        .iter()
        .map(|strategy| (*strategy, contention::cell(*strategy, clients, runs, SEED)))
        .collect()
}

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
pub const BUDGETS: [Manner; 6] = [
    Manner::AWS,
    Manner::BUDGET,
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

/// Head of the tables of rates.
#[must_use]
pub fn rates_head() -> String {
    let names = BUDGETS.map(|manner| manner.in_tables()).join(" | ");
    format!("| calls a second of one process | {names} |\n|---|---|---|---|---|---|---|")
}

/// Trouble after a minute of health, with each budget, for a fleet that makes 10,000 calls a second in
/// all.
#[must_use]
pub fn rates(rate: u32, trouble: Trouble) -> [Timeline; 6] {
    let fleet = Fleet {
        processes: 10_000 / rate,
        rate,
    };
    BUDGETS.map(|manner| fleet.run(&manner, trouble.at_second(60), 95, SEED, || ()))
}

/// A row of the table of rates: the mean load, the load of the worst second, and the time of recovery.
#[must_use]
pub fn rates_row(rate: u32, timelines: &[Timeline; 6]) -> String {
    let cells = timelines.each_ref().map(|timeline| {
        format!(
            "{:.2}, {:.2}, {}",
            timeline.mean_load_in_trouble(),
            timeline.peak_load(),
            back_after(timeline)
        )
    });
    format!("| {rate} | {} |", cells.join(" | "))
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
pub const COST_HEAD: &str = "| attempts that fail | no budget | `Budget::aws()`, the old default | `Budget::new()`, the default, 200 calls a second | 50 calls a second | 10 calls a second | `.with_capacity(14)`, 10 calls a second |\n|---|---|---|---|---|---|---|";

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
    failure: Previous::Failed(Verdict::Transient),
};

/// Head of the table beside Marc Brooker's figures.
pub const BROOKER_HEAD: &str = "| attempts that fail | three retries | his three retries | `Budget::ratio(0.1)` | his 10 % budget | `Budget::aws()`, the old default | `Budget::new()`, the default |\n|---|---|---|---|---|---|---|";

/// His experiment: a hundred clients, ten calls a second, twenty seconds, four attempts at most.
pub const BROOKER: &str = "budget_100clients_10rps_20s";

/// Our manners in his experiment: without a budget, with a budget of 10 %, with that of the AWS SDKs, and with the
/// default.
#[must_use]
pub fn brooker(failing: f64) -> [Luck; 4] {
    const FOUR: Manner = Manner {
        policy: Manner::BACKOFF.policy.with_attempts(4),
        ..Manner::BACKOFF
    };
    const HIS: Calls = Calls {
        processes: 100,
        each: 200,
        rate: 10,
        failure: Previous::Failed(Verdict::Transient),
    };
    [
        FOUR,
        FOUR.with_budget("", || Budget::ratio(0.1)),
        FOUR.with_budget("", Budget::aws),
        FOUR.with_budget("", Budget::new),
    ]
    .map(|manner| luck::run(&manner, HIS, failing, SEED))
}

/// A row: attempts for each call, and the share that succeeded.
///
/// # Panics
///
/// - If the reference has no such share of failures.
#[must_use]
pub fn brooker_row(failing: f64) -> String {
    let theirs = |strategy: &str| {
        let found = reference::amplified()
            .into_iter()
            .find(|row| {
                row.experiment == BROOKER
                    && row.strategy == strategy
                    && (row.failing - failing).abs() < 1e-9
            })
            .expect("a row of the reference");
        cell(found.amplification, found.success)
    };
    let [none, ratio, aws, default] =
        brooker(failing).map(|luck| cell(luck.amplification, luck.success));
    format!(
        "| {:.0} % | {none} | {} | {ratio} | {} | {aws} | {default} |",
        failing * 100.0,
        theirs("three_retries"),
        theirs("adaptive_10pct"),
    )
}

fn cell(amplification: f64, success: f64) -> String {
    format!("{amplification:.3}, {:.1} %", success * 100.0)
}
