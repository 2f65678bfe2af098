//! The error of the last attempt, kept in case a limit cuts a later attempt.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with limits keeps the
//! error of its last attempt during the wait. It does so only if the error is `Send`, since the future could not be
//! spawned otherwise, and if it converts into a boxed error. Other errors are dropped before the wait.

use super::Ending;
use crate::lookup::{BoxedError, Forgets, Remembers};
use crate::stopped::Stopped;

/// Says whether a call keeps its last error: [`Remembers`] or [`Forgets`].
pub trait Keeps<E> {
    /// The type that the call holds.
    type Kept;

    /// Keeps or drops the error of an attempt, before the call waits for the next one.
    fn keep(error: E) -> Option<Self::Kept>;
}

/// An error that is kept.
#[derive(Debug)]
pub struct Kept<E>(E);

/// What a call holds if it keeps no error.
#[derive(Debug)]
pub enum Nothing {}

impl<E> Keeps<E> for Remembers {
    type Kept = Kept<E>;

    #[inline]
    fn keep(error: E) -> Option<Kept<E>> {
        Some(Kept(error))
    }
}

impl<E> Keeps<E> for Forgets {
    type Kept = Nothing;

    #[inline]
    fn keep(_error: E) -> Option<Nothing> {
        None
    }
}

/// Makes the error of a call that was stopped, from the error that it kept.
pub trait LastError<E> {
    /// Makes the error of the call, with the kept one as its source. `stopped` makes an error without it.
    fn make_error(self, ending: Ending, stopped: impl FnOnce(Stopped) -> E) -> E;
}

impl<E: Into<BoxedError>> LastError<E> for Kept<E> {
    #[cold]
    fn make_error(self, ending: Ending, stopped: impl FnOnce(Stopped) -> E) -> E {
        if ending.error_stands {
            return self.0;
        }
        stopped(ending.stopped.with_source(self.0.into()))
    }
}

impl<E> LastError<E> for Nothing {
    fn make_error(self, _ending: Ending, _stopped: impl FnOnce(Stopped) -> E) -> E {
        match self {}
    }
}
