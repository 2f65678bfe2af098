//! How an attempt ended.

use std::fmt;
use std::pin::Pin;

use tokio::time::Sleep;

use crate::explain::Words;
use crate::stopped::Stopped;

/// An attempt that ended.
#[derive(Debug)]
pub enum Ended<R, C> {
    /// The body returned this result.
    Returned(R),
    /// A limit cut it.
    Cut(C),
}

/// The limit that ended an attempt before its body returned.
// Four bytes: with one byte, the compiler splits a `u32` result, and a call with limits that is ready at once takes 7
// instructions more.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It reached its timeout.
    Timeout,
    /// It reached the deadline of the call.
    Deadline,
    /// The deadline, own or inherited, was reached before the attempt or its `before_retry` began.
    Late,
}

/// Why a call was stopped.
#[derive(Debug)]
pub struct Ending {
    pub(super) stopped: Stopped,
    /// Whether the caller gets the error of the last attempt, in place of a `Stopped`.
    pub(super) error_stands: bool,
}

impl Ending {
    /// Whether the caller gets the error of the last attempt, in place of a `Stopped`.
    pub(crate) fn error_stands(&self) -> bool {
        self.error_stands
    }

    pub(crate) fn into_stopped(self) -> Stopped {
        self.stopped
    }
}

/// The cut of a function without limits: there is none.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

/// What can cut a call: [`Cut`], or [`Never`] for a function without limits.
pub trait Cuts: Sized {
    /// Whether a timer may cut its attempts.
    const LIMITED: bool;

    /// The timer in the future of an attempt. Without limits, there is no room for one.
    type Timer: Default;

    /// Returns the place for a timer, or `None` for a function without limits.
    fn slot(timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>>;

    /// Returns the cut, or `None` for a function without limits.
    fn from(cut: Cut) -> Option<Self>;
}

impl Cuts for Cut {
    const LIMITED: bool = true;
    type Timer = Option<Sleep>;

    #[inline]
    fn slot(timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>> {
        Some(timer)
    }

    #[inline]
    fn from(cut: Cut) -> Option<Self> {
        Some(cut)
    }
}

impl Cuts for Never {
    const LIMITED: bool = false;
    type Timer = ();

    #[inline]
    fn slot(_timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>> {
        None
    }

    #[inline]
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
