//! What a [`Run`](crate::Run) and a layer take: the traits in their bounds, as messages of rustc name them.
//!
//! You need not import these traits. Do not implement or call them: their methods are hidden, and change without notice.

pub use crate::call::{CanBlock, Cancels};
pub use crate::classify::{Answers, Lost, OfClient, OkAnswer, VerdictAnswer};
pub use crate::result::{ByError, ByFrom, CarriesError, ResultFuture};
pub use crate::run::{
    Beside, ByOn, ByType, ByVerdict, HasSources, HoldsStopped, Judged, Known, MayStop, RunState,
    Runs,
};
pub use crate::site::{BudgetOf, DelaysOf, LimitOf, PolicyOf};
