//! The door for generated code. Not for people: it changes without notice.

pub use crate::argument::{
    Argument, Each, Field, FindsAgain, ForEachAttempt, Gone, Lent, LentAcrossThreads, LentParts,
    Local, Parts, Reborrowed, Spared, Unshared,
};
pub use crate::call::{
    Attempt, Call, Cut, Cuts, Ending, Failed, Forgets, KeptError, LastError, Never, OnEnd, Prepare,
    Remembers, Unless, Unlimited, Wait, drive, rule, tell, unless,
};
pub use crate::classify::{
    Delay, Find, Inside, Probe, Ruling, Said, ask, hint_from, hint_in, verdict_of,
};
pub use crate::explain::{Displayed, Explain, Named, Words};
pub use crate::forward::Forwards;
pub use crate::result::{ByError, ByFrom, FromStopped, Prepared, ResultLike};
pub use crate::site::{BudgetOf, PolicyOf, Settings, Shared, Site};
