//! The names that generated code uses. Do not use them yourself: they change without notice.

// A user's own `Some`, `Err` or `Duration` does not shadow these paths.
pub use std::option::Option::{None, Some};
pub use std::result::Result::{Err, Ok};
pub use std::time::Duration;

pub use crate::argument::{
    Argument, Each, Field, FindsAgain, ForEachAttempt, Gone, Lent, LentAcrossThreads, LentLocally,
    LentParts, Parts, Reborrowed, Spared, Unshared, handed_over,
};
pub use crate::call::{
    Attempting, Call, Cancels, Check, Checked, Checks, Cut, Cuts, Ended, Ending, Failed, Forgets,
    Keeps, Kept, LastError, Never, Next, NotKept, Nothing, OnEnd, Prepare, Remembers, Unless,
    Until, Wait, drive, unless,
};
pub use crate::classify::{IntoHint, Probe, Ruling, Said, ask, hint_from, hint_in, verdict_of};
pub use crate::explain::{Displayed, Explain, Named, Words};
pub use crate::forward::Forwards;
pub use crate::result::{ByError, ByFrom, ErrorOf, FromStopped, Prepared, ResultLike, typed};
pub use crate::run::Chained;
pub use crate::search::{Find, Inside};
pub use crate::site::{BudgetOf, PolicyOf, Settings, Shared, Site, UnlimitedSite};
pub use crate::{Backoff, Jitter, Nested, Policy};
