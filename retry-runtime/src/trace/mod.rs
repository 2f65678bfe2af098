//! The events of a call, for `tracing`.
//!
//! Arguments are never recorded. The text of an error is made only if the event is wanted. A function logs each message
//! at most ten times a second. The next line says how many were left out.

#[cfg(feature = "tracing")]
mod events;
#[cfg(feature = "tracing")]
mod lines;
#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod spans;

use std::fmt::Display;
use std::panic::Location;
use std::time::Duration;

#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::*;
#[cfg(feature = "tracing")]
pub(crate) use self::{events::*, lines::Lines, spans::*};
use crate::budget::BudgetRef;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::report::Which;
use crate::stopped::Outcome;

/// What happens to a call, for an event.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "tracing"),
    expect(dead_code, reason = "only events say it")
)]
pub(crate) enum Event<'a> {
    /// Another attempt will follow after this delay: level debug.
    Retrying(FailedWith<'a>, Duration),
    /// No attempt will follow: level warn, or debug for an error that is not retryable, because the caller deals with that, and
    /// for a call that was cancelled, because the caller asked for it.
    /// It has the budget of the call if that refused the retry.
    GaveUp(FailedWith<'a>, Outcome, Option<BudgetRef<'a>>),
    /// The call has been failing for a minute or longer, and goes on after this delay: level warn, once in a minute for each function.
    StillFailing(FailedWith<'a>, Duration),
    /// One of two attempts failed, and the other still runs: level debug.
    SetAside(FailedWith<'a>),
    /// An attempt waits this long for the end of the pause of its budget: level debug.
    Paused(Duration),
    /// A hedge begins: level debug.
    Hedged,
    /// A later attempt succeeded: level info.
    Succeeded,
    /// The function has fewer attempts than its policy allows, because outer calls retry too: level info, once for
    /// each function.
    FewerAttempts { allowed: u32, own: u32 },
    /// The function waits on a thread that runs the tasks of a runtime: level warn, once for each function.
    Blocked,
}

/// How an attempt failed: its verdict, and its error in words.
#[derive(Clone, Copy)]
pub(crate) struct FailedWith<'a> {
    pub(crate) verdict: Verdict,
    /// The text is made when a subscriber wants it, and not before.
    pub(crate) words: &'a dyn Display,
}

/// What events and spans say of the call.
#[cfg_attr(
    not(feature = "tracing"),
    expect(dead_code, reason = "only events and spans say it")
)]
pub(crate) struct CallInTrace<'a> {
    pub(crate) function: &'static str,
    /// Where the function is in the user's source.
    pub(crate) place: &'static Location<'static>,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) which: Which,
    /// When the call began, if that is known. Only an event that is written reads the clock.
    pub(crate) started: Option<Stamp>,
    pub(crate) lines: &'a Lines,
}
