//! Which errors of an operation are retried: the rules of the attribute.

use std::error::Error;

use crate::classify::{Retryable, Ruling, Said};
use crate::lookup::find_in;

/// The rules of a run, each as often as it was written.
pub(super) struct RunRules<'p, E> {
    /// Each gives the answer of the first error of its type that is not permanent.
    pub(super) on: Vec<fn(&E) -> Option<Said>>,
    pub(super) when: Vec<Predicate<'p, E>>,
    pub(super) unless: Vec<Predicate<'p, E>>,
}

type Predicate<'p, E> = Box<dyn FnMut(&E) -> bool + Send + 'p>;

/// Decides whether another attempt may follow an error, `unless` left out.
pub(super) type Rule<'p, E> = fn(&mut RunRules<'p, E>, &E) -> Ruling;

impl<E> RunRules<'_, E> {
    /// The rule of a run with `on` or `when`: one `on`, if there is any, and each `when` must select the error.
    pub(super) fn ruling(&mut self, error: &E) -> Ruling {
        let found = self.on.iter().find_map(|find| find(error));
        let said = found.unwrap_or(Said::UNKNOWN);
        let selected = found.is_some() || self.on.is_empty();
        Ruling {
            retry: selected && self.when.iter_mut().all(|when| when(error)),
            said,
        }
    }

    /// Whether an `unless` forbids to retry this error.
    pub(super) fn forbid(&mut self, error: &E) -> bool {
        self.unless.iter_mut().any(|veto| veto(error))
    }
}

impl<E> Default for RunRules<'_, E> {
    fn default() -> Self {
        Self {
            on: Vec::new(),
            when: Vec::new(),
            unless: Vec::new(),
        }
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
