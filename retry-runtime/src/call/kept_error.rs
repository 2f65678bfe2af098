//! The error of the last attempt, kept in case a limit cuts a later attempt.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with limits keeps the
//! error of its last attempt during the wait. It does so only if the error is `Send`, since the future could not be
//! spawned otherwise, and if it converts into a boxed error. Other errors are dropped before the wait.

use super::{Cut, Ending, Never};
use crate::lookup::client::{By, Foreign};
use crate::lookup::{BoxedError, Forgets, Remembers};
use crate::stopped::Stopped;

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
