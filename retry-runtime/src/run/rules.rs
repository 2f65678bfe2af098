//! Which errors of an operation are retried: the rules of the attribute as types.

use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

use crate::classify::{Retryable, Ruling, Said, find_in};

/// Says of an error whether another attempt may follow.
pub trait Rule<E> {
    /// The ruling on an error.
    fn ruling(&mut self, error: &E) -> Ruling;
}

/// The error's own verdict decides.
#[derive(Debug)]
pub struct ByVerdict;

impl<E: Retryable> Rule<E> for ByVerdict {
    fn ruling(&mut self, error: &E) -> Ruling {
        Ruling::by(Said::of(error))
    }
}

/// A predicate decides.
#[derive(Debug)]
pub struct When<P>(pub(super) P);

impl<E, P: FnMut(&E) -> bool> Rule<E> for When<P> {
    fn ruling(&mut self, error: &E) -> Ruling {
        Ruling {
            retry: (self.0)(error),
            said: Said::UNKNOWN,
        }
    }
}

/// Errors that are an `A`, or contain one; or those of `N`. `W` says how to look inside.
pub struct On<A, W, N = ()>(Types<(A, W, N)>);

/// Stands for types, and holds nothing of them.
type Types<T> = PhantomData<fn() -> T>;

impl<A, W, N> On<A, W, N> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

/// Errors of std's trait: they are looked at themselves, and their sources.
#[derive(Debug)]
pub enum Itself {}

/// Errors that hold an error of std's trait.
#[derive(Debug)]
pub enum Source {}

/// Finds errors of the types that it stands for.
#[diagnostic::on_unimplemented(
    message = "`on` cannot look inside `{E}`",
    label = "no error of std's trait, or not `'static`",
    note = "for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>`, write `.on_source::<A>()`",
    note = "for any other type, write `.when(|error| …)`"
)]
pub trait Found<E> {
    /// What the first that is not permanent says of itself.
    fn found(error: &E) -> Option<Said>;
}

impl<E> Found<E> for () {
    fn found(_error: &E) -> Option<Said> {
        None
    }
}

impl<E, A, N> Found<E> for On<A, Itself, N>
where
    E: Error + 'static,
    A: Error + Retryable + 'static,
    N: Found<E>,
{
    fn found(error: &E) -> Option<Said> {
        N::found(error).or_else(|| find_in::<A>(error, Said::of))
    }
}

impl<E, A, N> Found<E> for On<A, Source, N>
where
    E: AsRef<dyn Error + Send + Sync>,
    A: Error + Retryable + 'static,
    N: Found<E>,
{
    fn found(error: &E) -> Option<Said> {
        N::found(error).or_else(|| find_in::<A>(error.as_ref(), Said::of))
    }
}

impl<E, A, W, N> Rule<E> for On<A, W, N>
where
    Self: Found<E>,
{
    fn ruling(&mut self, error: &E) -> Ruling {
        Self::found(error).map_or(Ruling::stop(Said::UNKNOWN), Ruling::retry)
    }
}

/// Errors that both `F` and a predicate name.
pub struct Both<F, P>(P, Types<F>);

impl<F, P> Both<F, P> {
    pub(super) const fn new(when: P) -> Self {
        Self(when, PhantomData)
    }
}

impl<E, F: Found<E>, P: FnMut(&E) -> bool> Rule<E> for Both<F, P> {
    fn ruling(&mut self, error: &E) -> Ruling {
        match F::found(error) {
            Some(said) if (self.0)(error) => Ruling::retry(said),
            said => Ruling::stop(said.unwrap_or(Said::UNKNOWN)),
        }
    }
}

/// Forbids the retry of an error.
pub trait Vetoes<E> {
    /// Whether it does.
    fn forbids(&mut self, error: &E) -> bool;
}

/// Forbids nothing.
#[derive(Debug)]
pub struct Never;

impl<E> Vetoes<E> for Never {
    fn forbids(&mut self, _error: &E) -> bool {
        false
    }
}

/// Forbids what a predicate names.
#[derive(Debug)]
pub struct Veto<P>(pub(super) P);

impl<E, P: FnMut(&E) -> bool> Vetoes<E> for Veto<P> {
    fn forbids(&mut self, error: &E) -> bool {
        (self.0)(error)
    }
}

impl<A, W, N> fmt::Debug for On<A, W, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("On")
            .field(&std::any::type_name::<A>())
            .finish()
    }
}

impl<F, P> fmt::Debug for Both<F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Both")
            .field(&std::any::type_name::<F>())
            .finish_non_exhaustive()
    }
}
