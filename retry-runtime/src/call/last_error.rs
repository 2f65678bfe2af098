//! The last error of a call. If the call is stopped, this error is the source of the [`Stopped`], or the caller gets it again.
//!
//! When an attempt times out, you want to know why the attempts before it failed. So a function with limits keeps the error of its
//! last attempt during the wait. It does so only if the error is `Send`, since the future could not be spawned otherwise, and if
//! it converts into a boxed error. Other errors are dropped before the wait. A function whose attribute says that it has no limits keeps
//! its error only for `before_retry`, which may outlast the deadline of an outer call.

use super::attempt::{Cut, Limits, Never};
use crate::error::Error;
use crate::lookup::client::{By, Carried, Foreign};
use crate::lookup::{BoxedError, Kept, Last, Nothing};
use crate::result::{ByFrom, FromStopped, ResultLike};
use crate::stopped::Stopped;

/// The result of an attempt, or of a call, which `C` can cut, and which keeps a `K` of its last error. It is one bound for all that
/// `settle` needs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`, so there is nothing to retry on",
    label = "expected `Result<_, _>` or an alias of it",
    note = "a function can only be retried when its return type can say that it failed"
)]
pub trait CallResult<C, K, Way>: ResultLike {
    /// Returns the error again that was kept, if a caller can get it.
    fn again(kept: K) -> Option<Self::Ended>;

    /// Makes the error of a call that was stopped, with the error that was kept as its source.
    fn stopped(cut: C, stopped: Stopped, kept: Option<K>) -> Self::Ended;
}

impl<R, C, K, W> CallResult<C, K, W> for R
where
    R: ResultLike,
    C: Stops<R::Ended, W>,
    K: LastError<C, R::Ended, W>,
{
    fn again(kept: K) -> Option<R::Ended> {
        kept.again()
    }

    fn stopped(cut: C, stopped: Stopped, kept: Option<K>) -> R::Ended {
        cut.error(match kept {
            Some(kept) => kept.source_of(stopped),
            None => stopped,
        })
    }
}

/// In which `Way` the error of a call that was stopped is made. A call without limits is never stopped.
pub trait Stops<X, Way>: Limits {
    /// Makes the error.
    fn error(self, stopped: Stopped) -> X;
}

impl<X: FromStopped<W>, W> Stops<X, W> for Cut {
    fn error(self, stopped: Stopped) -> X {
        X::from_stopped(stopped)
    }
}

#[doc(hidden)]
impl<X> Stops<X, ByFrom> for Never {
    fn error(self, _stopped: Stopped) -> X {
        match self {}
    }
}

/// What a call keeps of its last error, if it ends with an `X`, and a limit `C` can stop it. The error of a client allows one `Way` alone,
/// whose message names a type that can hold a [`Stopped`].
pub trait LastError<C, X, Way>: Sized {
    /// Returns the error again.
    fn again(self) -> Option<X> {
        None
    }

    /// Makes the error the source of a [`Stopped`], if it can be one.
    fn source_of(self, stopped: Stopped) -> Stopped {
        stopped
    }
}

impl<C, E: Into<BoxedError>, X: From<E>, W> LastError<C, X, W> for Kept<E> {
    fn again(self) -> Option<X> {
        Some(From::from(self.0))
    }

    #[cold]
    fn source_of(self, stopped: Stopped) -> Stopped {
        stopped.with_source(self.0.into())
    }
}

impl<C, E, X: From<E>, W> LastError<C, X, W> for Last<E> {
    fn again(self) -> Option<X> {
        Some(From::from(self.0))
    }
}

impl<C, X, W> LastError<C, X, W> for Nothing {}

// That of a client, in an `Error`.
#[doc(hidden)]
impl<C, E: Into<BoxedError>, W> LastError<C, Error<E>, W> for Carried<E> {
    fn again(self) -> Option<Error<E>> {
        Some(From::from(self.0))
    }

    #[cold]
    fn source_of(self, stopped: Stopped) -> Stopped {
        stopped.with_source(self.0.into())
    }
}

impl<E> LastError<Cut, E, By<Foreign>> for Carried<E> {}
#[doc(hidden)]
impl<E> LastError<Never, E, ByFrom> for Carried<E> {}
