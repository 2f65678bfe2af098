//! Which errors of an operation are retried: the rules of the attribute. And its hooks.

use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::time::Duration;

use super::ends::HoldsStopped;
use super::state::{Judged, LimitsOf, RunState};
use crate::call::{AsksDelay, Call, Judgement, NextAttemptAt, Said};
use crate::classify::{Assessment, Ruling};
use crate::event::RetryEvent;
use crate::lookup::Last;
use crate::result::{CarriesError, OfClosure};

/// The rules and hooks of a run, each kind in the order in which they were written.
pub(super) struct RunRules<'p, T, E> {
    /// Each gives the answer of the first error of its type that is not permanent.
    pub(super) on: Vec<fn(&E, bool) -> Option<Assessment>>,
    pub(super) when: Vec<Asks<'p, E, bool>>,
    /// What `verdict` says, or else the error itself, if its type is known to have a verdict where `when` is written.
    pub(super) verdict: Option<Asks<'p, E, Assessment>>,
    pub(super) unless: Vec<Asks<'p, E, bool>>,
    pub(super) retry_after: Vec<Asks<'p, E, Option<Duration>>>,
    pub(super) until: Vec<Asks<'p, T, OkParts>>,
    pub(super) when_ok: Vec<Asks<'p, T, OkParts>>,
    pub(super) on_retry: Vec<Hook<'p, E>>,
}

type Asks<'p, S, A> = Box<dyn FnMut(&S) -> A + Send + 'p>;
type Hook<'p, E> = Box<dyn FnMut(&RetryEvent<'_, E>) + Send + 'p>;
type OkParts = (bool, Option<Duration>);

impl<T, E> RunRules<'_, T, E> {
    /// Decides what follows an attempt, as generated code does.
    pub(super) fn settle<S: RunState>(
        &mut self,
        call: &mut Call<'_, LimitsOf<E, S>, Last<E>>,
        ended: Result<Result<T, E>, LimitsOf<E, S>>,
    ) -> ControlFlow<Result<T, S::Ended>, NextAttemptAt>
    where
        E: Judged<S::By> + HoldsStopped<S::Policy, S::Way, S::Ended> + Display,
        S::Ended: CarriesError<E>,
    {
        let ended = ended.map(|result| OfClosure::<_, _, S::Ended>(result, PhantomData));
        // A call keeps what is said first.
        for until in &mut self.until {
            call.ask_about(&ended, Said::NotReady, until);
        }
        for when_ok in &mut self.when_ok {
            call.ask_about(&ended, Said::FailedValue, when_ok);
        }
        if !self.unless.is_empty() {
            call.unless(&ended, |failed| {
                self.unless.iter_mut().any(|veto| veto(failed.error()))
            });
        }
        call.settle_with(
            ended,
            |failed| {
                let error = failed.error();
                let found = self.on.iter().find_map(|find| find(error, failed.harmless));
                let assessment = found.unwrap_or_else(|| match &mut self.verdict {
                    Some(verdict) => verdict(error),
                    None => error.own(),
                });
                Judgement {
                    ruling: if self.on.is_empty() && self.when.is_empty() {
                        Ruling::by(assessment, failed.harmless)
                    } else {
                        let selected = found.is_some() || self.on.is_empty();
                        let retry = selected && self.when.iter_mut().all(|when| when(error));
                        Ruling::when(retry, assessment)
                    },
                    words: failed.words(),
                    keeps: failed.lent(),
                }
            },
            (AsksDelay::RetryAfter, |error| {
                self.retry_after.iter_mut().find_map(|delay| delay(error?))
            }),
            |event| self.on_retry.iter_mut().for_each(|hook| hook(event)),
        )
    }
}
