//! The load of retries on a server, in tables and pictures: overload, and the cost of the budget.
//!
//! ```text
//! cargo run --release -p simulation --example storm              # everything in virtual time, a minute or two
//! cargo run --release -p simulation --example storm -- --quick   # the same, smaller, in seconds
//! cargo run --release -p simulation --example storm -- --sockets # real clients and servers, a minute
//! ```
//!
//! Tables go to standard output, pictures to `target/storm`. With `--write`, those that `docs/LOAD.md` shows go there.

mod annotated;
mod chance;
mod closed;
mod hedges;
mod output;
mod overload;
mod progress;
mod quota;
mod rates;
mod sockets;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::output::Output;
use crate::progress::Progress;

/// How much is simulated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Full,
    Quick,
}

fn main() -> Result<()> {
    let (mut size, mut sockets, mut write) = (Size::Full, false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => size = Size::Quick,
            "--sockets" => sockets = true,
            "--write" => write = true,
            other => bail!("found `{other}`, expected `--quick`, `--sockets` or `--write`"),
        }
    }
    if write && size == Size::Quick {
        bail!("found `--quick` with `--write`, expected the full run: it is what the page shows");
    }
    let begun = Instant::now();
    let mut output = Output::new(write)?;
    if sockets {
        sockets::run(&mut output)?;
        closed::run_over_sockets(&mut output)?;
    } else {
        overload::run(&mut output, size)?;
        annotated::run(&mut output, size)?;
        rates::run(&mut output, size)?;
        chance::run(&mut output)?;
        closed::run(&mut output)?;
        quota::run(&mut output)?;
        hedges::run(&mut output)?;
    }
    output.finish()?;
    let cores = std::thread::available_parallelism()?;
    eprintln!(
        "took {:.0} s on {cores} cores",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
