//! The names that generated code uses. Do not use them yourself: they change without notice.

// A user's own `Some`, `Err` or `Duration` does not shadow these paths.
pub use std::ops::ControlFlow::{Break, Continue};
pub use std::option::Option::{None, Some};
pub use std::result::Result::{Err, Ok};
pub use std::time::Duration;

pub use crate::budget::drive;
pub use crate::call::{
    Call, CanBlock, Cancels, Cut, Judgement, LastError, Limits, Never, NextAttemptAt, OnEnd, Said,
    Signal, Stops, unless, unless_begun,
};
pub use crate::classify::{
    Assessment, IntoHint, OfClient, OkAnswer, Ruling, SaysNoEffect, VerdictAnswer, ask, ask_delay,
    ask_ok, hint_from, hint_in, says_no_effect, verdict_of,
};
pub use crate::context::note_key;
pub use crate::forward::Forwards;
#[cfg(feature = "_layers")]
pub use crate::layer::FailedAttempt;
pub use crate::lookup::client;
pub use crate::lookup::{
    Argument, Chainless, ClientRequest, Commit, CommitsOnce, Convert, Each, Failed, FindsSelfAgain,
    ForEachAttempt, Inside, IsTracked, Itself, Kept, Last, Lent, LentAcrossThreads, Level,
    MayRunTwice, Nothing, Other, Returned, StartsAnew, Unconverted, Unshared, handed_over,
};
pub use crate::result::{ByError, ByFrom, FromStopped, Prepared, ResultFuture, ResultLike, typed};
pub use crate::run::{CallError, Chained, Linked, MayStop, Ruled};
pub use crate::site::{
    BudgetOf, ConstantPolicy, DelaysOf, PolicyOf, Site, SiteSettings, SiteState, constant,
};
pub use crate::{Backoff, Jitter, Nested, Policy};
