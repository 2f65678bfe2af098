//! The last real error, kept for the case that a later attempt is cut.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with a limit
//! keeps the error of its last failed attempt across the wait, where that error is `Send` and converts
//! into a boxed one. Where it does not, the error is dropped before the wait: keeping it would spoil the
//! future for `tokio::spawn`.

use std::error::Error as StdError;
use std::ops::Deref;

use super::ended::Ending;
use crate::result::FromStopped;
use crate::stopped::Stopped;

pub(super) type BoxedError = Box<dyn StdError + Send + Sync>;

/// Whether a call keeps its last error: [`Remembers`] or [`Forgets`].
pub trait Keeps<E> {
    /// What the call holds.
    type Kept;

    /// Keeps the error of an attempt that another will follow, or drops it.
    fn keep(error: E) -> Option<Self::Kept>;
}

/// Keeps the last error.
#[derive(Debug)]
pub struct Remembers;

/// Keeps nothing.
#[derive(Debug)]
pub struct Forgets;

/// An error that is kept.
#[derive(Debug)]
pub struct Kept<E>(E);

/// What a call holds that keeps nothing.
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

/// What a call that was stopped asks of the error that it kept.
pub trait LastError<E> {
    /// Makes the error of the call, with the kept one as its source.
    fn make_error<M>(self, ending: Ending) -> E
    where
        E: FromStopped<M>;
}

impl<E: Into<BoxedError>> LastError<E> for Kept<E> {
    #[cold]
    fn make_error<M>(self, ending: Ending) -> E
    where
        E: FromStopped<M>,
    {
        if ending.error_stands {
            return self.0;
        }
        E::from_stopped(Stopped {
            source: Some(self.0.into()),
            ..ending.stopped
        })
    }
}

impl<E> LastError<E> for Nothing {
    fn make_error<M>(self, _ending: Ending) -> E
    where
        E: FromStopped<M>,
    {
        match self {}
    }
}

/// Where the last error of a function is kept, if its limits are in a policy of which only the compiler knows whether
/// it has any.
// Two levels, between which rustc chooses. If the policy is wrong, that is then the only error: two methods of the
// same name in the `impl`s of `Call` would each be another.
#[derive(Debug)]
pub struct Keeper<const LIMITED: bool>(pub(super) NoKeeper);

/// Where nothing is kept.
#[derive(Debug)]
pub struct NoKeeper;

impl Keeper<true> {
    /// Nothing yet.
    #[inline]
    #[must_use]
    pub fn empty<K>(&self) -> Option<K> {
        None
    }
}

impl<const LIMITED: bool> Deref for Keeper<LIMITED> {
    type Target = NoKeeper;

    #[inline]
    fn deref(&self) -> &NoKeeper {
        &self.0
    }
}

impl NoKeeper {
    /// Nothing ever.
    #[inline]
    #[must_use]
    pub fn empty(&self) -> Option<Nothing> {
        None
    }
}
