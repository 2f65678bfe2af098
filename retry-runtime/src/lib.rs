//! What the code that `#[reattempt::retry]` generates calls.
//!
//! Use the `reattempt` crate, which re-exports what is public here; this crate is one of its parts.

mod backoff;
mod jitter;
mod rng;

pub use crate::backoff::{Backoff, Factor};
pub use crate::jitter::Jitter;
