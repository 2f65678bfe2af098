//! Compares the simulation with the same fleet through annotated functions.

use anyhow::Result;
use simulation::SEED;
use simulation::fleet::Fleet;
use simulation::manner::Manner;
use simulation::real::{self, Annotated, CLIENTS_EACH, PROCESSES};
use simulation::server::Trouble;
use simulation::tables::{OVERLOAD_HEAD, overload_row};

use crate::{Output, Progress, Size};

/// Calls a second of each client. A process of ten clients makes 200.
const RATE: u32 = 20;

pub(crate) fn run(output: &mut Output, size: Size) -> Result<()> {
    let (trouble, seconds) = match size {
        Size::Full => (Trouble::OUTAGE, 30),
        Size::Quick => (Trouble::SLOW_DOWN, 10),
    };
    let manners = [
        (Annotated::None, Manner::NONE),
        (Annotated::Naive, Manner::NAIVE),
        (Annotated::Backoff, Manner::BACKOFF),
        (Annotated::Aws, Manner::AWS),
        (Annotated::Defaults, Manner::BUDGET),
    ];
    let progress = Progress::begin("annotated functions", manners.len());
    let fleet = Fleet {
        processes: PROCESSES,
        rate: RATE * CLIENTS_EACH,
    };
    let mut table = OVERLOAD_HEAD.to_owned();
    for (annotated, manner) in manners {
        let real = real::run(annotated, RATE, trouble, seconds, SEED);
        let simulated = fleet.run(&manner, trouble, seconds, SEED, || ());
        for (how, timeline) in [("`#[retry]`", real), ("simulated", simulated)] {
            let name = format!("{}, {how}", manner.in_tables());
            table = format!("{table}\n{}", overload_row(&name, &timeline));
        }
        progress.step();
    }
    output.table("annotated", &table)
}
