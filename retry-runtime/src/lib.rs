//! What the code that `#[reattempt::retry]` generates calls.
//!
//! Use the `reattempt` crate, which re-exports what is public here; this crate is one of its parts.

pub mod adapters;
mod argument;
mod atomics;
mod backoff;
mod budget;
mod call;
#[doc(hidden)]
pub mod classify;
mod clock;
pub mod codes;
#[cfg(feature = "config")]
pub mod config;
mod context;
pub mod deadline;
mod error;
mod event;
mod explain;
mod fit;
mod forward;
mod jitter;
mod listen;
mod metrics;
mod policy;
mod preset;
mod presets;
#[doc(hidden)]
pub mod private;
mod propagate;
mod report;
mod result;
mod rng;
pub mod run;
mod sealed;
#[cfg(any(feature = "config", feature = "serde"))]
mod setting;
mod site;
mod stopped;
mod switch;
#[cfg(feature = "testing")]
pub mod testing;
mod trace;
mod trial;

pub use crate::backoff::{Backoff, Factor};
pub use crate::budget::{Budget, Budgets};
pub use crate::classify::{Retryable, Verdict};
pub use crate::context::{Attempt, IdempotencyKey, Nested, Previous};
pub use crate::error::Error;
pub use crate::event::RetryEvent;
pub use crate::jitter::Jitter;
pub use crate::listen::{Observe, observe};
pub use crate::policy::{Policy, Schedule};
pub use crate::preset::Preset;
pub use crate::presets::{FAST_IO, NO_RETRY, SLOW_IO};
pub use crate::propagate::{Propagate, propagate};
pub use crate::report::Report;
pub use crate::run::Run;
pub use crate::stopped::{Outcome, Stopped};
pub use crate::switch::{is_enabled, set_enabled};
