//! The load of retries on a server, in tables and pictures: overload, workers, batches, quotas, hedges, and the cost of the budget.
//!
//! ```text
//! cargo run --release -p simulation --example storm              # a minute or two
//! cargo run --release -p simulation --example storm -- --quick   # the same, smaller, in seconds
//! ```
//!
//! Tables go to standard output, pictures to `target/storm`. With `--write`, those that `docs/LOAD.md` shows go there.

mod output;
mod overload;
mod rates;

use std::time::Instant;

use anyhow::{Result, bail};
use simulation::closed::Batch;
use simulation::hedges::Service;
use simulation::loops::Way;
use simulation::quota::Rush;
use simulation::tables::{
    COST_HEAD, FAILING, HEDGES_HEAD, HEDGES_RATES, LOOPS_HEAD, closed_head, closed_row, cost_row,
    hedges_row, loops_row, quota_head, quota_row,
};

use crate::output::Output;

/// How much is simulated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Full,
    Quick,
}

/// A table of this head and these rows.
fn table(head: &str, rows: impl IntoIterator<Item = String>) -> String {
    let lines = std::iter::once(head.to_owned()).chain(rows);
    lines.collect::<Vec<_>>().join("\n")
}

fn main() -> Result<()> {
    let (mut size, mut write) = (Size::Full, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => size = Size::Quick,
            "--write" => write = true,
            other => bail!("found `{other}`, expected `--quick` or `--write`"),
        }
    }
    if write && size == Size::Quick {
        bail!("found `--quick` with `--write`, expected the full run: it is what the page shows");
    }
    let begun = Instant::now();
    let mut output = Output::new(write)?;
    overload::run(&mut output, size)?;
    rates::run(&mut output, size)?;
    output.table("cost", &table(COST_HEAD, FAILING.map(cost_row)))?;
    let batches = Batch::ALL.iter().map(closed_row);
    output.table("workers", &table(&closed_head(), batches))?;
    let loops = Way::ALL.map(loops_row);
    output.table("loops", &table(LOOPS_HEAD, loops))?;
    let rushes = Rush::ALL.iter().map(quota_row);
    output.table("quotas", &table(&quota_head(), rushes))?;
    let hedged = Service::ALL.into_iter();
    let hedged = hedged.flat_map(|service| HEDGES_RATES.map(|rate| hedges_row(service, rate)));
    output.table("hedges", &table(HEDGES_HEAD, hedged))?;
    output.finish()?;
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "took {:.0} s on {cores} cores",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
