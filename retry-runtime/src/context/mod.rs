//! What an attempt sees of its call, and what a call sees of its outer calls.
//!
//! ```text
//! attempt, commit  ->  frame  ->  nesting, phase, rest
//! ```

mod attempt;
#[cfg(any(feature = "_transactions", feature = "http-1", test))]
mod commit;
mod frame;
mod nesting;
mod phase;
mod rest;

pub use self::attempt::{Attempt, IdempotencyKey, note_key};
#[cfg(feature = "_layers")]
pub(crate) use self::commit::begin_outside;
#[cfg(feature = "_transactions")]
pub(crate) use self::commit::open_commit;
#[cfg(feature = "http-1")]
pub(crate) use self::commit::{Ended, open};
pub(crate) use self::frame::{Frame, beside_body, outer};
pub(crate) use self::nesting::FunctionId;
pub(crate) use self::phase::{Allowed, Bodies, Leeway, Phase, Times};
pub(crate) use self::rest::Rest;
