//! What an attempt of a function that is not async is given.

use super::{Argument, Lent};

impl<T: Clone> Argument<'_, T> {
    /// Clones it.
    #[inline]
    #[must_use]
    pub fn on_this_thread(&self) -> T {
        self.own()
    }
}

impl<'a, T> Lent<'a, T> {
    /// Lends it. No attempt crosses threads, so it need not be `Sync`.
    #[inline]
    #[must_use]
    pub const fn on_this_thread(&self) -> &'a T {
        self.lend()
    }
}

/// Takes an argument that each attempt gets a clone of. Generated code calls it where it is never reached, so that
/// lints see what they see in the plain function: the argument is handed over.
#[cold]
pub fn handed_over<T>(_argument: T) -> ! {
    unreachable!("it is behind an `if false`")
}
