//! Crates that this one does not know.

#[cfg(heavy)]
mod heavy;
mod mocked;
mod verdicts;
