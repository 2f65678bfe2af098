//! Crates that this one does not know.

mod mocked;
mod verdicts;
