//! Measures what a call costs: the attribute beside a loop by hand and beside other retry crates.
//!
//! The program `subjects` holds the calls of every side. What is here builds it, runs it, and reads
//! what it prints, so that no measurement can differ from another in what it measures.

mod blocking;
mod callgrind;
pub mod compile;
mod program;
pub mod report;
mod row;
mod side;

pub use blocking::BlockingRow;
pub use callgrind::instructions;
pub use program::Program;
pub use row::Row;
pub use side::Side;
