//! An argument that the body can only see as a reference: `impl AsRef<U>`.

use std::marker::PhantomData;
use std::ops::Deref;

use super::Argument;

/// An argument of a type `T: AsRef<U>` that is not `Clone`. Each attempt gets the `&U`, so the future is `Send` although
/// `T` may not be `Sync`.
///
/// ```text
/// Output: ArgumentAs::<U, _>::new(&x).for_each_attempt()
/// ```
#[derive(Debug)]
pub struct ArgumentAs<'a, U: ?Sized, T>(Argument<'a, T>, PhantomData<fn() -> &'a U>);

impl<'a, U: ?Sized, T> ArgumentAs<'a, U, T> {
    /// Takes the argument as the caller passed it.
    pub const fn new(argument: &'a T) -> Self {
        Self(Argument::new(argument), PhantomData)
    }
}

impl<'a, U, T> ArgumentAs<'a, U, T>
where
    U: Sync + ?Sized,
    T: AsRef<U>,
{
    /// Lends what the argument refers to.
    pub fn for_each_attempt(&self) -> LentAs<'a, U> {
        LentAs(self.0.lend().as_ref())
    }
}

impl<'a, U: ?Sized, T> Deref for ArgumentAs<'a, U, T> {
    type Target = Argument<'a, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A reference with no other method than that of `AsRef<U>`. With those of `&U`, rustc could not tell which one the body
/// calls: a `&str` is also `AsRef<[u8]>`.
#[derive(Debug)]
pub struct LentAs<'a, U: ?Sized>(&'a U);

impl<U: ?Sized> Clone for LentAs<'_, U> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U: ?Sized> Copy for LentAs<'_, U> {}

impl<U: ?Sized> AsRef<U> for LentAs<'_, U> {
    fn as_ref(&self) -> &U {
        self.0
    }
}
