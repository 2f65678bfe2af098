//! What an attempt is given of an argument that the body hands over.

use std::ops::Deref;

/// An argument that the body hands over: a clone where its type is `Clone`, else a reference.
///
/// ```text
/// Output: Argument::new(&x).for_each_attempt()
/// ```
///
/// The choice is the compiler's: it looks for the method here first, where it applies to a `Clone`
/// type, and then through `Deref`. So generic code gets no new bound.
#[derive(Debug)]
pub struct Argument<'a, T>(Lent<'a, T>);

/// What becomes of an argument that is not `Clone`.
#[derive(Debug)]
pub struct Lent<'a, T>(&'a T);

impl<'a, T> Argument<'a, T> {
    /// Takes the argument as the caller passed it.
    #[inline]
    #[must_use]
    pub const fn new(argument: &'a T) -> Self {
        Self(Lent(argument))
    }
}

impl<T: Clone> Argument<'_, T> {
    /// Clones it.
    #[inline]
    #[must_use]
    pub fn for_each_attempt(&self) -> T {
        self.0.0.clone()
    }
}

impl<'a, T> Deref for Argument<'a, T> {
    type Target = Lent<'a, T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, T> Lent<'a, T> {
    /// Lends it.
    #[inline]
    #[must_use]
    pub const fn for_each_attempt(&self) -> &'a T {
        self.0
    }
}

/// Clones an argument that no attempt can do without.
#[inline]
pub fn cloned<T: ForEachAttempt>(argument: &T) -> T {
    argument.for_each_attempt()
}

/// A value that each attempt can have for itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is used up by the first attempt, and it is not `Clone`",
    label = "value used more than once: every attempt starts from this argument",
    note = "borrow it (`&{Self}`), share it (`Arc<{Self}>`), or make it `Clone`: derive that, or add it as a bound",
    note = "`clone()` in the attribute clones no argument, and lends this one to each attempt in turn"
)]
pub trait ForEachAttempt: Sized {
    /// One for the next attempt.
    #[must_use]
    fn for_each_attempt(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> ForEachAttempt for T {
    #[inline]
    fn for_each_attempt(&self) -> Self {
        self.clone()
    }
}
