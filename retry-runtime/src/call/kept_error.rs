//! The last real error, kept for the case that a later attempt is cut.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with a limit
//! keeps the error of its last failed attempt across the wait, where that error is `Send` and converts
//! into a boxed one. Where it does not, the error is dropped before the wait: keeping it would spoil the
//! future for `tokio::spawn`.

use std::error::Error as StdError;
use std::marker::PhantomData;
use std::ops::Deref;

use super::ended::Ending;
use crate::result::FromStopped;
use crate::stopped::Stopped;

type BoxedError = Box<dyn StdError + Send + Sync>;

/// Chooses between [`Remembers`] and [`Forgets`] by the error's type.
///
/// ```text
/// Output: call.kept_error::<E>().choose()
/// ```
///
/// The compiler looks for the method here first, where it applies to the errors that can be kept,
/// and then through `Deref`. It looks at traits only, never at lifetimes: an error type that borrows
/// must not come here.
#[derive(Debug)]
pub struct KeptError<E, const LIMITED: bool>(Forgets, PhantomData<fn() -> E>);

impl<E, const LIMITED: bool> KeptError<E, LIMITED> {
    #[inline]
    pub(super) fn new() -> Self {
        Self(Forgets, PhantomData)
    }
}

impl<E: Send + Into<BoxedError>> KeptError<E, true> {
    /// Keeps it.
    #[inline]
    #[must_use]
    pub fn choose(&self) -> Remembers<E> {
        Remembers(None)
    }
}

impl<E, const LIMITED: bool> Deref for KeptError<E, LIMITED> {
    type Target = Forgets;

    #[inline]
    fn deref(&self) -> &Forgets {
        &self.0
    }
}

/// Keeps the last error.
#[derive(Debug)]
pub struct Remembers<E>(Option<E>);

impl<E> Remembers<E> {
    /// Keeps the error of an attempt that another will follow.
    #[inline]
    pub fn keep(&mut self, error: E) {
        self.0 = Some(error);
    }
}

/// Keeps nothing.
#[derive(Debug)]
pub struct Forgets;

impl Forgets {
    /// The choice for every error that cannot be kept.
    #[inline]
    #[must_use]
    pub fn choose(&self) -> Self {
        Self
    }

    /// Drops it.
    #[inline]
    pub fn keep<E>(&mut self, _error: E) {}
}

/// What a call that was stopped asks of the place where an error is kept.
pub trait LastError<E> {
    /// Makes the error of the call, with the kept one as its source.
    fn make_error<M>(&mut self, ending: Ending) -> E
    where
        E: FromStopped<M>;
}

impl<E: Into<BoxedError>> LastError<E> for Remembers<E> {
    #[cold]
    fn make_error<M>(&mut self, ending: Ending) -> E
    where
        E: FromStopped<M>,
    {
        match (self.0.take(), ending.error_stands) {
            (Some(error), true) => error,
            (last, _) => E::from_stopped(Stopped {
                source: last.map(Into::into),
                ..ending.stopped
            }),
        }
    }
}

impl<E> LastError<E> for Forgets {
    #[cold]
    fn make_error<M>(&mut self, ending: Ending) -> E
    where
        E: FromStopped<M>,
    {
        E::from_stopped(ending.stopped)
    }
}
