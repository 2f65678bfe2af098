//! The last real error, kept for the case that a later attempt is cut.
//!
//! When an attempt times out, its caller wants to know what the attempts before it died of. So a
//! function with a limit keeps the error of its last failed attempt across the wait, where that
//! error is `Send` and converts into a boxed one. Where it does not, the error is dropped before the
//! wait: keeping it would spoil the future for `tokio::spawn`.

use std::error::Error as StdError;
use std::marker::PhantomData;
use std::ops::Deref;

type Boxed = Box<dyn StdError + Send + Sync>;

/// Chooses between [`Remembers`] and [`Forgets`] by the error's type.
///
/// ```text
/// Output: call.memory::<E>().choose()
/// ```
///
/// The compiler looks for the method here first, where it applies to the errors that can be kept,
/// and then through `Deref`. It looks at traits only, never at lifetimes: an error type that borrows
/// must not come here.
#[derive(Debug)]
pub struct Memory<E, const LIMITED: bool>(Forgetful, PhantomData<fn() -> E>);

/// The choice for every other error.
#[derive(Debug)]
pub struct Forgetful;

impl<E, const LIMITED: bool> Memory<E, LIMITED> {
    #[inline]
    pub(super) fn new() -> Self {
        Self(Forgetful, PhantomData)
    }
}

impl<E: Send + Into<Boxed>> Memory<E, true> {
    /// Keeps it.
    #[inline]
    #[must_use]
    pub fn choose(&self) -> Remembers<E> {
        Remembers(None)
    }
}

impl<E, const LIMITED: bool> Deref for Memory<E, LIMITED> {
    type Target = Forgetful;

    #[inline]
    fn deref(&self) -> &Forgetful {
        &self.0
    }
}

impl Forgetful {
    /// Drops it.
    #[inline]
    #[must_use]
    pub fn choose(&self) -> Forgets {
        Forgets
    }
}

/// What [`Call::settle`](super::Call::settle) asks of the place where an error is kept.
pub trait LastError<E> {
    /// Keeps the error of an attempt that another will follow.
    fn keep(&mut self, error: E);
    /// Takes out what was kept.
    fn recall(&mut self) -> Option<E>;
    /// Makes it the cause of another error.
    fn as_source(&self, error: E) -> Option<Boxed>;
}

/// Keeps the last error.
#[derive(Debug)]
pub struct Remembers<E>(Option<E>);

impl<E: Into<Boxed>> LastError<E> for Remembers<E> {
    #[inline]
    fn keep(&mut self, error: E) {
        self.0 = Some(error);
    }

    #[inline]
    fn recall(&mut self) -> Option<E> {
        self.0.take()
    }

    fn as_source(&self, error: E) -> Option<Boxed> {
        Some(error.into())
    }
}

/// Keeps nothing.
#[derive(Debug)]
pub struct Forgets;

impl<E> LastError<E> for Forgets {
    #[inline]
    fn keep(&mut self, _error: E) {}

    #[inline]
    fn recall(&mut self) -> Option<E> {
        None
    }

    fn as_source(&self, _error: E) -> Option<Boxed> {
        None
    }
}
