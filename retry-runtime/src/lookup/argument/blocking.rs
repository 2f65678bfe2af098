//! What each attempt of a blocking function gets of an argument.

use super::{Argument, Lent};

impl<T: Clone> Argument<'_, T> {
    /// Clones the argument.
    pub fn on_this_thread(&self) -> T {
        self.own()
    }
}

impl<'a, T> Lent<'a, T> {
    /// Lends the argument. All attempts run on one thread, so its type need not be `Sync`.
    pub const fn on_this_thread(&self) -> &'a T {
        self.lend()
    }
}

/// Takes an argument that each attempt gets a clone of. Generated code calls this function in code that never runs.
/// Lints then see that the argument is handed over, as in the plain function.
#[cold]
pub fn handed_over<T>(_argument: T) -> ! {
    unreachable!("generated code calls this only behind `if false`")
}
