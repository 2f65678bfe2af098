//! Simulates fleets of clients in virtual time: the load of retries on a server, and the effect of the budget.
//!
//! `examples/storm` and `examples/schedule` print and draw the results, and the tests check them.

pub mod books;
pub mod chart;
pub mod closed;
pub mod contention;
pub mod dice;
mod failure;
pub mod fleet;
pub mod hedges;
pub mod http;
pub mod loops;
pub mod luck;
pub mod manner;
pub mod moments;
pub mod quota;
pub mod real;
pub mod reference;
pub mod server;
pub mod tables;
pub mod timeline;
mod wheel;

/// The seed of every table and picture.
pub const SEED: u64 = 1;
