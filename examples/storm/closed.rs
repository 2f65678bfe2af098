//! Workers with a fixed number of calls at once, against a server that freezes.

use anyhow::Result;
use simulation::closed::Batch;
use simulation::tables::{closed_head, closed_row, closed_row_over_sockets};

use crate::{Output, Progress};

pub(crate) fn run(output: &mut Output) -> Result<()> {
    let progress = Progress::begin("workers", Batch::ALL.len());
    let mut table = closed_head();
    for batch in &Batch::ALL {
        table = format!("{table}\n{}", closed_row(batch));
        progress.step();
    }
    output.table("workers", &table)
}

/// The same over sockets.
pub(crate) fn run_over_sockets(output: &mut Output) -> Result<()> {
    let progress = Progress::begin("workers, over sockets", Batch::ALL.len());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut table = closed_head();
    for batch in &Batch::ALL {
        let row = runtime.block_on(closed_row_over_sockets(batch))?;
        table = format!("{table}\n{row}");
        progress.step();
    }
    output.table("workers, over sockets", &table)
}
