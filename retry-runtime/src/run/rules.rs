//! Which errors of an operation are retried: the rules of the attribute.

use std::error::Error;
use std::time::Duration;

use crate::call::Cut;
use crate::classify::{Retryable, Ruling, Said};
use crate::lookup::find_in;

/// The rules of a run, as they were written.
pub(super) struct RunRules<'p, T, E>(Vec<Rule<'p, T, E>>);

/// One rule. One list for all of them keeps the future small.
pub(super) enum Rule<'p, T, E> {
    /// Gives the answer of the first error of its type that is not permanent.
    On(fn(&E) -> Option<Said>),
    /// Selects errors, and asks those for their verdict and their hint, if their type has these.
    When(Predicate<'p, E>, fn(&E) -> Said),
    Unless(Predicate<'p, E>),
    /// Gives the delay after an error.
    RetryAfter(DelayOf<'p, E>),
    WhenOk(Predicate<'p, T>),
    Until(Predicate<'p, T>),
}

type DelayOf<'p, E> = Box<dyn FnMut(&E) -> Option<Duration> + Send + 'p>;
type Predicate<'p, A> = Box<dyn FnMut(&A) -> bool + Send + 'p>;

/// Decides whether another attempt may follow an error, `unless` left out.
pub(super) type Judge<'p, T, E> = fn(&mut RunRules<'p, T, E>, &E) -> Ruling;

impl<'p, T, E> RunRules<'p, T, E> {
    pub(super) fn push(&mut self, rule: Rule<'p, T, E>) {
        self.0.push(rule);
    }

    /// The ruling of a run with `on` or `when`: one `on`, if there is any, and each `when` must select the error.
    pub(super) fn ruling(&mut self, error: &E) -> Ruling {
        let (mut found, mut own, mut selected) = (None, Said::UNKNOWN, true);
        for rule in &self.0 {
            match rule {
                Rule::On(find) => {
                    found = found.or_else(|| find(error));
                    selected = found.is_some();
                }
                Rule::When(_, ask) => own = ask(error),
                _ => {}
            }
        }
        let retry = selected
            && self.0.iter_mut().all(|rule| match rule {
                Rule::When(when, _) => when(error),
                _ => true,
            });
        Ruling::when(retry, found.unwrap_or(own))
    }

    /// Whether an `unless` forbids to retry this error.
    pub(super) fn forbid(&mut self, error: &E) -> bool {
        self.0.iter_mut().any(|rule| match rule {
            Rule::Unless(veto) => veto(error),
            _ => false,
        })
    }

    /// The delay that the first `retry_after` which says one gives.
    pub(super) fn delay(&mut self, error: &E) -> Option<Duration> {
        self.0.iter_mut().find_map(|rule| match rule {
            Rule::RetryAfter(delay) => delay(error),
            _ => None,
        })
    }

    /// Whether each `until` says that this `Ok` is ready.
    pub(super) fn ready(&mut self, value: &T) -> bool {
        self.0.iter_mut().all(|rule| match rule {
            Rule::Until(is_ready) => is_ready(value),
            _ => true,
        })
    }

    /// Whether a `when_ok` says that this `Ok` means failure.
    pub(super) fn fail(&mut self, value: &T) -> bool {
        self.0.iter_mut().any(|rule| match rule {
            Rule::WhenOk(fails) => fails(value),
            _ => false,
        })
    }
}

impl<T, E> Default for RunRules<'_, T, E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Searches a chain of errors for an `A`.
pub(super) fn answer_of<A: Error + Retryable + 'static>(
    first: &(dyn Error + 'static),
) -> Option<Said> {
    find_in::<A>(first, |found| Said::of(found.error()))
}

/// An error type that `on` can search: it implements `std::error::Error` and is `'static`.
#[diagnostic::on_unimplemented(
    message = "`on` cannot look inside `{Self}`",
    label = "expected a `'static` type that implements `std::error::Error`",
    note = "for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `.on_source::<A>()`",
    note = "for any other type, write `.when(|error| …)`"
)]
pub trait Chained {
    /// Returns the error as the first link of its chain.
    fn link(&self) -> &(dyn Error + 'static);
}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Chained for E {
    fn link(&self) -> &(dyn Error + 'static) {
        self
    }
}

/// A run that can end with an `Ok` that is not ready: its error type can hold a `Stopped`.
#[diagnostic::on_unimplemented(
    message = "this run cannot end with an `Ok` that is not ready",
    label = "`until` needs a `run` with limits",
    note = "after `without_limits`, the error type need not hold the `Stopped` of such a call",
    note = "`when_ok` returns the last `Ok` instead, ready or not"
)]
pub trait CanBeUnready {}

impl CanBeUnready for Cut {}
