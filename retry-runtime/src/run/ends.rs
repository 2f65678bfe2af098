//! With which error the call of a run ends.
//!
//! ```text
//! io::Error: HoldsStopped<Policy, ByFrom, io::Error>               it can hold a `Stopped`
//! Error<A>: HoldsStopped<Policy, ByError, Error<A>>
//! sqlx::Error: HoldsStopped<Policy, ByError, Error<sqlx::Error>>   that of a client
//! E: HoldsStopped<WithoutLimits, ByFrom, E>                        nothing stops the call
//! ```
//!
//! No trait can say that a type is not `From<Stopped>`, so the clients are a list. If each `E` had a row for a `Policy`, rustc
//! could not choose for `io::Error`, which would have two. Public types stand for the rows, because messages of rustc name them.

use super::WithoutLimits;
use crate::call::{Cut, Ends, Never, Stops, same};
use crate::classify::OfClient;
use crate::error::Error;
use crate::policy::Policy;
use crate::result::{ByError, ByFrom};
use crate::stopped::Stopped;

/// An error type of an operation that a [`Run`](crate::Run) takes. [`Policy::run`] says what the call then gives.
///
/// Do not implement it: give your type a `From<Stopped>`, or write `run!`. `C` and `W` are those of the run, and `X` is the error of the
/// call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot say that a call was stopped by a timeout, a deadline, `with_cancel` or `until`",
    label = "this error type cannot be made from `reattempt::Stopped`",
    note = "for one request of `reqwest`, in place of the run: `client.get(url).send_with(&POLICY).await?`; in a run, `.send_checked()` \
            in place of `.send()`, which gives `Ok` for a 503 and repeats a POST; both with `use reattempt::reqwest_0_13::RequestExt as _;`",
    note = "write `run!(policy = POLICY, async || …)`: its error is then a `reattempt::Error<{Self}>`, which is `Failed` or `Stopped`",
    note = "for your own type, with `thiserror`, add the variant `Stopped(#[from] reattempt::Stopped)`; without it, the variant \
            `Stopped(reattempt::Stopped)` and \
            `impl From<reattempt::Stopped> for {Self} {{ fn from(stopped: reattempt::Stopped) -> Self {{ Self::Stopped(stopped) }} }}`",
    note = "for a type parameter, write `run!`, or the bound `{Self}: From<reattempt::Stopped>`",
    note = "or drop the limits that a policy may have: `POLICY.without_limits().run(…)`"
)]
pub trait HoldsStopped<C, W, X>: Sized {
    /// What can cut an attempt.
    #[doc(hidden)]
    type Limits: Stops<X, W> + Send;

    /// The error of the operation in that of the call.
    #[doc(hidden)]
    const ENDS: Ends<Self, X>;
}

macro_rules! ends {
    ([$($parameters:tt)*] $Error:ty, $C:ty, $W:ty => $Ended:ty, $own:expr, $Limits:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($parameters)*> HoldsStopped<$C, $W, $Ended> for $Error {
            type Limits = $Limits;
            const ENDS: Ends<Self, $Ended> = Ends($own);
        }
    };
}

ends!([E: From<Stopped>] E, Policy, ByFrom => E, same, Cut);
ends!([A] Error<A>, Policy, ByError => Self, same, Cut);
ends!([E: OfClient] E, Policy, ByError => Error<E>, Error::failed, Cut);
ends!([E] E, WithoutLimits, ByFrom => E, same, Never);

/// The error of a call: that of its operation, or an [`Error`] around it. So rustc infers one from the other, as in
/// `async { Ok(step().await?) }`.
pub trait CarriesError<E>: From<E> {}

impl<E> CarriesError<E> for E {}

impl<E> CarriesError<E> for Error<E> {}

/// A run that something may stop.
#[diagnostic::on_unimplemented(
    message = "`until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`",
    label = "write `POLICY.run(…)`"
)]
pub trait MayStop {}

#[diagnostic::do_not_recommend]
impl MayStop for Policy {}
