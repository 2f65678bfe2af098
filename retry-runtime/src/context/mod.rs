//! What an attempt sees of its call, and what a call sees of the calls around it.
//!
//! ```text
//! attempt, inner, commit  ->  limits  ->  frame  ->  cold  ->  key, nesting, notes, open_commits, previous, refusal
//! ```

mod attempt;
mod cold;
mod commit;
mod frame;
mod inner;
mod key;
mod limits;
mod nested;
mod nesting;
mod notes;
mod open_commits;
mod previous;
mod refusal;

pub use self::attempt::Attempt;
#[cfg(feature = "tracing")]
pub(crate) use self::cold::Cold;
#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
pub(crate) use self::commit::open_commit;
pub(crate) use self::frame::{Frame, NEVER, Phase, around, is_within};
pub(crate) use self::inner::{Inner, refuse};
pub use self::key::IdempotencyKey;
pub(crate) use self::limits::{TooLate, length};
pub use self::nested::Nested;
pub(crate) use self::nesting::FunctionId;
pub(crate) use self::notes::Notes;
pub use self::previous::Previous;
pub(crate) use self::refusal::Refusal;
