//! The events of a call, for `tracing`.
//!
//! Arguments are never recorded. The text of an error is made only if the event is wanted. A function logs each message
//! at most ten times a second. The next line says how many were left out.

#[cfg(feature = "tracing")]
mod asked;
#[cfg(feature = "tracing")]
mod events;
#[cfg(feature = "tracing")]
mod lines;
#[cfg(not(feature = "tracing"))]
mod off;
#[cfg(feature = "tracing")]
mod spans;

use std::panic::Location;
use std::time::Duration;

#[cfg(not(feature = "tracing"))]
pub(crate) use self::off::*;
#[cfg(feature = "tracing")]
pub(crate) use self::{events::*, lines::Lines, spans::*};
use crate::budget::BudgetOfCall;
use crate::classify::Verdict;

/// What an event says of a failed attempt.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "tracing"),
    expect(dead_code, reason = "only events say it")
)]
pub(crate) struct FailedAttempt<'a> {
    pub(crate) function: &'static str,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) verdict: Verdict,
    /// How long the call took, if its start is known. It reads the clock, so it is called only if the event is wanted.
    pub(crate) elapsed: &'a dyn Fn() -> Option<Duration>,
    /// The error in words.
    pub(crate) words: &'a dyn Words,
    /// The budget of the call, unless a call inside was refused.
    pub(crate) budget: Option<BudgetOfCall<'a>>,
    pub(crate) lines: &'a Lines,
}

/// What a span says when it opens.
#[cfg_attr(
    not(feature = "tracing"),
    expect(dead_code, reason = "only spans say it")
)]
pub(crate) struct Begun {
    pub(crate) function: &'static str,
    /// Where the function is in the user's source.
    pub(crate) place: &'static Location<'static>,
    pub(crate) attempt: u32,
    pub(crate) attempts: Option<u32>,
    pub(crate) hedge: bool,
}

/// Makes a text when a subscriber wants it, and not before.
pub trait Words {
    /// Returns the text.
    fn text(&self) -> String;
}

impl Words for &str {
    fn text(&self) -> String {
        (*self).to_owned()
    }
}
