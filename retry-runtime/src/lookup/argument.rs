//! What each attempt gets of an argument that the body hands over: a clone or a reference.

mod refused;

use std::ops::Deref;

use super::Level;

pub use self::refused::{Each, FindsSelfAgain, ForEachAttempt, LentAcrossThreads, StartsAnew};

/// An argument that the body hands over. Each attempt gets a clone if its type is `Clone`, else a reference.
///
/// ```text
/// Output: Argument::new(&x).for_each_attempt()
/// ```
pub type Argument<'a, T> = Level<Shared<'a, T>>;

/// An argument whose type is `Sync`, and not `Clone`.
type Shared<'a, T> = Level<Unshared<'a, T>>;

/// An argument whose type is neither `Clone` nor `Sync`.
// This level and the next are no aliases, because rustc names them where it reports a bound.
#[derive(Debug)]
pub struct Unshared<'a, T>(Lent<'a, T>);

/// An argument whose type is not `Clone`.
#[derive(Debug)]
pub struct Lent<'a, T>(&'a T);

impl<'a, T> Argument<'a, T> {
    /// Takes the argument as the caller passed it.
    pub const fn new(argument: &'a T) -> Self {
        Level(Level(Unshared(Lent(argument))))
    }
}

impl<T: Clone> Argument<'_, T> {
    /// Clones the argument.
    pub fn for_each_attempt(&self) -> T {
        self.own()
    }

    /// Clones the argument of a blocking function.
    pub fn on_this_thread(&self) -> T {
        self.own()
    }

    /// Clones an argument that each attempt must own.
    pub fn own(&self) -> T {
        self.lend().clone()
    }

    /// Clones `self`, which each attempt must own.
    pub fn own_self(&self) -> T {
        self.own()
    }

    /// Clones a `mut self`.
    pub fn own_mut_self(&self) -> T {
        self.own()
    }
}

impl<'a, T: Sync> Shared<'a, T> {
    /// Lends the argument.
    pub fn for_each_attempt(&self) -> &'a T {
        self.lend()
    }
}

impl<T: Send> Unshared<'_, T> {
    /// Refuses to lend the argument. The future would not be `Send`, but the future of the plain function is. The value
    /// has the type of the argument, so that the body causes no second error.
    #[rustfmt::skip]
    pub fn for_each_attempt(&self) -> T where Each: LentAcrossThreads<T> { unreachable!() }
}

impl<'a, T> Lent<'a, T> {
    /// Lends an argument that never leaves its thread, as its type is not `Send`.
    pub const fn for_each_attempt(&self) -> &'a T {
        self.lend()
    }

    /// Lends the argument of a blocking function. All attempts run on one thread, so its type need not be `Sync`.
    pub const fn on_this_thread(&self) -> &'a T {
        self.lend()
    }

    /// Refuses the argument: each attempt must own it, and its type is not `Clone`.
    #[rustfmt::skip]
    pub fn own(&self) -> T where Each: ForEachAttempt<T> { unreachable!() }

    /// Refuses `self`: each attempt must own it, and its type is not `Clone`.
    #[rustfmt::skip]
    pub fn own_self(&self) -> T where Each: FindsSelfAgain<T> { unreachable!() }

    /// Refuses a `mut self`: each attempt must own it, and its type is not `Clone`.
    #[rustfmt::skip]
    pub fn own_mut_self(&self) -> T where Each: StartsAnew<T> { unreachable!() }

    const fn lend(&self) -> &'a T {
        self.0
    }
}

impl<'a, T> Deref for Unshared<'a, T> {
    type Target = Lent<'a, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Takes an argument that each attempt of a blocking function gets a clone of. Generated code calls this function in code that
/// never runs. Lints then see that the argument is handed over, as in the plain function.
#[cold]
pub fn handed_over<T>(_argument: T) -> ! {
    unreachable!("generated code calls this only behind `if false`")
}
