//! Calls to a server with a quota.

use anyhow::Result;
use simulation::quota::Rush;
use simulation::tables::{quota_head, quota_row};

use crate::{Output, Progress};

pub(crate) fn run(output: &mut Output) -> Result<()> {
    let progress = Progress::begin("quotas", Rush::ALL.len());
    let mut table = quota_head();
    for rush in &Rush::ALL {
        table = format!("{table}\n{}", quota_row(rush));
        progress.step();
    }
    output.table("quotas", &table)
}
