//! What a method `commit` without arguments returned: the `COMMIT` of a transaction, or anything else. The same of `post` and `patch`.
//!
//! ```text
//! Input:  transaction.commit()
//! Output: transaction.commit().__retry_commit(|commit, returned| commit.track(returned))
//! ```
//!
//! It is behind the call, because only rustc knows where the expression in front of the call begins.

use std::any::type_name;
use std::marker::PhantomData;

use super::Level;
use crate::adapters::ClientRequest;
use crate::trace::{Lines, ONCE, UNSEEN_REQUEST, limited};

/// Every value.
pub trait Returned: Sized {
    /// Hands the value, and what its type says, to a function that is written where the type is known.
    #[inline]
    fn __retry_commit<R>(self, with: impl FnOnce(Commit<Self>, Self) -> R) -> R {
        with(Level(Other(PhantomData)), self)
    }
}

impl<C> Returned for C {}

/// What a method `commit` returned.
///
/// ```text
/// // Output:                       C: Future<Output = Result<_, E>>, E of a client      else
/// commit.track(returned)           a future that the attempt knows                      `returned`
/// commit.track_apart(returned)     a compile error                                      `returned`
/// commit.track_beside(returned)    a compile error                                      `returned`
/// // Output:                       R: ClientRequest                                     else
/// commit.send(returned)            a compile error                                      `returned`
/// commit.send_apart(returned)      a compile error                                      `returned`
/// commit.send_beside(returned)     a compile error                                      `returned`
/// ```
pub type Commit<C> = Level<Other<C>>;

/// What no database client returns.
#[derive(Debug)]
pub struct Other<C>(PhantomData<fn(C)>);

#[cfg(feature = "_transactions")]
impl<T, E: crate::classify::Lost, C: Future<Output = Result<T, E>>> Commit<C> {
    /// Lets the attempt know that the commit is under way, and how it ends.
    pub fn track(&self, commit: C) -> impl Future<Output = Result<T, E>> + use<T, E, C> {
        crate::context::open_commit(commit)
    }

    /// Refuses the commit. It is in a task, from which the attempt learns nothing.
    #[rustfmt::skip]
    pub fn track_apart(&self, commit: C) -> C where E: IsTracked { commit }

    /// Refuses the commit. A second attempt may run beside this one.
    #[rustfmt::skip]
    pub fn track_beside(&self, commit: C) -> C where E: CommitsOnce { commit }
}

impl<R: ClientRequest> Commit<R> {
    /// Refuses a request until the attribute says whether running twice does harm.
    #[rustfmt::skip]
    pub fn send(&self, request: R) -> R where R: MayRunTwice { request }

    /// Refuses a request that is sent once. It is in a task, from which the attempt learns nothing.
    #[rustfmt::skip]
    pub fn send_apart(&self, request: R) -> R where R: IsTrackedThere { request }

    /// Refuses a request that is sent once. A second attempt may run beside this one.
    #[rustfmt::skip]
    pub fn send_beside(&self, request: R) -> R where R: RunsOnce { request }
}

macro_rules! returned {
    ($($method:ident)+) => {
        impl<C> Other<C> {$(
            /// Returns the value.
            #[inline]
            pub fn $method(&self, other: C) -> C {
                other
            }
        )+}
    };
}

returned!(track track_apart track_beside send_apart send_beside);

impl<C> Other<C> {
    /// Returns the value. If it is a request of `reqwest` that has no adapter, an event says so once.
    #[inline]
    pub fn send(&self, other: C) -> C {
        warn_of(type_name::<C>());
        other
    }
}

/// Without its feature, a request has no type here, but a name.
fn warn_of(client: &'static str) {
    static LINES: Lines = Lines::new();
    if client.starts_with("reqwest") && client.ends_with("::RequestBuilder") {
        limited!(WARN, LINES, ONCE, UNSEEN_REQUEST, client = client);
    }
}

/// The error of a `COMMIT` of which an attempt learns in a task: none.
#[diagnostic::on_unimplemented(
    message = "if the answer to this `.commit()` is lost, the attempt does not know it, and would run the transaction again",
    label = "in a task without `propagate`",
    note = "spawn `reattempt::propagate(future)`"
)]
pub trait IsTracked {}

/// The error of a `COMMIT` that two attempts may send at once: none.
#[diagnostic::on_unimplemented(
    message = "with `hedge`, two attempts run at once, and both may commit this transaction",
    label = "both commits would take effect",
    note = "remove `hedge`, or, if running twice does no harm, add `idempotent = true`"
)]
pub trait CommitsOnce {}

/// A POST or PATCH that may be sent twice: none.
#[diagnostic::on_unimplemented(
    message = "if the answer to this request is lost, another attempt sends it again, and the server may act on both",
    label = "say in the attribute whether that does harm",
    note = "if it does, and the server reads keys: `.attempt_headers()`, with `use reattempt::reqwest_0_13::RequestExt as _;`, or `reqwest_0_12`; for a middleware or a key of your own, `.header(\"idempotency-key\", key)`",
    note = "if it does, and the server reads no keys: `.send_checked()` in place of `.send()`, with the same `use`: it is sent again only if it had no effect",
    note = "if it does, and the client has no such method: `idempotent = false`",
    note = "if it does not, as in a search: `idempotent = true`"
)]
pub trait MayRunTwice {}

/// A request that an attempt sends in a task, and knows of: none.
#[diagnostic::on_unimplemented(
    message = "if the answer to this request is lost, the attempt does not know it, and would send it again",
    label = "in a task without `propagate`",
    note = "spawn `reattempt::propagate(future)`"
)]
pub trait IsTrackedThere {}

/// A request that two attempts may send at once: none.
#[diagnostic::on_unimplemented(
    message = "with `hedge`, two attempts run at once, and only one of them may send this request",
    label = "the other would only wait",
    note = "remove `hedge`; or, if the server reads keys, add `.attempt_headers()`; or, if running twice does no harm, `idempotent = true`"
)]
pub trait RunsOnce {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_of_http_has_its_requests() {
        #[cfg(feature = "_requests")]
        const fn is_request<R: ClientRequest>() {}
        #[cfg(feature = "reqwest-0_13")]
        is_request::<reqwest::RequestBuilder>();
        #[cfg(feature = "reqwest-0_12")]
        is_request::<reqwest_0_12::RequestBuilder>();
        #[cfg(feature = "reqwest-middleware-0_5")]
        is_request::<reqwest_middleware::RequestBuilder>();
        #[cfg(feature = "reqwest-middleware-0_4")]
        is_request::<reqwest_middleware_0_4::RequestBuilder>();
        let sent = 1.__retry_commit(|commit, returned| commit.send(returned));
        assert_eq!(sent, 1, "no request");
    }
}
