//! Calls to services that are slow, with and without a hedge.

use anyhow::Result;
use simulation::hedges::Service;
use simulation::tables::{HEDGES_HEAD, HEDGES_RATES, hedges_row};

use crate::{Output, Progress};

pub(crate) fn run(output: &mut Output) -> Result<()> {
    let progress = Progress::begin("hedges", Service::ALL.len() * HEDGES_RATES.len());
    let mut table = HEDGES_HEAD.to_owned();
    for service in Service::ALL {
        for rate in HEDGES_RATES {
            table = format!("{table}\n{}", hedges_row(service, rate));
            progress.step();
        }
    }
    output.table("hedges", &table)
}
