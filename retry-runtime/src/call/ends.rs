//! With which error the call of a closure ends: its own, or an [`Error`] around it, if a limit can stop the call and its own cannot say so.
//!
//! ```text
//! let ends = ends(&ended).chosen();       // E                                          gives
//!                                         // it can hold a `Stopped`, or is an `Error`    Same<E>
//!                                         // any, and nothing can stop the call           Same<E>
//!                                         // any other                                    WrappedEnding<E>
//! let ended = Ends::hold(&ends, ended);   // with the error of the call
//! ```
//!
//! The rules and hooks see the error of the closure.

#![expect(
    clippy::must_use_candidate,
    reason = "generated code alone calls these methods, and uses what they return"
)]

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

impl<E: From<Stopped>> Ending<E, Cut> {
    /// Chooses the error itself.
    pub const fn chosen(&self) -> Same<E> {
        Same(PhantomData)
    }
}

impl<E> Ending<E, Never> {
    /// Chooses the error itself.
    pub const fn chosen(&self) -> Same<E> {
        Same(PhantomData)
    }
}

impl<A> NoStopped<Error<A>, Cut> {
    /// Chooses the error itself.
    pub const fn chosen(&self) -> Same<Error<A>> {
        Same(PhantomData)
    }
}

/// The errors of clients for which the message of a function names a type that can hold a [`Stopped`]. A response that means failure
/// would be an `Ok` beside them.
macro_rules! refused {
    ($($feature:literal $Error:ty),+) => {$(
        #[cfg(feature = $feature)]
        impl NoStopped<$Error, Cut> {
            /// Chooses the error itself, which rustc then reports.
            pub const fn chosen(&self) -> Same<$Error> {
                Same(PhantomData)
            }
        }
    )+};
}

refused!("reqwest-0_13" reqwest::Error, "reqwest-0_12" reqwest_0_12::Error);

impl<E, C> AnyEnding<E, C> {
    /// Chooses an [`Error`] around it.
    pub const fn chosen(&self) -> WrappedEnding<E> {
        WrappedEnding(PhantomData)
    }
}

/// The call ends with the error of the closure.
#[derive(Debug)]
pub struct Same<E>(PhantomData<fn() -> E>);

/// The call ends with an [`Error`] around the error of the closure.
#[derive(Debug)]
pub struct WrappedEnding<E>(PhantomData<fn() -> E>);

/// With which error a call ends.
pub trait Ends {
    /// The error of the closure.
    type Own;
    /// That of the call.
    type Ended: From<Self::Own>;

    /// Returns the error of the closure, unless the call was stopped.
    fn own<'e>(&self, ended: &'e Self::Ended) -> Option<&'e Self::Own>;

    /// Gives an attempt the error of the call.
    ///
    /// # Errors
    ///
    /// - What cut the attempt.
    #[inline]
    fn hold<T, C>(
        &self,
        ended: Result<Result<T, Self::Own>, C>,
    ) -> Result<Result<T, Self::Ended>, C> {
        ended.map(|result| result.map_err(Self::Ended::from))
    }

    /// Asks for the ruling on the error of the closure.
    fn ruling(
        &self,
        failed: &Failed<'_, Self::Ended>,
        rule: impl FnOnce(&Failed<'_, Self::Own>) -> Ruling,
    ) -> Ruling {
        // An attempt fails with the error of the closure alone.
        let stop = Ruling::stop(Assessment::UNKNOWN);
        self.own(failed.error())
            .map_or(stop, |own| rule(&Failed::new(own, failed.harmless)))
    }

    /// Asks `unless` about the error of the closure.
    fn vetoes(
        &self,
        failed: &Failed<'_, Self::Ended>,
        veto: impl FnOnce(&Failed<'_, Self::Own>) -> bool,
    ) -> bool {
        self.own(failed.error())
            .is_some_and(|own| veto(&Failed::new(own, failed.harmless)))
    }

    /// Asks `retry_after` about the error of the closure.
    fn delay(
        &self,
        ended: &Self::Ended,
        delay: impl FnOnce(&Self::Own) -> Option<Duration>,
    ) -> Option<Duration> {
        delay(self.own(ended)?)
    }

    /// Calls `on_retry` with the error of the closure.
    fn notify(
        &self,
        event: &RetryEvent<'_, Self::Ended>,
        mut hook: impl for<'e> Answers<RetryEvent<'e, Self::Own>>,
    ) {
        hook(&event.of(|error| self.own(error)));
    }
}

impl<E> Ends for Same<E> {
    type Own = E;
    type Ended = E;

    #[inline]
    fn own<'e>(&self, ended: &'e E) -> Option<&'e E> {
        Some(ended)
    }
}

impl<E> Ends for WrappedEnding<E> {
    type Own = E;
    type Ended = Error<E>;

    #[inline]
    fn own<'e>(&self, ended: &'e Error<E>) -> Option<&'e E> {
        ended.failed()
    }
}
