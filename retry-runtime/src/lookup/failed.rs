//! An error that an attempt returned, with the questions that generated code asks it.

use std::error::Error;
use std::fmt;
use std::ops::Deref;

use super::{Find, Probe};

pub(crate) type BoxedError = Box<dyn Error + Send + Sync>;

/// An error that an attempt returned.
///
/// Method lookup finds `kept` here or in [`NotKept`], `said` in [`Probe`] or behind it, and `words` in
/// [`Explain`](super::Explain) or behind it.
///
/// Method lookup ignores lifetimes, so generated code must not call `kept` if the error type borrows.
pub struct Failed<'e, E> {
    error: NotKept<'e, E>,
    vetoed: bool,
}

/// Keeps the last error.
#[derive(Debug)]
pub struct Remembers;

/// Keeps nothing.
#[derive(Debug)]
pub struct Forgets;

/// An error that is not kept, because it is not `Send` or does not convert into a boxed error.
pub struct NotKept<'e, E>(Probe<'e, E>);

impl<'e, E> Failed<'e, E> {
    #[inline]
    pub(crate) fn new(error: &'e E, vetoed: bool) -> Self {
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

impl<E> fmt::Debug for Failed<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

levels! {
    ['e, E] NotKept<'e, E> => Probe<'e, E>;
}
