//! With which error the call of a run ends.
//!
//! ```text
//! io::Error: Ends<Policy, Stopped, io::Error>                                 it can hold a `Stopped`
//! Error<A>: Ends<Policy, Error<A>, Error<A>>
//! sqlx::Error: Ends<Policy, Error<sqlx::Error>, Error<sqlx::Error>>           that of a client
//! E: Ends<Stopped, (), Error<E>>                                              after `or_stopped`
//! E: Ends<WithoutLimits, (), E>                                               nothing stops the call
//! ```
//!
//! No trait can say that a type is not `From<Stopped>`, so the clients are a list. Public types stand for the rows, because
//! messages of rustc name them.

use super::WithoutLimits;
use crate::call::{Cut, Never, Stops};
use crate::classify::OfClient;
use crate::error::Error;
use crate::policy::Policy;
use crate::result::{ByError, ByFrom};
use crate::stopped::Stopped;

/// An error with which a run may end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`",
    label = "this error type cannot be made from `reattempt::Stopped`",
    note = "write `.or_stopped()` behind the run: its error is then a `reattempt::Error<{Self}>`, which is `Failed` or `Stopped`",
    note = "for your own type, with `thiserror`, add the variant `Stopped(#[from] reattempt::Stopped)`; without it, the variant \
            `Stopped(reattempt::Stopped)` and \
            `impl From<reattempt::Stopped> for {Self} {{ fn from(stopped: reattempt::Stopped) -> Self {{ Self::Stopped(stopped) }} }}`",
    note = "for a type parameter, write `.or_stopped()`, or the bound `{Self}: From<reattempt::Stopped>`",
    note = "or drop the limits that a policy may have: `POLICY.without_limits().run(…)`"
)]
pub trait Ends<C, W, X> {
    /// How the error of the call holds a `Stopped`.
    type Way;
    /// What can cut an attempt.
    type Limits: Stops<X, Self::Way> + Send;
}

macro_rules! ends {
    ([$($parameters:tt)*] $Error:ty, $C:ty, $W:ty => $Ended:ty, $Way:ty, $Limits:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($parameters)*> Ends<$C, $W, $Ended> for $Error {
            type Way = $Way;
            type Limits = $Limits;
        }
    };
}

ends!([E: From<Stopped>] E, Policy, Stopped => E, ByFrom, Cut);
ends!([A] Error<A>, Policy, Error<A> => Self, ByError, Cut);
ends!([E: OfClient] E, Policy, Error<E> => Error<E>, ByError, Cut);
ends!([E] E, Stopped, () => Error<E>, ByError, Cut);
ends!([E] E, WithoutLimits, () => E, (), Never);

/// The error of a call: that of its operation, or an [`Error`] around it.
pub trait CallError<E>: From<E> {
    /// Returns the error of the operation.
    fn failed(&self) -> Option<&E>;
}

impl<E> CallError<E> for E {
    fn failed(&self) -> Option<&E> {
        Some(self)
    }
}

impl<E> CallError<E> for Error<E> {
    fn failed(&self) -> Option<&E> {
        self.failed()
    }
}

/// A run that something may stop.
#[diagnostic::on_unimplemented(
    message = "`until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`",
    label = "write `POLICY.run(…)`, or `POLICY.run(…).or_stopped()` for an error type that cannot hold a `Stopped`"
)]
pub trait MayStop {}

impl MayStop for Policy {}
impl MayStop for Stopped {}
