//! How generated code handles the result of the user's function.

use std::marker::PhantomData;

use crate::error::Error;
use crate::stopped::Stopped;

/// The result of an attempt: a `Result` or an alias of it, which is that of a call too, or [`OfClosure`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`, so there is nothing to retry on",
    label = "expected `Result<_, _>` or an alias of it",
    note = "a function can only be retried when its return type can say that it failed"
)]
pub trait ResultLike: Sized {
    /// The type of the value in `Ok`.
    type Value;
    /// The type of the error in `Err`.
    type Error;
    /// The error of the call.
    type Ended: CarriesError<Self::Error>;
    /// The result of the call.
    type OfCall;

    /// Returns the `Result`.
    fn get(&self) -> &Result<Self::Value, Self::Error>;

    /// Returns the `Result` itself.
    ///
    /// # Errors
    ///
    /// - The error of the attempt.
    fn into_result(self) -> Result<Self::Value, Self::Error>;

    /// Returns the result of the call.
    fn of_call(ended: Result<Self::Value, Self::Ended>) -> Self::OfCall;
}

impl<T, E> ResultLike for Result<T, E> {
    type Value = T;
    type Error = E;
    type Ended = E;
    type OfCall = Self;

    #[inline]
    fn get(&self) -> &Self {
        self
    }

    #[inline]
    fn into_result(self) -> Self {
        self
    }

    #[inline]
    fn of_call(ended: Self) -> Self {
        ended
    }
}

/// The result of a closure, whose call ends with an `X`.
#[derive(Debug)]
pub struct OfClosure<T, E, X>(pub(crate) Result<T, E>, pub(crate) PhantomData<X>);

impl<T, E, X: CarriesError<E>> ResultLike for OfClosure<T, E, X> {
    type Value = T;
    type Error = E;
    type Ended = X;
    type OfCall = Result<T, X>;

    #[inline]
    fn get(&self) -> &Result<T, E> {
        &self.0
    }

    #[inline]
    fn into_result(self) -> Result<T, E> {
        self.0
    }

    #[inline]
    fn of_call(ended: Result<T, X>) -> Result<T, X> {
        ended
    }
}

/// The error of a call: that of its attempts, or an [`Error`] around it. So rustc infers one from the other, as in
/// `async { Ok(step().await?) }`.
pub trait CarriesError<E>: From<E> {
    /// Returns the error of an attempt, unless the call was stopped.
    #[doc(hidden)]
    fn of_attempt(&self) -> Option<&E>;
}

impl<E> CarriesError<E> for E {
    fn of_attempt(&self) -> Option<&E> {
        Some(self)
    }
}

impl<E> CarriesError<E> for Error<E> {
    fn of_attempt(&self) -> Option<&E> {
        self.failed()
    }
}

/// Gives an `async` block the type of the user's result. Generated code calls this function in code that never runs.
#[cold]
#[must_use]
pub fn typed<R>() -> R {
    unreachable!("generated code calls this only behind `if false`")
}

/// An error type that can hold a [`Stopped`].
///
/// `Way` is [`ByFrom`] or [`ByError`]. Without it, the two implementations would overlap. The compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`",
    label = "this error type cannot be made from `reattempt::Stopped`",
    note = "with `thiserror`, add the variant `Stopped(#[from] reattempt::Stopped)`; without it, the variant `Stopped(reattempt::Stopped)` and \
            `impl From<reattempt::Stopped> for {Self} {{ fn from(stopped: reattempt::Stopped) -> Self {{ Self::Stopped(stopped) }} }}`",
    note = "for a type parameter, write the bound `{Self}: From<reattempt::Stopped>`",
    note = "for an error type that is not yours, return `Result<_, reattempt::Error<{Self}>>`; for that of `reqwest`, \
            `reattempt::reqwest_0_13::RequestError`; and in a function that commits a transaction, the `TransactionError` of its client",
    note = "`policy = self.policy` needs this too: the policy may have a `timeout` or a `deadline`; \
            drop them with `policy = self.policy.without_limits()`"
)]
pub trait FromStopped<Way> {
    /// Makes the error of a call that was stopped.
    fn from_stopped(stopped: Stopped) -> Self;
}

/// The error type implements `From<Stopped>`.
#[derive(Debug)]
pub struct ByFrom;

/// The error type is [`Error`].
#[derive(Debug)]
pub struct ByError;

#[diagnostic::do_not_recommend]
impl<E: From<Stopped>> FromStopped<ByFrom> for E {
    fn from_stopped(stopped: Stopped) -> Self {
        stopped.into()
    }
}

#[diagnostic::do_not_recommend]
#[doc(hidden)]
impl<E> FromStopped<ByError> for Error<E> {
    fn from_stopped(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// What the closure of a [`run`](crate::Policy::run) returns: a future of a `Result`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future of a `Result`",
    label = "`run` awaits a future that gives a `Result`",
    note = "for a closure that blocks its thread, write `run_blocking(|| …).call()`",
    note = "for code that awaits, write `run(async || …)`, which ends in the `Result`: `….await` without a `;`, or `Ok(…)`"
)]
pub trait ResultFuture<T, E>: Future<Output = Result<T, E>> {}

#[diagnostic::do_not_recommend]
impl<T, E, F: Future<Output = Result<T, E>>> ResultFuture<T, E> for F {}

/// The value of `before_retry`: `()`, or a `Result` whose error ends the call.
#[diagnostic::on_unimplemented(
    message = "`before_retry` gives `{Self}`, expected `()` or a `Result`",
    label = "its error must convert into `{E}` with `From`",
    note = "with `blocking`, `before_retry` cannot be async"
)]
pub trait Prepared<E> {
    /// Returns the error that ends the call, if there is one.
    fn into_error(self) -> Option<E>;
}

impl<E> Prepared<E> for () {
    #[inline]
    fn into_error(self) -> Option<E> {
        None
    }
}

/// The value in `Ok` is ignored, such as the position that `rewind()` of tokio returns.
impl<E, T, X: Into<E>> Prepared<E> for Result<T, X> {
    #[inline]
    fn into_error(self) -> Option<E> {
        self.err().map(Into::into)
    }
}
