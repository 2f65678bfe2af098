//! An error that an attempt returned, as the rules of an attribute see it.

use std::fmt;
use std::ops::Deref;

use super::kept_error::{BoxedError, Forgets, Remembers};
use crate::classify::{Find, Probe};

/// An error that an attempt returned.
///
/// Method lookup chooses each answer by what `E` implements, where the call is written: `kept` here or in
/// [`NotKept`], `said` in [`Probe`] or behind it, and `words` in [`Explain`](crate::explain::Explain) or behind it.
/// It looks at traits only, never at lifetimes: for an error type that borrows, `kept` must not be asked.
pub struct Failed<'e, E> {
    error: NotKept<'e, E>,
    vetoed: bool,
}

/// An error that is not kept: it is not `Send`, or does not convert into a boxed one.
pub struct NotKept<'e, E>(Probe<'e, E>);

impl<'e, E> Failed<'e, E> {
    #[inline]
    pub(super) fn new(error: &'e E, vetoed: bool) -> Self {
        Self {
            error: NotKept(Probe::new(error)),
            vetoed,
        }
    }

    /// Whether `unless` or `not_on` forbids another attempt.
    #[inline]
    #[must_use]
    pub fn is_vetoed(&self) -> bool {
        self.vetoed
    }

    /// Searches the error for errors of type `A`.
    #[inline]
    #[must_use]
    pub fn search<A>(&self) -> Find<'e, E, A> {
        Find::new(self.error())
    }
}

impl<E: Send + Into<BoxedError>> Failed<'_, E> {
    /// Chooses whether the error is kept.
    #[inline]
    #[must_use]
    pub fn kept(&self) -> Remembers {
        Remembers
    }
}

impl<E> NotKept<'_, E> {
    /// Chooses whether the error is kept.
    #[inline]
    #[must_use]
    pub fn kept(&self) -> Forgets {
        Forgets
    }
}

impl<'e, E> Deref for Failed<'e, E> {
    type Target = NotKept<'e, E>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.error
    }
}

impl<'e, E> Deref for NotKept<'e, E> {
    type Target = Probe<'e, E>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<E> fmt::Debug for Failed<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E> fmt::Debug for NotKept<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
