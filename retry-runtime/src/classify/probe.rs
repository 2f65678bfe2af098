//! What an error says of itself, without a bound on its type.

use std::fmt;
use std::ops::Deref;

use super::verdict::{Retryable, Said};

/// Asks an error for its verdict, whether or not its type has one.
///
/// Method lookup chooses: the inherent method of `Probe` where `E: Retryable` is known at that place,
/// else the one behind `Deref`. The choice is made where the call is written, so it has to be written
/// by generated code, where `E` is the caller's type; inside a generic function of ours it would always
/// be the second. Any type works: concrete, an alias, a type parameter with or without the bound.
///
/// ```text
/// // Output:
/// $root::__private::Probe::new(error).said()       // error: &E
/// ```
pub struct Probe<'a, E: ?Sized>(Mute<'a, E>);

impl<'a, E: ?Sized> Probe<'a, E> {
    /// Takes the error that will be asked.
    #[inline]
    pub const fn new(error: &'a E) -> Self {
        Self(Mute(error))
    }
}

impl<E: Retryable + ?Sized> Probe<'_, E> {
    /// What the error says of itself.
    #[must_use]
    pub fn said(&self) -> Said {
        Said::of(self.0.0)
    }
}

impl<'a, E: ?Sized> Deref for Probe<'a, E> {
    type Target = Mute<'a, E>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// An error whose type was not made to say anything.
pub struct Mute<'a, E: ?Sized>(&'a E);

impl<E: ?Sized> Mute<'_, E> {
    /// Nothing is known.
    #[must_use]
    pub fn said(&self) -> Said {
        Said::UNKNOWN
    }
}

impl<E: ?Sized> fmt::Debug for Probe<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: ?Sized> fmt::Debug for Mute<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `E` need not be `Debug`.
        f.write_str(std::any::type_name::<E>())
    }
}
