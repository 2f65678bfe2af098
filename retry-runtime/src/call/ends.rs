//! With which error the call of a closure ends: its own, or an [`Error`] around it, if a limit can stop the call and its own cannot say so.
//!
//! ```text
//! let ended = ends(&ended).of_closure(ended);   // E                                          gives
//!                                               // it can hold a `Stopped`, or is an `Error`    OfClosure<T, E, E>
//!                                               // any, and nothing can stop the call           OfClosure<T, E, E>
//!                                               // any other                                    OfClosure<T, E, Error<E>>
//! ```

use std::marker::PhantomData;

use super::{Call, Cut, Never};
use crate::error::Error;
use crate::lookup::Level;
use crate::result::OfClosure;
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

macro_rules! ends {
    ($($(#[$condition:meta])? [$($parameters:tt)*] $Question:ident<$Own:ty, $C:ty> => $Ended:ty;)+) => {$(
        $(#[$condition])?
        impl<$($parameters)*> $Question<$Own, $C> {
            /// Gives an attempt the error of the call.
            ///
            /// # Errors
            ///
            /// - What cut the attempt.
            #[inline]
            pub fn of_closure<T>(&self, ended: Result<Result<T, $Own>, $C>) -> Result<OfClosure<T, $Own, $Ended>, $C> {
                ended.map(|result| OfClosure(result, PhantomData))
            }
        }
    )+};
}

ends! {
    [E: From<Stopped>] Ending<E, Cut> => E;
    [E] Ending<E, Never> => E;
    [A] NoStopped<Error<A>, Cut> => Error<A>;
    // Their message, as in a function, names a type that can hold a `Stopped`. A response that means failure would be an `Ok` beside them.
    #[cfg(feature = "reqwest-0_13")]
    [] NoStopped<reqwest::Error, Cut> => reqwest::Error;
    #[cfg(feature = "reqwest-0_12")]
    [] NoStopped<reqwest_0_12::Error, Cut> => reqwest_0_12::Error;
    [E, C] AnyEnding<E, C> => Error<E>;
}
