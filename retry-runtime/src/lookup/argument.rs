//! What each attempt gets of an argument that the body hands over: a clone or a reference.

mod as_ref;
mod blocking;
mod handed;
mod refused;

use std::ops::Deref;

use super::Level;

pub use self::as_ref::{ArgumentAs, LentAs};
pub use self::blocking::handed_over;
pub use self::handed::Handed;
pub use self::refused::{Each, FindsSelfAgain, ForEachAttempt, LentAcrossThreads, StartsAnew};

/// An argument that the body hands over. Each attempt gets a clone if its type is `Clone`, else a reference.
///
/// ```text
/// Output: Argument::new(&x).for_each_attempt()
/// ```
pub type Argument<'a, T> = Level<Lent<'a, T>>;

/// An argument whose type is not `Clone`.
// This level and the next are no aliases, because rustc names them where it reports a bound.
#[derive(Debug)]
pub struct Lent<'a, T>(Unshared<'a, T>);

/// An argument whose type is neither `Clone` nor `Sync`.
#[derive(Debug)]
pub struct Unshared<'a, T>(LentLocally<'a, T>);

/// An argument whose type is not `Clone`, `Sync` or `Send`. It never leaves its thread.
#[derive(Debug)]
pub struct LentLocally<'a, T>(&'a T);

impl<'a, T> Argument<'a, T> {
    /// Takes the argument as the caller passed it.
    pub const fn new(argument: &'a T) -> Self {
        Level(Lent(Unshared(LentLocally(argument))))
    }
}

impl<T: Clone> Argument<'_, T> {
    /// Clones the argument.
    pub fn for_each_attempt(&self) -> T {
        self.0.0.0.0.clone()
    }

    /// Clones an argument that each attempt must own.
    pub fn own(&self) -> T {
        self.0.0.0.0.clone()
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

impl<'a, T> Lent<'a, T> {
    /// Lends the argument. Generated code calls this if a reference has the bounds of the argument's type.
    pub const fn lend(&self) -> &'a T {
        self.0.0.0
    }

    /// Refuses the argument: each attempt must own it, and its type is not `Clone`.
    #[rustfmt::skip]
    pub fn own(&self) -> T where Each: ForEachAttempt<T> { Each::own(self.0.0.0) }

    /// Refuses `self`: each attempt must own it, and its type is not `Clone`.
    #[rustfmt::skip]
    pub fn own_self(&self) -> T where Each: FindsSelfAgain<T> { Each::own_self(self.0.0.0) }

    /// Refuses a `mut self`: each attempt must own it, and its type is not `Clone`.
    #[rustfmt::skip]
    pub fn own_mut_self(&self) -> T where Each: StartsAnew<T> { Each::own_mut_self(self.0.0.0) }
}

impl<'a, T: Sync> Lent<'a, T> {
    /// Lends the argument.
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0.0.0
    }
}

impl<T: Send> Unshared<'_, T> {
    /// Refuses to lend the argument. The future would not be `Send`, but the future of the plain function is. The value
    /// has the type of the argument, so that the body causes no second error.
    #[rustfmt::skip]
    pub fn for_each_attempt(&self) -> T where Each: LentAcrossThreads<T> { Each::lend(self.0.0) }
}

impl<'a, T> LentLocally<'a, T> {
    /// Lends the argument.
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0
    }
}

impl<'a, T> Deref for Lent<'a, T> {
    type Target = Unshared<'a, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, T> Deref for Unshared<'a, T> {
    type Target = LentLocally<'a, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// An argument of which the body may move fields. Each attempt gets a clone if its type is `Clone`. If not, it gets a
/// unique reference, through which the body copies or reborrows a field.
///
/// ```text
/// Output: let mut parts = Parts::new(&mut x);
///         let mut x = parts.for_each_attempt();
/// ```
pub type Parts<'a, T> = Level<LentParts<'a, T>>;

/// [`Parts`] of an argument whose type is not `Clone`.
#[derive(Debug)]
pub struct LentParts<'a, T>(&'a mut T);

impl<'a, T> Parts<'a, T> {
    /// Takes the argument as the caller passed it.
    pub const fn new(argument: &'a mut T) -> Self {
        Level(LentParts(argument))
    }
}

impl<T: Clone> Parts<'_, T> {
    /// Clones the argument.
    pub fn for_each_attempt(&mut self) -> T {
        self.0.0.clone()
    }
}

impl<T> LentParts<'_, T> {
    /// Lends the argument.
    pub const fn for_each_attempt(&mut self) -> &mut T {
        self.0
    }
}
