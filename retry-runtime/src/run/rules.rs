//! Which errors of an operation are retried: the rules of the attribute. And its hooks.

use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::time::Duration;

use super::ends::RunError;
use crate::call::{Call, Judgement, NextAttemptAt, Said};
use crate::classify::{Assessment, Retryable, Ruling, verdict_of};
use crate::event::RetryEvent;
use crate::lookup::Last;

/// The rules and hooks of a run, each kind in the order in which they were written.
pub(super) struct RunRules<'p, T, E> {
    /// Each gives the answer of the first error of its type that is not permanent.
    pub(super) on: Vec<Finds<E>>,
    pub(super) when: Vec<Asks<'p, E, bool>>,
    /// The verdict and the hint of an error, if its type is known to have them where `when` is written.
    pub(super) own: fn(&E) -> Assessment,
    /// What `verdict` says in its place.
    pub(super) given: Option<Asks<'p, E, Assessment>>,
    pub(super) unless: Vec<Asks<'p, E, bool>>,
    pub(super) retry_after: Vec<Asks<'p, E, Option<Duration>>>,
    pub(super) when_ok: Vec<Asks<'p, T, OkParts>>,
    pub(super) until: Vec<Asks<'p, T, OkParts>>,
    pub(super) on_retry: Vec<Hook<'p, E>>,
}

pub(super) type Finds<E> = fn(&E, bool) -> Option<Assessment>;
type Asks<'p, S, A> = Box<dyn FnMut(&S) -> A + Send + 'p>;
type Hook<'p, E> = Box<dyn FnMut(&RetryEvent<'_, E>) + Send + 'p>;
type OkParts = (bool, Option<Duration>);

impl<T, E> RunRules<'_, T, E> {
    pub(super) const fn none() -> Self {
        Self {
            on: Vec::new(),
            when: Vec::new(),
            own: |_| Assessment::UNKNOWN,
            given: None,
            unless: Vec::new(),
            retry_after: Vec::new(),
            when_ok: Vec::new(),
            until: Vec::new(),
            on_retry: Vec::new(),
        }
    }

    /// Decides what follows an attempt, as generated code does. The rules see the error of the operation.
    pub(super) fn settle<const RULED: bool, C, W, X>(
        &mut self,
        call: &mut Call<'_, E::Limits, Last<X>>,
        ended: Result<Result<T, X>, E::Limits>,
    ) -> ControlFlow<Result<T, X>, NextAttemptAt>
    where
        E: Ruled<RULED> + RunError<C, W, X>,
        X: Display,
    {
        call.ask_about(&ended, Said::NotReady, |value| {
            answer(&mut self.until, value, false)
        });
        call.ask_about(&ended, Said::FailedValue, |value| {
            answer(&mut self.when_ok, value, true)
        });
        if !self.unless.is_empty() {
            let unless = &mut self.unless;
            call.unless(&ended, |failed| {
                let error = E::failed(failed.error());
                error.is_some_and(|error| unless.iter_mut().any(|veto| veto(error)))
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
                    error.by_verdict().unwrap_or_else(|| {
                        let found = self.on.iter().find_map(|find| find(error, failed.harmless));
                        let assessment = found.unwrap_or_else(|| match &mut self.given {
                            Some(verdict) => verdict(error),
                            None => (self.own)(error),
                        });
                        if self.on.is_empty() && self.when.is_empty() {
                            return Ruling::by(assessment);
                        }
                        let selected = found.is_some() || self.on.is_empty();
                        let retry = selected && self.when.iter_mut().all(|when| when(error));
                        Ruling::when(retry, assessment)
                    })
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

/// Asks about an `Ok` until one gives this answer.
fn answer<T>(rules: &mut [Asks<'_, T, OkParts>], value: &T, answer: bool) -> OkParts {
    let mut answers = rules.iter_mut().map(|ask| ask(value));
    let found = answers.find(|(assessment, _)| *assessment == answer);
    found.unwrap_or((!answer, None))
}

/// Whether `on`, `when` or `verdict` decides about the errors of a run. If not, their own verdict does.
pub trait Ruled<const BY_RULES: bool> {
    /// Returns the ruling by the verdict, or `None` if the rules decide.
    fn by_verdict(&self) -> Option<Ruling>;
}

impl<E: Retryable> Ruled<false> for E {
    fn by_verdict(&self) -> Option<Ruling> {
        Some(Ruling::by(verdict_of(self)))
    }
}

impl<E> Ruled<true> for E {
    fn by_verdict(&self) -> Option<Ruling> {
        None
    }
}

/// An error type whose sources `on` can search.
#[diagnostic::on_unimplemented(
    message = "`on` cannot look inside `{Self}`",
    label = "expected a type that implements `std::error::Error`",
    note = "for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `.on_inside::<…>()`",
    note = "for any other type, write `.when_any(|error| …)`"
)]
pub trait Linked: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Linked for E {}

/// An error type that does not implement `Error`, and in which `on_inside` can search.
#[diagnostic::on_unimplemented(
    message = "`on_inside` cannot look inside `{Self}`",
    label = "expected an `anyhow::Error`, or a `Box<dyn Error + Send + Sync>`",
    note = "for a type that implements `std::error::Error`, write `.on::<…>()`",
    note = "for any other type, write `.when_any(|error| …)`"
)]
pub trait Chained: AsRef<dyn Error + Send + Sync> {}

#[diagnostic::do_not_recommend]
impl<E: AsRef<dyn Error + Send + Sync>> Chained for E {}
