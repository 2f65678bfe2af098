//! The last error of a call. If the call is stopped, this error is the source of the [`Stopped`], or the caller gets it again.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with limits keeps the error of its
//! last attempt during the wait. It does so only if the error is `Send`, since the future could not be spawned otherwise, and if
//! it converts into a boxed error. Other errors are dropped before the wait. A function without limits keeps its error only for
//! `before_retry`, which may outlast the deadline of an outer call.

use super::attempt::{Cut, Limits, Never};
use crate::lookup::client::{By, Foreign};
use crate::lookup::{BoxedError, Kept, Last, Nothing};
use crate::result::{ByFrom, FromStopped, ResultLike};
use crate::stopped::Stopped;

/// The result of a function whose calls `C` can cut, and which keep a `K` of their last error. It is one bound for all that `settle`
/// needs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`, so there is nothing to retry on",
    label = "expected `Result<_, _>` or an alias of it",
    note = "a function can only be retried when its return type can say that it failed"
)]
pub trait CallResult<C, K, Way>: ResultLike {
    /// Keeps or drops the error of an attempt, before the call waits for the next one.
    fn keep(error: Self::Error) -> Option<K>;

    /// Returns the error again that was kept, if a caller can get it.
    fn again(kept: K) -> Option<Self::Error>;

    /// Makes the error of a call that was stopped, with the error that was kept as its source.
    fn stopped(cut: C, stopped: Stopped, kept: Option<K>) -> Self::Error;
}

impl<R, C, K, W> CallResult<C, K, W> for R
where
    R: ResultLike,
    C: Stops<R::Error, W>,
    K: LastError<C, R::Error, W>,
{
    #[inline]
    fn keep(error: R::Error) -> Option<K> {
        K::keep(error)
    }

    fn again(kept: K) -> Option<R::Error> {
        kept.again()
    }

    fn stopped(cut: C, stopped: Stopped, kept: Option<K>) -> R::Error {
        cut.error(match kept {
            Some(kept) => kept.source_of(stopped),
            None => stopped,
        })
    }
}

/// In which `Way` the error of a call that was stopped is made. A call without limits is never stopped.
pub trait Stops<E, Way>: Limits {
    /// Makes the error.
    fn error(self, stopped: Stopped) -> E;
}

impl<E: FromStopped<W>, W> Stops<E, W> for Cut {
    fn error(self, stopped: Stopped) -> E {
        E::from_stopped(stopped)
    }
}

#[doc(hidden)]
impl<E> Stops<E, ByFrom> for Never {
    fn error(self, _stopped: Stopped) -> E {
        match self {}
    }
}

/// What a call keeps of its last error `E`, if a limit `C` can stop it. The error of a client allows one `Way` alone, whose message
/// names a type that can hold a [`Stopped`].
pub trait LastError<C, E, Way>: Sized {
    /// Keeps or drops the error of an attempt, before the call waits for the next one.
    #[inline]
    fn keep(_error: E) -> Option<Self> {
        None
    }

    /// Returns the error again.
    fn again(self) -> Option<E> {
        None
    }

    /// Makes the error the source of a [`Stopped`], if it can be one.
    fn source_of(self, stopped: Stopped) -> Stopped {
        stopped
    }
}

impl<C: Limits, E: Into<BoxedError>, W> LastError<C, E, W> for Kept<E> {
    #[inline]
    fn keep(error: E) -> Option<Self> {
        C::LIMITED.then_some(Self(error))
    }

    fn again(self) -> Option<E> {
        Some(self.0)
    }

    #[cold]
    fn source_of(self, stopped: Stopped) -> Stopped {
        stopped.with_source(self.0.into())
    }
}

impl<C, E, W> LastError<C, E, W> for Last<E> {
    fn keep(error: E) -> Option<Self> {
        Some(Self(error))
    }

    fn again(self) -> Option<E> {
        Some(self.0)
    }
}

impl<C, E, W> LastError<C, E, W> for Nothing {}
impl<E> LastError<Cut, E, By<Self>> for Foreign {}
#[doc(hidden)]
impl<E> LastError<Never, E, ByFrom> for Foreign {}
