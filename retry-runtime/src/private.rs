//! The door for generated code. Not for people: it changes without notice.

pub use crate::argument::{
    Argument, Each, Field, FindsAgain, ForEachAttempt, Gone, Lent, LentAcrossThreads, LentParts,
    Local, Parts, Reborrowed, Spared, Unshared,
};
pub use crate::call::{
    Call, Cut, Forgetful, Forgets, LastError, Limited, Memory, Next, Preparation, Remembers,
    Unless, Unlimited, Wait, Waited, drive, unless,
};
pub use crate::classify::{
    Delay, Find, Inside, Probe, Ruling, Said, ask, hint_from, hint_in, verdict_of,
};
pub use crate::explain::{Displayed, Explain, Named};
pub use crate::forward::Forwards;
pub use crate::result::{ByError, ByFrom, FromStopped, Prepared, ResultLike};
pub use crate::site::{Settings, Site};
