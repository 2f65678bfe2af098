//! Measures what a call costs: the attribute beside a loop by hand and beside other retry crates.
//!
//! The program `subjects` makes the calls of every side. This library builds it, runs it, and reads its output,
//! so that all measurements are of the same program.

mod blocking;
mod callgrind;
pub mod compile;
mod program;
pub mod report;
mod row;
mod side;

pub use blocking::BlockingRow;
pub use callgrind::{instructions, nothing_counted};
pub use program::Program;
pub use row::Row;
pub use side::Side;
