//! Which errors of an operation are retried: the rules of the attribute as types.

use std::error::Error;
use std::fmt;

use crate::classify::{Retryable, Ruling, Said, find_in};
use crate::sealed::Sealed;

/// Says of an error whether another attempt may follow.
pub trait Rule<E>: Sealed {
    /// The ruling on an error.
    fn ruling(&mut self, error: &E) -> Ruling;
}

/// The error's own verdict decides.
#[derive(Debug)]
pub struct ByVerdict;

impl Sealed for ByVerdict {}

impl<E: Retryable> Rule<E> for ByVerdict {
    fn ruling(&mut self, error: &E) -> Ruling {
        Ruling::by(Said::of(error))
    }
}

/// A predicate decides.
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

/// An error that can be searched: of std's trait, and without borrows.
#[diagnostic::on_unimplemented(
    message = "`on` cannot look inside `{Self}`",
    label = "expected an error of std's trait, and `'static`",
    note = "for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `.on_source::<A>()`",
    note = "for any other type, write `.when(|error| …)`"
)]
pub trait Chained {
    /// The error as the first link of its chain.
    fn link(&self) -> &(dyn Error + 'static);
}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Chained for E {
    fn link(&self) -> &(dyn Error + 'static) {
        self
    }
}

/// Errors in which a search finds one of a type; or those of `N`.
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

/// Finds errors of some types.
pub trait Finder<E>: Sealed {
    /// The answer of the first one that is not permanent.
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

/// Errors that both a search finds and a predicate names.
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

/// Forbids the retry of an error.
pub trait Vetoes<E>: Sealed {
    /// Whether it does.
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

/// Forbids what a predicate names.
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
