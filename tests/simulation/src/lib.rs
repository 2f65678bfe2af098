//! Fleets of clients in virtual time: what retries do to a server, and what the budget does about it.
//!
//! `examples/storm` and `examples/schedule` print and draw what is simulated here, and the tests hold it.

pub mod amplification;
pub mod chart;
pub mod contention;
pub mod dice;
pub mod fleet;
pub mod luck;
pub mod manner;
pub mod moments;
pub mod real;
pub mod reference;
pub mod schedules;
pub mod server;
pub mod tables;
pub mod timeline;
mod wheel;

/// The seed of every table and picture.
pub const SEED: u64 = 1;
