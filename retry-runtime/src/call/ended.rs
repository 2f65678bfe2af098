//! How an attempt ended.

use std::fmt;

use crate::explain::Words;
use crate::stopped::Stopped;

/// An attempt that ended.
#[derive(Debug)]
pub enum Ended<R, C> {
    /// The body returned this result.
    Returned(R),
    /// It was cut.
    Cut(C),
}

/// What ended an attempt before its body did.
// As wide as a small value beside it: with one byte, a call with limits that gives a `u32` takes 7 instructions
// more, since the compiler takes the value apart for it.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It reached its timeout.
    Timeout,
    /// It reached the deadline of the call.
    Deadline,
    /// It never began: the deadline was reached before.
    Late,
}

/// Why a call ends that was stopped.
#[derive(Debug)]
pub struct Ending {
    pub(super) stopped: Stopped,
    /// Whether the last attempt returned an error, which is then what the caller gets.
    pub(super) error_stands: bool,
}

impl Ending {
    /// Whether the last attempt returned an error, which is then what the caller gets.
    pub(crate) fn error_stands(&self) -> bool {
        self.error_stands
    }

    pub(crate) fn into_stopped(self) -> Stopped {
        self.stopped
    }
}

/// What never ends the attempt of a function without limits.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

/// [`Cut`], or [`Never`] for a function without limits.
pub trait Cuts: Sized {
    /// The cut, if anything is ever cut.
    fn from(cut: Cut) -> Option<Self>;
}

impl Cuts for Cut {
    fn from(cut: Cut) -> Option<Self> {
        Some(cut)
    }
}

impl Cuts for Never {
    fn from(_cut: Cut) -> Option<Self> {
        None
    }
}

impl Words for Cut {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "timed out",
            Self::Deadline => "deadline reached",
            Self::Late => "the wait ended after the deadline",
        })
    }
}
