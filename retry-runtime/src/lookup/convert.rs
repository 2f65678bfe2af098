//! An argument that the body can only convert: `impl Into<X>`, or an `Option` of it.

use std::marker::PhantomData;

/// How each attempt gets an argument of type `T: Into<X>`. If `X` is `Clone`, the argument is converted before the first
/// attempt, and each attempt clones the `X`.
///
/// ```text
/// Output: let x = Convert::<X, _>::of(&x).once(x);
/// ```
pub struct Convert<X, T>(Unconverted<X, T>);

/// [`Convert`] into a type that is not `Clone`.
#[derive(Debug)]
pub struct Unconverted<X, T>(PhantomData<fn(T) -> X>);

impl<X, T> Convert<X, T> {
    /// Takes the type of the argument.
    #[inline]
    #[must_use]
    pub const fn of(_: &T) -> Self {
        Self(Unconverted(PhantomData))
    }
}

impl<X: Clone, T: Into<X>> Convert<X, T> {
    /// Converts the argument. The body can convert the result, as it can convert the argument, and nothing else.
    #[inline]
    pub fn once(&self, argument: T) -> impl Into<X> + Clone + use<X, T> {
        argument.into()
    }
}

impl<X: Clone, T: Into<X>> Convert<X, Option<T>> {
    /// Does the same with the argument in an `Option`.
    #[inline]
    pub fn once_if_some(&self, argument: Option<T>) -> Option<impl Into<X> + Clone + use<X, T>> {
        argument.map(T::into)
    }
}

impl<X, T> Unconverted<X, T> {
    /// Returns the argument.
    #[inline]
    pub fn once(&self, argument: T) -> T {
        argument
    }

    /// Returns the argument.
    #[inline]
    pub fn once_if_some(&self, argument: T) -> T {
        argument
    }
}

levels! {
    [X, T] Convert<X, T> => Unconverted<X, T>;
}
