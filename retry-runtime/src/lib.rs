//! What the code that `#[reattempt::retry]` generates calls.
//!
//! Use the `reattempt` crate, which re-exports what is public here; this crate is one of its parts.

mod backoff;
#[allow(dead_code, unused_imports, reason = "the state machine of a call is about to use it")]
mod budget;
#[doc(hidden)]
pub mod classify;
mod clock;
#[allow(dead_code, unused_imports, reason = "the state machine of a call is about to use it")]
mod context;
pub mod deadline;
mod jitter;
mod rng;
#[allow(dead_code, reason="")]
mod stopped;

pub use crate::backoff::{Backoff, Factor};
pub use crate::budget::Budget;
pub use crate::classify::{Retryable, Verdict};
pub use crate::context::{Attempt, IdempotencyKey, Nested, Previous, Propagate, propagate};
pub use crate::jitter::Jitter;
pub use crate::stopped::{Outcome, Stopped};
