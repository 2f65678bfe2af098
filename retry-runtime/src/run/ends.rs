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
use crate::call::{Cut, Never, Stops};
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
}

macro_rules! ends {
    ([$($parameters:tt)*] $Error:ty, $C:ty, $W:ty => $Ended:ty, $Limits:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($parameters)*> HoldsStopped<$C, $W, $Ended> for $Error {
            type Limits = $Limits;
        }
    };
}

ends!([E: From<Stopped>] E, Policy, ByFrom => E, Cut);
ends!([A] Error<A>, Policy, ByError => Self, Cut);
ends!([E: OfClient] E, Policy, ByError => Error<E>, Cut);
ends!([E] E, WithoutLimits, ByFrom => E, Never);

/// A run that something may stop.
#[diagnostic::on_unimplemented(
    message = "`until` and `with_cancel` end with a `Stopped`, but nothing stops a run of a policy `without_limits`",
    label = "write `POLICY.run(…)`"
)]
pub trait MayStop {}

#[diagnostic::do_not_recommend]
impl MayStop for Policy {}
