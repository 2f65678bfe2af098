//! Which errors of an operation are retried: the rules of the attribute as types.

use std::error::Error;
use std::fmt;

use crate::classify::{Retryable, Ruling, Said, find_in};
use crate::sealed::Sealed;

/// Decides whether another attempt may follow an error.
pub trait Rule<E>: Sealed {
    /// Returns the ruling on the error.
    fn ruling(&mut self, error: &E) -> Ruling;
}

/// The rule of a run without `when` and `on`: the verdict of the error decides.
#[derive(Debug)]
pub struct ByVerdict;

impl Sealed for ByVerdict {}

impl<E: Retryable> Rule<E> for ByVerdict {
    fn ruling(&mut self, error: &E) -> Ruling {
        Ruling::by(Said::of(error))
    }
}

/// The rule of `when`: a predicate decides.
#[derive(Debug)]
pub struct When<P>(pub(super) P);

impl<P> Sealed for When<P> {}

impl<E, P: FnMut(&E) -> bool> Rule<E> for When<P> {
    fn ruling(&mut self, error: &E) -> Ruling {
        Ruling {
            retry: (self.0)(error),
            said: Said::UNKNOWN,
        }
    }
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

/// The rule of `on`: errors in which a search finds one type, and errors that the other searches `N` find.
pub struct On<E, N = ()> {
    find: fn(&E) -> Option<Said>,
    others: N,
}

impl<E, N> On<E, N> {
    pub(super) fn itself<A>(others: N) -> Self
    where
        E: Chained,
        A: Error + Retryable + 'static,
    {
        let find = |error: &E| find_in::<A>(error.link(), |found| Said::of(found.error()));
        Self { find, others }
    }

    pub(super) fn source<A>(others: N) -> Self
    where
        E: AsRef<dyn Error + Send + Sync>,
        A: Error + Retryable + 'static,
    {
        let find = |error: &E| find_in::<A>(error.as_ref(), |found| Said::of(found.error()));
        Self { find, others }
    }
}

/// Searches an error for the types of one or more `on`.
pub trait Finder<E>: Sealed {
    /// Returns the answer of the first error of these types that is not permanent.
    fn found(&self, error: &E) -> Option<Said>;
}

impl Sealed for () {}

impl<E> Finder<E> for () {
    fn found(&self, _error: &E) -> Option<Said> {
        None
    }
}

impl<E, N> Sealed for On<E, N> {}

impl<E, N: Finder<E>> Finder<E> for On<E, N> {
    fn found(&self, error: &E) -> Option<Said> {
        self.others.found(error).or_else(|| (self.find)(error))
    }
}

impl<E, N: Finder<E>> Rule<E> for On<E, N> {
    fn ruling(&mut self, error: &E) -> Ruling {
        self.found(error)
            .map_or(Ruling::stop(Said::UNKNOWN), Ruling::retry)
    }
}

/// The rule of `on` with `when`: the search must find the error, and the predicate must return true.
#[derive(Debug)]
pub struct Both<F, P>(pub(super) F, pub(super) P);

impl<F, P> Sealed for Both<F, P> {}

impl<E, F: Finder<E>, P: FnMut(&E) -> bool> Rule<E> for Both<F, P> {
    fn ruling(&mut self, error: &E) -> Ruling {
        match self.0.found(error) {
            Some(said) if (self.1)(error) => Ruling::retry(said),
            said => Ruling::stop(said.unwrap_or(Said::UNKNOWN)),
        }
    }
}

/// The rule of `unless`, or none.
pub trait Vetoes<E>: Sealed {
    /// Returns whether this error must not be retried.
    fn forbids(&mut self, error: &E) -> bool;
}

/// Forbids nothing.
#[derive(Debug)]
pub struct NoVeto;

impl Sealed for NoVeto {}

impl<E> Vetoes<E> for NoVeto {
    fn forbids(&mut self, _error: &E) -> bool {
        false
    }
}

/// Forbids the retry of errors for which a predicate returns true.
#[derive(Debug)]
pub struct Veto<P>(pub(super) P);

impl<P> Sealed for Veto<P> {}

impl<E, P: FnMut(&E) -> bool> Vetoes<E> for Veto<P> {
    fn forbids(&mut self, error: &E) -> bool {
        (self.0)(error)
    }
}

impl<E, N> fmt::Debug for On<E, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On").finish_non_exhaustive()
    }
}
