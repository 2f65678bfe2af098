//! How generated code sees what the user's function returns.

use crate::error::Error;
use crate::stopped::Stopped;

/// A `Result`, or an alias of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`, so there is nothing to retry on",
    label = "expected `Result<_, _>` or an alias of it",
    note = "a function can only be retried when its return type can say that it failed"
)]
pub trait ResultLike {
    /// What it holds in `Ok`.
    type Value;
    /// What it holds in `Err`.
    type Error;

    /// The result as such.
    #[expect(clippy::missing_errors_doc, reason = "it is the caller's own result")]
    fn into_result(self) -> Result<Self::Value, Self::Error>;
    /// The result by reference.
    #[expect(clippy::missing_errors_doc, reason = "it is the caller's own result")]
    fn as_result(&self) -> Result<&Self::Value, &Self::Error>;
    /// Back again, from an `Ok`.
    fn from_value(value: Self::Value) -> Self;
    /// Back again, from an `Err`.
    fn from_error(error: Self::Error) -> Self;
}

/// The error type of a function's result.
pub type ErrorOf<R> = <R as ResultLike>::Error;

impl<T, E> ResultLike for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline]
    fn into_result(self) -> Self {
        self
    }

    #[inline]
    fn as_result(&self) -> Result<&T, &E> {
        self.as_ref()
    }

    #[inline]
    fn from_value(value: T) -> Self {
        Ok(value)
    }

    #[inline]
    fn from_error(error: E) -> Self {
        Err(error)
    }
}

/// Gives an `async` block the type of the user's result. Generated code calls it where it is never reached.
#[cold]
#[must_use]
pub fn typed<R>() -> R {
    unreachable!("it is behind an `if false`")
}

/// An error type that can say that a call was stopped.
///
/// `Way` tells its two implementations apart, which would otherwise overlap; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that a call was stopped by `timeout`, `deadline` or `cancel`",
    label = "this error type cannot be made from `reattempt::Stopped`",
    note = "add a variant to your error: `Stopped(#[from] reattempt::Stopped)`",
    note = "for an error type that is not yours, return `Result<_, reattempt::Error<{Self}>>`",
    note = "a `policy` that only the call knows counts too: it may have a `timeout` or a `deadline`"
)]
pub trait FromStopped<Way> {
    /// Makes the error.
    fn from_stopped(stopped: Stopped) -> Self;
}

/// By the type's own `From<Stopped>`.
#[derive(Debug)]
pub struct ByFrom;

/// By being an [`Error`].
#[derive(Debug)]
pub struct ByError;

#[diagnostic::do_not_recommend]
impl<E: From<Stopped>> FromStopped<ByFrom> for E {
    fn from_stopped(stopped: Stopped) -> Self {
        stopped.into()
    }
}

impl<E> FromStopped<ByError> for Error<E> {
    fn from_stopped(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// What `before_retry` may give: nothing, or a `Result` whose error ends the call.
#[diagnostic::on_unimplemented(
    message = "`before_retry` gives `{Self}`, expected `()` or a `Result`",
    label = "its error must convert into `{E}` with `From`",
    note = "with `blocking` nothing awaits a future"
)]
pub trait Prepared<E> {
    /// The error that ends the call, if there is one.
    fn into_error(self) -> Option<E>;
}

impl<E> Prepared<E> for () {
    #[inline]
    fn into_error(self) -> Option<E> {
        None
    }
}

/// Whatever it holds in `Ok`: `file.rewind()` gives a position that nobody asks for.
impl<E, T, X: Into<E>> Prepared<E> for Result<T, X> {
    #[inline]
    fn into_error(self) -> Option<E> {
        self.err().map(Into::into)
    }
}
