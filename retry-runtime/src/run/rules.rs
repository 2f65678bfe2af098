//! Which errors of an operation are retried: the rules of the attribute. And its hooks.

use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::time::Duration;

use super::ends::HoldsStopped;
use crate::call::{Call, Judgement, NextAttemptAt, Said};
use crate::classify::{Assessment, Retryable, Ruling, verdict_of};
use crate::event::RetryEvent;
use crate::lookup::Last;

/// The rules and hooks of a run, each kind in the order in which they were written.
pub(super) struct RunRules<'p, T, E> {
    /// Each gives the answer of the first error of its type that is not permanent.
    pub(super) on: Vec<fn(&E, bool) -> Option<Assessment>>,
    pub(super) when: Vec<Asks<'p, E, bool>>,
    /// What `verdict` says, or else the error itself, if its type is known to have a verdict where `when` is written.
    pub(super) verdict: Option<Asks<'p, E, Assessment>>,
    pub(super) unless: Vec<Asks<'p, E, bool>>,
    pub(super) retry_after: Vec<Asks<'p, E, Option<Duration>>>,
    /// `until`, and then `when_ok`, with what each may say: a call keeps what is said first.
    pub(super) of_ok: Vec<(Said, Asks<'p, T, OkParts>)>,
    pub(super) on_retry: Vec<Hook<'p, E>>,
}

type Asks<'p, S, A> = Box<dyn FnMut(&S) -> A + Send + 'p>;
type Hook<'p, E> = Box<dyn FnMut(&RetryEvent<'_, E>) + Send + 'p>;
type OkParts = (bool, Option<Duration>);

impl<T, E> RunRules<'_, T, E> {
    /// Decides what follows an attempt, as generated code does. The rules see the error of the operation.
    pub(super) fn settle<const RULED: bool, C, W, X>(
        &mut self,
        call: &mut Call<'_, E::Limits, Last<X>>,
        ended: Result<Result<T, X>, E::Limits>,
    ) -> ControlFlow<Result<T, X>, NextAttemptAt>
    where
        E: Ruled<RULED> + HoldsStopped<C, W, X>,
        X: Display,
    {
        for (said, ask) in &mut self.of_ok {
            call.ask_about(&ended, *said, ask);
        }
        if !self.unless.is_empty() {
            call.unless(&ended, |failed| {
                let error = E::failed(failed.error());
                error.is_some_and(|error| self.unless.iter_mut().any(|veto| veto(error)))
            });
        }
        call.retry_after(&ended, |error| {
            let error = E::failed(error)?;
            self.retry_after.iter_mut().find_map(|delay| delay(error))
        });
        call.settle_with(
            ended,
            |failed| {
                let ruling = |error: &E| {
                    let found = self.on.iter().find_map(|find| find(error, failed.harmless));
                    let assessment = found.unwrap_or_else(|| match &mut self.verdict {
                        Some(verdict) => verdict(error),
                        None => error.own(),
                    });
                    if self.on.is_empty() && self.when.is_empty() {
                        return Ruling::by(assessment, failed.harmless);
                    }
                    let selected = found.is_some() || self.on.is_empty();
                    let retry = selected && self.when.iter_mut().all(|when| when(error));
                    Ruling::when(retry, assessment)
                };
                // An attempt fails with the error of the operation alone.
                let ruling = E::failed(failed.error()).map(ruling);
                Judgement {
                    ruling: ruling.unwrap_or(Ruling::stop(Assessment::UNKNOWN)),
                    words: failed.words(),
                    keeps: PhantomData,
                }
            },
            |event| {
                let event = event.of(E::failed);
                self.on_retry.iter_mut().for_each(|hook| hook(&event));
            },
        )
    }
}

/// An error type about which a run can decide: any, if `RULED` says that `on`, `when` or `verdict` does. If not, the errors need a
/// verdict of their own, so the type is [`Retryable`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its errors are worth another attempt",
    label = "no verdict for `{Self}`",
    note = "name the error types to retry: `.on::<std::io::Error>()`, or `.on_inside::<…>()` for that of an `anyhow::Error`",
    note = "or write a predicate: `.when_any(is_temporary)`, with `fn is_temporary(error: &{Self}) -> bool`",
    note = "or give each error a verdict: `.verdict(of)`, with `fn of(error: &{Self}) -> Verdict`; or, for your own type, `#[derive(reattempt::Retryable)]`",
    note = "or, for an error of another crate, enable the feature of `reattempt` with the name and the version of that crate"
)]
pub trait Ruled<const RULED: bool> {
    /// Returns the error's own answer.
    #[doc(hidden)]
    fn own(&self) -> Assessment {
        Assessment::UNKNOWN
    }
}

impl<E: Retryable> Ruled<false> for E {
    fn own(&self) -> Assessment {
        verdict_of(self)
    }
}

impl<E> Ruled<true> for E {}

/// What gives the errors of a run their verdict: their type.
#[derive(Debug)]
pub enum ByType {}

/// What gives the errors of a run their verdict: the error that `on` finds inside.
#[derive(Debug)]
pub enum ByOn {}

/// What gives the errors of a run their verdict: `verdict`.
#[derive(Debug)]
pub enum ByVerdict {}

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
    note = "for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `.on_inside::<…>()`",
    note = "for any other type, write `.when_any(|error| …)`"
)]
pub trait HasSources: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> HasSources for E {}

/// An error type that does not implement `Error`, and in which `on_inside` can search.
#[diagnostic::on_unimplemented(
    message = "`on_inside` cannot look inside `{Self}`",
    label = "expected an `anyhow::Error`, or a `Box<dyn Error + Send + Sync>`",
    note = "for a type that implements `std::error::Error`, write `.on::<…>()`",
    note = "for any other type, write `.when_any(|error| …)`"
)]
pub trait HasErrorInside: AsRef<dyn Error + Send + Sync> {}

#[diagnostic::do_not_recommend]
impl<E: AsRef<dyn Error + Send + Sync>> HasErrorInside for E {}
