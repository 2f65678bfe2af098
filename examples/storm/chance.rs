//! The cost of the budget if attempts fail at random.

use anyhow::Result;
use simulation::tables::{self, FAILING};

use crate::{Output, Progress};

pub(crate) fn run(output: &mut Output) -> Result<()> {
    let progress = Progress::begin("failures at random", FAILING.len());
    let (mut cost, mut brooker) = (
        tables::COST_HEAD.to_owned(),
        tables::BROOKER_HEAD.to_owned(),
    );
    for failing in FAILING {
        cost = format!("{cost}\n{}", tables::cost_row(failing));
        brooker = format!("{brooker}\n{}", tables::brooker_row(failing));
        progress.step();
    }
    output.table("cost", &cost)?;
    output.table("amplification", &brooker)
}
