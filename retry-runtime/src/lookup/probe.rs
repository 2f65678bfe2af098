//! The verdict of an error whose type may or may not implement `Retryable`.

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

/// An error whose type does not implement [`Retryable`]. [`Explain`], behind `Deref`, has the text of any error.
pub struct Mute<'a, E: ?Sized>(Explain<'a, E>);

impl<E: ?Sized> Mute<'_, E> {
    /// Returns [`Said::UNKNOWN`].
    #[must_use]
    pub fn said(&self) -> Said {
        Said::UNKNOWN
    }
}

levels! {
    ['a, E: ?Sized] Probe<'a, E> => Mute<'a, E>;
    ['a, E: ?Sized] Mute<'a, E> => Explain<'a, E>;
}
