//! What can cut a call before its body returns, and the error that a call keeps for that. A function without limits has nothing
//! that could.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with limits keeps the
//! error of its last attempt during the wait. It does so only if the error is `Send`, since the future could not be
//! spawned otherwise, and if it converts into a boxed error. Other errors are dropped before the wait.

use std::fmt;
use std::pin::Pin;

use crate::clock::Sleep;
use crate::lookup::client::{By, Foreign};
use crate::lookup::{BoxedError, Forgets, Remembers};
use crate::stopped::Stopped;

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

/// Whether a call in which `C` can cut an attempt keeps an error `E` as `K`: [`Remembers`] or [`Forgets`]. Without limits, it
/// keeps none.
pub trait Keeps<C, E, K> {
    /// Keeps or drops the error of an attempt, before the call waits for the next one.
    fn keep(self, error: E) -> Option<K>;
}

/// An error that is kept.
#[derive(Debug)]
pub struct Kept<E>(E);

/// What a call holds if it keeps no error.
#[derive(Debug)]
pub enum Nothing {}

impl<E> Keeps<Cut, E, Kept<E>> for Remembers {
    #[inline]
    fn keep(self, error: E) -> Option<Kept<E>> {
        Some(Kept(error))
    }
}

impl<E> Keeps<Cut, E, Nothing> for Forgets {
    #[inline]
    fn keep(self, _error: E) -> Option<Nothing> {
        None
    }
}

impl<E> Keeps<Cut, E, Nothing> for Foreign {
    fn keep(self, _error: E) -> Option<Nothing> {
        None
    }
}

impl<M, E> Keeps<Never, E, Nothing> for M {
    #[inline]
    fn keep(self, _error: E) -> Option<Nothing> {
        None
    }
}

/// In which `Way` the error of a call is made from a [`Stopped`], if a limit `C` can stop it. For an error of a client there is
/// none, and its message names a type that has one.
pub trait Chooses<C, Way> {}

impl<C, Way> Chooses<C, Way> for Remembers {}
impl<C, Way> Chooses<C, Way> for Forgets {}
impl Chooses<Cut, By<Self>> for Foreign {}
impl Chooses<Never, ()> for Foreign {}

/// Why a call was stopped.
#[derive(Debug)]
pub struct StopReason {
    pub(crate) stopped: Stopped,
    /// Whether the caller gets the error of the last attempt, in place of a `Stopped`.
    pub(crate) error_stands: bool,
}

/// Makes the error of a call that was stopped, from the error that it kept.
pub trait LastError<E> {
    /// Makes the error of the call, with the kept one as its source. `stopped` makes an error without it.
    fn make_error(self, reason: StopReason, stopped: impl FnOnce(Stopped) -> E) -> E;
}

impl<E: Into<BoxedError>> LastError<E> for Kept<E> {
    #[cold]
    fn make_error(self, reason: StopReason, stopped: impl FnOnce(Stopped) -> E) -> E {
        if reason.error_stands {
            return self.0;
        }
        stopped(reason.stopped.with_source(self.0.into()))
    }
}

impl<E> LastError<E> for Nothing {
    fn make_error(self, _reason: StopReason, _stopped: impl FnOnce(Stopped) -> E) -> E {
        match self {}
    }
}
