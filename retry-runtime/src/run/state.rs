//! What the type of a run says: its policy, what gives its errors a verdict, and the error of its call.
//!
//! rustc infers it: `Policy: Runs<S>` gives the policy, the rules give `V`, and [`HoldsStopped`] gives `W` and `X`.

use std::error::Error;
use std::marker::PhantomData;

use super::WithoutLimits;
use super::ends::HoldsStopped;
use crate::classify::{Assessment, Retryable};
use crate::policy::Policy;
use crate::sealed::Sealed;

/// What a run knows of its policy `C`, of what gives its errors a verdict, `V`, and of the error `X` of its call, which `W` makes if the
/// call is stopped.
#[derive(Debug)]
#[expect(
    clippy::type_complexity,
    reason = "it is four types, none of which it has a value of"
)]
pub struct Known<C, V, W, X>(PhantomData<fn() -> (C, V, W, X)>);

/// What gives the errors of a run their verdict: their type.
#[derive(Debug)]
pub enum ByType {}

/// What gives the errors of a run their verdict: the error that `on` finds inside.
#[derive(Debug)]
pub enum ByOn {}

/// What gives the errors of a run their verdict: `verdict`.
#[derive(Debug)]
pub enum ByVerdict {}

/// What a [`Run`](crate::Run) knows: a [`Known`]. You need not write it.
pub trait RunState: Sealed {
    /// [`Policy`], or [`WithoutLimits`].
    type Policy;
    /// What gives an error its verdict.
    type By;
    /// How a call that was stopped gets its error.
    type Way;
    /// The error of the call.
    type Ended;
}

impl<C, V, W, X> Sealed for Known<C, V, W, X> {}

impl<C, V, W, X> RunState for Known<C, V, W, X> {
    type Policy = C;
    type By = V;
    type Way = W;
    type Ended = X;
}

/// A policy whose runs begin in this state.
pub trait Runs<S> {}

impl<W, X> Runs<Known<Self, ByType, W, X>> for Policy {}
impl<W, X> Runs<Known<Self, ByType, W, X>> for WithoutLimits {}

pub(super) type LimitsOf<E, S> = <E as HoldsStopped<
    <S as RunState>::Policy,
    <S as RunState>::Way,
    <S as RunState>::Ended,
>>::Limits;

/// An error type about which a run can decide: any, if `on` or `verdict` does. If not, the errors need a verdict of their own, so the
/// type is [`Retryable`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its errors are worth another attempt",
    label = "no verdict for `{Self}`",
    note = "name the error types to retry: `.on::<std::io::Error>()`",
    note = "or give each error a verdict: `.verdict(of)`, with `fn of(error: &{Self}) -> Verdict`; or, for your own type, `#[derive(reattempt::Retryable)]`",
    note = "or write a predicate: `run!(when = is_temporary, async || …)`, with `fn is_temporary(error: &{Self}) -> bool`",
    note = "or, for an error of another crate, enable the feature of `reattempt` with the name and the version of that crate"
)]
pub trait Judged<V> {
    /// Returns the error's own answer.
    #[doc(hidden)]
    fn own(&self) -> Assessment {
        Assessment::UNKNOWN
    }
}

impl<E: Retryable> Judged<ByType> for E {
    fn own(&self) -> Assessment {
        // With `when`, a permanent error is retried too, and its hint counts.
        Assessment::of(self)
    }
}

impl<E> Judged<ByOn> for E {}
impl<E> Judged<ByVerdict> for E {}

/// What gives the errors of a run their verdict, if `V` may do so after it.
#[diagnostic::on_unimplemented(
    message = "`verdict` has no effect with `on`: each error that `on` names has its own verdict",
    label = "remove this, or the other one",
    note = "without `on`, `verdict` can look for the error inside: `error.source()`, or `error.downcast_ref()`"
)]
pub trait Beside<V> {}

impl<V> Beside<V> for ByType {}
impl Beside<Self> for ByOn {}
impl Beside<Self> for ByVerdict {}

/// An error type whose sources `on` can search.
#[diagnostic::on_unimplemented(
    message = "`on` cannot look inside `{Self}`",
    label = "expected a type that implements `std::error::Error`",
    note = "for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `run!(on(…), async || …)`",
    note = "for any other type, write `run!(when = |error| …, async || …)`"
)]
pub trait HasSources: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> HasSources for E {}
