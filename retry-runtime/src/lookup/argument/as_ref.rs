//! An argument that the body can only see as a reference: `impl AsRef<U>`.

/// What each attempt gets of an argument of a type that is `AsRef<U>`, and not known to be `Clone` or `Sync`: the `&U`. So the
/// future is `Send` although the type may not be `Sync`.
///
/// It has no other method than that of `AsRef<U>`. With those of `&U`, rustc could not tell which one the body calls: a `&str`
/// is also `AsRef<[u8]>`.
///
/// ```text
/// Output: LentAs::<U>::new(&x)
/// ```
#[derive(Debug)]
pub struct LentAs<'a, U: ?Sized>(&'a U);

impl<'a, U: ?Sized> LentAs<'a, U> {
    /// Takes the argument as the caller passed it.
    pub fn new(argument: &'a impl AsRef<U>) -> Self {
        Self(argument.as_ref())
    }
}

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
