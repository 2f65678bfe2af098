//! What an attempt sees of its call, and what a call sees of the calls around it.
//!
//! ```text
//! attempt, commit  ->  limits  ->  frame  ->  cold  ->  hedging  ->  facts, key, nesting, open_commits
//! ```

mod attempt;
mod cold;
mod commit;
mod facts;
mod frame;
mod hedging;
mod key;
mod limits;
mod nesting;
mod open_commits;

pub use self::attempt::Attempt;
pub(crate) use self::cold::Cold;
#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
pub(crate) use self::commit::open_commit;
pub use self::facts::Previous;
pub(crate) use self::facts::{Leeway, NEVER, Notes, Phase, Refusal};
pub(crate) use self::frame::{Frame, around, is_within};
pub(crate) use self::hedging::Which;
pub use self::key::IdempotencyKey;
pub(crate) use self::limits::length;
pub(crate) use self::nesting::{FailedRetries, FunctionId, Operation, Ordinal};
