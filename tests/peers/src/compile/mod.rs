//! The cost of a side in compile time and in machine code.

mod code;
mod cpu;
mod package;
mod small;
mod source;

pub use code::{Code, llvm_lines};
pub use small::{Small, WAYS, Way};

use crate::Side;

use self::package::Package;
use self::source::Program;

/// The number of functions of a program.
const FUNCTIONS: usize = 200;

/// The sides to compare.
pub const SIDES: [Side; 6] = [
    Side::Plain,
    Side::Hand,
    Side::Ours,
    Side::Run,
    Side::Backon,
    Side::BackonMacros,
];

/// CPU time of the compiler for 200 functions, as ratios to 200 loops by hand.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The ratio for `cargo check`.
    pub check: f64,
    /// The ratio for `cargo build --release`.
    pub release: f64,
}

/// Measures the compile time of 200 functions of each side. `None` if CPU time is not known.
///
/// Each round compiles all sides in turn, after a change to the program. The dependencies are compiled before. The
/// median of the rounds counts.
#[must_use]
pub fn efforts(rounds: usize) -> Option<Vec<(Side, Effort)>> {
    let package = Package::new();
    let check = ratios(&package, &["check", "--quiet"], rounds)?;
    let release = ratios(&package, &["build", "--quiet", "--release"], rounds)?;
    let ratios = check.into_iter().zip(release);
    let efforts = ratios.map(|(check, release)| Effort { check, release });
    Some(SIDES.into_iter().zip(efforts).collect())
}

fn ratios(package: &Package, command: &[&str], rounds: usize) -> Option<Vec<f64>> {
    let mut ratios = vec![Vec::with_capacity(rounds); SIDES.len()];
    // The first round compiles the dependencies.
    for round in 0..=rounds {
        let mut times = Vec::with_capacity(SIDES.len());
        for side in SIDES {
            let name = package.write(Program {
                side,
                functions: FUNCTIONS,
            });
            let command = [command, &["--bin", name]].concat();
            times.push(cpu::of_children(|| drop(package.cargo(&command)))?);
        }
        let hand = SIDES.iter().position(|&side| side == Side::Hand)?;
        if round > 0 {
            for (ratios, time) in ratios.iter_mut().zip(&times) {
                ratios.push(time / times[hand]);
            }
        }
    }
    let median = |mut ratios: Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    };
    Some(ratios.into_iter().map(median).collect())
}
