//! The methods that select the errors to retry.

use std::error::Error;

use super::Run;
use super::rules::{Both, ByVerdict, Chained, On, When};
use crate::classify::Retryable;

impl<'p, O, T, E, V, C, H> Run<'p, O, T, E, ByVerdict, V, C, H> {
    /// Retries only the errors for which `when` returns true. Hints of the error, such as `Retry-After`, are ignored;
    /// use [`on`](Self::on) to follow them. To use both, call `on` first.
    pub fn when<P>(self, when: P) -> Run<'p, O, T, E, When<P>, V, C, H>
    where
        P: FnMut(&E) -> bool,
    {
        self.change(|parts| parts.with_rule(When(when)))
    }

    /// Retries only the errors that are an `A`, or have an `A` among their sources. An `A` whose verdict is permanent
    /// is not retried.
    pub fn on<A>(self) -> Run<'p, O, T, E, On<E>, V, C, H>
    where
        E: Chained,
        A: Error + Retryable + 'static,
    {
        self.change(|parts| parts.with_rule(On::itself::<A>(())))
    }

    /// The same as [`on`](Self::on), for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>` with an `A` inside.
    pub fn on_source<A>(self) -> Run<'p, O, T, E, On<E>, V, C, H>
    where
        E: AsRef<dyn Error + Send + Sync>,
        A: Error + Retryable + 'static,
    {
        self.change(|parts| parts.with_rule(On::source::<A>(())))
    }
}

impl<'p, O, T, E, N, V, C, H> Run<'p, O, T, E, On<E, N>, V, C, H> {
    /// Also retries the errors that are a `B`, or have a `B` among their sources.
    #[expect(clippy::type_complexity, reason = "the type lists the rules")]
    pub fn on<B>(self) -> Run<'p, O, T, E, On<E, On<E, N>>, V, C, H>
    where
        E: Chained,
        B: Error + Retryable + 'static,
    {
        self.change(|parts| parts.and_rule(On::itself::<B>))
    }

    /// The same as [`on`](Self::on), for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>` with a `B` inside.
    #[expect(clippy::type_complexity, reason = "the type lists the rules")]
    pub fn on_source<B>(self) -> Run<'p, O, T, E, On<E, On<E, N>>, V, C, H>
    where
        E: AsRef<dyn Error + Send + Sync>,
        B: Error + Retryable + 'static,
    {
        self.change(|parts| parts.and_rule(On::source::<B>))
    }

    /// Retries an error that `on` selects only if `when` also returns true.
    #[expect(clippy::type_complexity, reason = "the type lists the rules")]
    pub fn when<P>(self, when: P) -> Run<'p, O, T, E, Both<On<E, N>, P>, V, C, H>
    where
        P: FnMut(&E) -> bool,
    {
        self.change(|parts| parts.and_rule(|on| Both(on, when)))
    }
}
