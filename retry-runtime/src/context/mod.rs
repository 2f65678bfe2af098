//! What an attempt sees of its call, and what a call sees of its outer calls.
//!
//! ```text
//! attempt, commit  ->  frame  ->  rest  ->  facts, key, nesting, open_commits
//! ```

mod attempt;
mod commit;
mod facts;
mod frame;
mod key;
mod nesting;
mod open_commits;
mod rest;

pub use self::attempt::Attempt;
#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
pub(crate) use self::commit::open_commit;
pub use self::facts::Previous;
pub(crate) use self::facts::{Leeway, NEVER, Phase};
pub(crate) use self::frame::{Frame, around, is_within, refusal_restored_after};
pub use self::key::IdempotencyKey;
pub(crate) use self::nesting::{FunctionId, Operation};
