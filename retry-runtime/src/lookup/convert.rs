//! An argument that the body can only convert: `impl Into<X>`, or an `Option` of it.

use std::marker::PhantomData;

use super::Level;

/// How each attempt gets an argument of type `Option<impl Into<X>>`. If `X` is `Clone`, the argument is converted before
/// the first attempt, and each attempt clones the `X`.
///
/// ```text
/// Output: let x = Convert::<X, _>::of(&x).once(x);
/// ```
pub type Convert<X, T> = Level<ConvertWhole<X, T>>;

/// [`Convert`] for an argument of any other type.
type ConvertWhole<X, T> = Level<Unconverted<X, T>>;

/// [`Convert`] into a type that is not `Clone`.
#[derive(Debug)]
pub struct Unconverted<X, T>(PhantomData<fn(T) -> X>);

impl<X, T> Convert<X, T> {
    /// Takes the type of the argument.
    pub const fn of(_: &T) -> Self {
        Level(Level(Unconverted(PhantomData)))
    }
}

impl<X: Clone, T: Into<X>> Convert<X, Option<T>> {
    /// Converts the argument. The body can convert the result, as it can convert the argument, and nothing else.
    pub fn once(&self, argument: Option<T>) -> Option<impl Into<X> + Clone + use<X, T>> {
        argument.map(T::into)
    }
}

impl<X: Clone, T: Into<X>> ConvertWhole<X, T> {
    /// Converts the argument. The body can convert the result, as it can convert the argument, and nothing else.
    pub fn once(&self, argument: T) -> impl Into<X> + Clone + use<X, T> {
        argument.into()
    }
}

impl<X, T> Unconverted<X, T> {
    /// Returns the argument.
    pub fn once(&self, argument: T) -> T {
        argument
    }
}
