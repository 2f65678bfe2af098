//! What can cut a call before its body returns. A function without limits has nothing that could.

use std::fmt;
use std::pin::Pin;

use crate::clock::Sleep;

/// The limit that ended an attempt before its body returned, or `until`, which does not accept what the body returned.
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
    /// The pause of the budget does not fit the deadline, own or inherited. No attempt began.
    Paused,
    /// The body returned an `Ok` that is not ready, as `until` says.
    NotReady,
    /// The `cancel` future completed.
    Cancelled,
}

/// The cut of a function without limits: there is none.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

/// What can cut a call: [`Cut`], or [`Never`] for a function without limits.
pub trait Limits: Copy + Into<Cut> {
    /// Whether a timer may cut its attempts.
    const LIMITED: bool;

    /// The timer in the future of an attempt. Without limits, there is no room for one.
    type Timer: Default + Send;

    /// Returns the place for a timer, or `None` for a function without limits.
    fn slot(timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>>;

    /// Returns the cut, or `None` for a function without limits.
    fn from(cut: Cut) -> Option<Self>;
}

impl Limits for Cut {
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

impl Limits for Never {
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

impl From<Never> for Cut {
    fn from(cut: Never) -> Self {
        match cut {}
    }
}

impl Cut {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timed out",
            Self::Deadline => "deadline reached",
            Self::Late => "the wait ended after the deadline",
            Self::Paused => "the pause of the budget does not fit the deadline",
            Self::NotReady => "not ready",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
