//! Which errors of an operation are retried: the rules of the attribute.

use std::error::Error;

use crate::call::Cut;
use crate::classify::{OkAnswer, Retryable, Ruling, Said};
use crate::event::RetryEvent;
use crate::lookup::find_in;

/// The rules and hooks of a run: a list of types. In boxes, they would have to be `Send`, also where the future of the run
/// need not be.
pub trait RunRules<T, E> {
    /// Asks the rules in the order in which they were written, until one answers. Yes is [`Said::UNKNOWN`], and a delay is a
    /// hint.
    fn ask(&mut self, rule: &Rule<'_, T, E>) -> Option<Said>;

    /// Whether one says yes.
    fn say(&mut self, rule: &Rule<'_, T, E>) -> bool {
        self.ask(rule).is_some()
    }
}

/// The rules of a run that has none.
#[derive(Debug)]
pub struct NoRules;

impl<T, E> RunRules<T, E> for NoRules {
    fn ask(&mut self, _: &Rule<'_, T, E>) -> Option<Said> {
        None
    }
}

/// Rules, and one behind them: what the user wrote, and the function that asks it.
#[derive(Debug)]
pub struct AndRule<R, P, T, E> {
    pub(super) rules: R,
    pub(super) written: P,
    pub(super) ask: AskRule<P, T, E>,
}

pub(super) type AskRule<P, T, E> = fn(&mut P, &Rule<'_, T, E>) -> Option<Said>;

impl<R: RunRules<T, E>, P, T, E> RunRules<T, E> for AndRule<R, P, T, E> {
    fn ask(&mut self, rule: &Rule<'_, T, E>) -> Option<Said> {
        let answer = self.rules.ask(rule);
        answer.or_else(|| (self.ask)(&mut self.written, rule))
    }
}

/// A rule or a hook, and what it is asked about.
#[derive(Debug)]
pub enum Rule<'a, T, E> {
    /// Gives the answer of the first error of its type that is not permanent.
    On(&'a E),
    /// Says whether there is an `on`.
    OnAny,
    /// Says whether it refuses the error.
    When(&'a E),
    /// Gives the verdict and the hint of the error, if its type has these where `when` is written.
    WhenSaid(&'a E),
    /// Says whether it forbids to retry the error.
    Unless(&'a E),
    /// Gives the delay after the error.
    RetryAfter(&'a E),
    /// Says whether the `Ok` means failure.
    WhenOk(&'a T),
    /// Says whether the `Ok` is not ready.
    Until(&'a T),
    /// Hears of a retry, and says nothing.
    OnRetry(&'a RetryEvent<'a, E>),
}

/// Decides whether another attempt may follow an error, `unless` left out.
pub(super) type Judge<R, E> = fn(&mut R, &E) -> Ruling;

/// The ruling of a run with `on` or `when`: one `on`, if there is any, and each `when` must select the error.
pub(super) fn ruling<T, E>(rules: &mut impl RunRules<T, E>, error: &E) -> Ruling {
    let found = rules.ask(&Rule::On(error));
    let selected = found.is_some() || !rules.say(&Rule::OnAny);
    let own = rules.ask(&Rule::WhenSaid(error)).unwrap_or(Said::UNKNOWN);
    let retry = selected && !rules.say(&Rule::When(error));
    Ruling::when(retry, found.unwrap_or(own))
}

/// The answer about an `Ok`, if it is the answer that means failure.
pub(super) fn failure(answer: impl OkAnswer, means_failure: bool) -> Option<Said> {
    let (answer, hint) = answer.into_parts();
    let said = Said {
        hint,
        ..Said::UNKNOWN
    };
    (answer == means_failure).then_some(said)
}

/// The answer of a rule that only says yes.
pub(super) fn yes(yes: bool) -> Option<Said> {
    yes.then_some(Said::UNKNOWN)
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
