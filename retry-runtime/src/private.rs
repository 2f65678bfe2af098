//! The door for generated code. Not for people: it changes without notice.

// Short paths, which no name of the user's shadows.
pub use std::option::Option::{None, Some};
pub use std::result::Result::{Err, Ok};
pub use std::time::Duration;

pub use crate::argument::{
    Argument, Each, Field, FindsAgain, ForEachAttempt, Gone, Lent, LentAcrossThreads, LentParts,
    Local, Parts, Reborrowed, Spared, Unshared, handed_over,
};
pub use crate::call::{
    Attempt, Call, Cancels, Check, Checked, Checks, Cut, Cuts, Ended, Ending, Failed, Forgets,
    Keeper, Keeps, Kept, LastError, Never, Next, NoKeeper, NotKept, Nothing, OnEnd, Prepare,
    Remembers, Unless, Unlimited, Wait, drive, unless,
};
pub use crate::classify::{
    Delay, Find, Inside, Probe, Ruling, Said, ask, hint_from, hint_in, verdict_of,
};
pub use crate::explain::{Displayed, Explain, Named, Words};
pub use crate::forward::Forwards;
pub use crate::result::{ByError, ByFrom, ErrorOf, FromStopped, Prepared, ResultLike, typed};
pub use crate::site::{BudgetOf, PolicyOf, Settings, Shared, Site};
pub use crate::{Backoff, Jitter, Nested, Policy};
