//! The names that generated code uses. Do not use them yourself: they change without notice.

// A user's own `Some`, `Err` or `Duration` does not shadow these paths.
pub use std::ops::ControlFlow::{Break, Continue};
pub use std::option::Option::{None, Some};
pub use std::result::Result::{Err, Ok};
pub use std::time::Duration;

pub use crate::bounds::*;
#[cfg(any(test, feature = "testing"))]
pub use crate::budget::drive;
pub use crate::call::{
    AnyEnding, AsksDelay, Call, CallResult, Cut, Ending, Judgement, LastError, Limits, Never,
    NextAttemptAt, NoStopped, OnEnd, Preparing, RunsTwice, Said, Signal, Stops, ends, ends_of_both,
    unless, unless_begun, unless_blocking,
};
pub use crate::classify::{
    Assessment, IntoHint, Ruling, SaysNoEffect, ask, ask_delay, ask_ok, hint_in, says_no_effect,
    verdict_of,
};
pub use crate::context::note_key;
pub use crate::faulty::faulty;
pub use crate::forward::Forwards;
pub use crate::lookup::*;
pub use crate::result::{FromStopped, OfClosure, Prepared, ResultLike, typed};
pub use crate::site::{Limit, Site, SiteSettings, SiteState, limit, policy};
pub use crate::{Backoff, Jitter, Nested, Policy};
