//! With which error the call of a closure ends: its own, or an [`Error`] around it, if a limit can stop the call and its own cannot say so.
//!
//! ```text
//! let ends = ends(&ended).chosen();       // E                                          gives
//!                                         // it can hold a `Stopped`, or is an `Error`    Ends<E, E>
//!                                         // any, and nothing can stop the call           Ends<E, E>
//!                                         // any other                                    Ends<E, Error<E>>
//! let ended = Ends::hold(&ends, ended);   // with the error of the call
//! ```
//!
//! The rules and hooks see the error of the closure.

use std::marker::PhantomData;
use std::time::Duration;

use super::{Call, Cut, Never};
use crate::classify::{Answers, Assessment, Ruling};
use crate::error::Error;
use crate::event::RetryEvent;
use crate::lookup::{Failed, Level};
use crate::stopped::Stopped;

/// The question. `E` is the error of a closure, and `C` is what can cut its attempts.
pub type Ending<E, C> = Level<NoStopped<E, C>>;

/// An error that is not `From<Stopped>`.
pub type NoStopped<E, C> = Level<AnyEnding<E, C>>;

/// An error that cannot hold a [`Stopped`].
#[derive(Debug)]
pub struct AnyEnding<E, C>(PhantomData<fn() -> (E, C)>);

/// Asks with which error a call ends, of which this is an attempt.
pub const fn ends<T, E, C>(_ended: &Result<Result<T, E>, C>) -> Ending<E, C> {
    Level(Level(AnyEnding(PhantomData)))
}

/// The same for a call that may run the closure twice at once.
pub const fn ends_of_both<T, E, C, K, M, F>(_make: &M, _call: &Call<'_, C, K>) -> Ending<E, C>
where
    M: FnMut() -> F + RunsTwice<F>,
    F: Future<Output = Result<T, E>>,
{
    Level(Level(AnyEnding(PhantomData)))
}

/// A body that changes nothing that it captures.
#[diagnostic::on_unimplemented(
    message = "with `hedge` two attempts run at once, and they cannot both change what the closure captures",
    label = "this closure changes what it captures, or borrows it mutably",
    note = "share a lock or an atomic for what changes, or remove `hedge`"
)]
pub trait RunsTwice<F> {}

#[diagnostic::do_not_recommend]
impl<M: Fn() -> F, F> RunsTwice<F> for M {}

/// With which error `X` a call ends, whose attempts end with an `E`: a function that returns the `E` in it, unless the call was stopped.
#[derive(Debug)]
pub struct Ends<E, X>(pub(crate) fn(&X) -> Option<&E>);

/// The call ends with the error of its attempts.
#[expect(
    clippy::unnecessary_wraps,
    reason = "so does a function that may return none"
)]
pub(crate) const fn same<E>(ended: &E) -> Option<&E> {
    Some(ended)
}

macro_rules! chosen {
    ($($(#[$condition:meta])? [$($parameters:tt)*] $Question:ty => $Own:ty, $Ended:ty, $own:expr;)+) => {$(
        $(#[$condition])?
        impl<$($parameters)*> $Question {
            /// Chooses the error of the call.
            pub const fn chosen(&self) -> Ends<$Own, $Ended> {
                Ends($own)
            }
        }
    )+};
}

chosen! {
    [E: From<Stopped>] Ending<E, Cut> => E, E, same;
    [E] Ending<E, Never> => E, E, same;
    [A] NoStopped<Error<A>, Cut> => Error<A>, Error<A>, same;
    // Their message, as in a function, names a type that can hold a `Stopped`. A response that means failure would be an `Ok` beside them.
    #[cfg(feature = "reqwest-0_13")]
    [] NoStopped<reqwest::Error, Cut> => reqwest::Error, reqwest::Error, same;
    #[cfg(feature = "reqwest-0_12")]
    [] NoStopped<reqwest_0_12::Error, Cut> => reqwest_0_12::Error, reqwest_0_12::Error, same;
    [E, C] AnyEnding<E, C> => E, Error<E>, Error::failed;
}

impl<E, X> Ends<E, X> {
    /// Returns the error of the attempt, unless the call was stopped.
    pub fn own<'x>(&self, ended: &'x X) -> Option<&'x E> {
        (self.0)(ended)
    }

    /// Gives an attempt the error of the call.
    ///
    /// # Errors
    ///
    /// - What cut the attempt.
    #[inline]
    pub fn hold<T, C>(&self, ended: Result<Result<T, E>, C>) -> Result<Result<T, X>, C>
    where
        X: From<E>,
    {
        ended.map(|result| result.map_err(X::from))
    }

    /// Asks for the ruling on the error of the attempt.
    pub fn ruling(
        &self,
        failed: &Failed<'_, X>,
        rule: impl FnOnce(&Failed<'_, E>) -> Ruling,
    ) -> Ruling {
        let own = self.own(failed.error());
        // An attempt fails with its own error alone.
        own.map_or(Ruling::stop(Assessment::UNKNOWN), |own| {
            rule(&Failed::new(own, failed.harmless))
        })
    }

    /// Asks `unless` about the error of the attempt.
    pub fn vetoes(
        &self,
        failed: &Failed<'_, X>,
        veto: impl FnOnce(&Failed<'_, E>) -> bool,
    ) -> bool {
        let own = self.own(failed.error());
        own.is_some_and(|own| veto(&Failed::new(own, failed.harmless)))
    }

    /// Asks `retry_after` about the error of the attempt.
    pub fn delay(&self, ended: &X, delay: impl FnOnce(&E) -> Option<Duration>) -> Option<Duration> {
        delay(self.own(ended)?)
    }

    /// Calls `on_retry` with the error of the attempt.
    pub fn notify(
        &self,
        event: &RetryEvent<'_, X>,
        mut hook: impl for<'e> Answers<RetryEvent<'e, E>>,
    ) {
        hook(&event.of(|error| self.own(error)));
    }
}
