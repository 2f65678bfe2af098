//! The verdict of an error whose type may or may not implement `Retryable`.

use std::fmt;
use std::ops::Deref;

use super::Explain;
use crate::classify::{Retryable, Said};

/// Asks an error for its verdict. An error type that does not implement [`Retryable`] gives [`Said::UNKNOWN`].
///
/// Method lookup chooses: the method of `Probe` if `E: Retryable` is known, else the method of [`Mute`].
/// `E` can be any type: a concrete type, an alias, a type parameter with or without the bound.
///
/// ```text
/// // Output:
/// error.said()       // error: &Probe<E>
/// ```
pub struct Probe<'a, E: ?Sized>(Mute<'a, E>);

impl<'a, E: ?Sized> Probe<'a, E> {
    /// Takes the error to ask.
    #[inline]
    pub const fn new(error: &'a E) -> Self {
        Self(Mute(Explain::new(error)))
    }
}

impl<E: Retryable + ?Sized> Probe<'_, E> {
    /// Asks the error.
    #[must_use]
    pub fn said(&self) -> Said {
        Said::of(self.error())
    }
}

impl<'a, E: ?Sized> Deref for Probe<'a, E> {
    type Target = Mute<'a, E>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// An error whose type does not implement [`Retryable`]. [`Explain`], behind `Deref`, has the text of any error.
pub struct Mute<'a, E: ?Sized>(Explain<'a, E>);

impl<E: ?Sized> Mute<'_, E> {
    /// Returns [`Said::UNKNOWN`].
    #[must_use]
    pub fn said(&self) -> Said {
        Said::UNKNOWN
    }
}

impl<'a, E: ?Sized> Deref for Mute<'a, E> {
    type Target = Explain<'a, E>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<E: ?Sized> fmt::Debug for Probe<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: ?Sized> fmt::Debug for Mute<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
