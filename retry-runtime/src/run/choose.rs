//! The setters that say which errors are retried.

use std::error::Error;

use super::Run;
use super::rules::{Both, ByVerdict, Chained, On, When};
use crate::classify::Retryable;

impl<'p, O, T, E, V, C, H> Run<'p, O, T, E, ByVerdict, V, C, H> {
    /// Retries the errors for which `when` returns true, and no others. Hints of the error, such as
    /// `Retry-After`, are not looked for; use [`on`](Self::on) to have them followed. Together with `on`, call
    /// `on` first.
    pub fn when<P>(self, when: P) -> Run<'p, O, T, E, When<P>, V, C, H>
    where
        P: FnMut(&E) -> bool,
    {
        self.change(|parts| parts.with_rule(When(when)))
    }

    /// Retries the errors that are an `A`, or have one among their sources, and no others. An `A` whose verdict is
    /// permanent is not retried.
    pub fn on<A>(self) -> Run<'p, O, T, E, On<E>, V, C, H>
    where
        E: Chained,
        A: Error + Retryable + 'static,
    {
        self.change(|parts| parts.with_rule(On::itself::<A>(())))
    }

    /// The same for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>` with an `A` inside.
    pub fn on_source<A>(self) -> Run<'p, O, T, E, On<E>, V, C, H>
    where
        E: AsRef<dyn Error + Send + Sync>,
        A: Error + Retryable + 'static,
    {
        self.change(|parts| parts.with_rule(On::source::<A>(())))
    }
}

impl<'p, O, T, E, N, V, C, H> Run<'p, O, T, E, On<E, N>, V, C, H> {
    /// Also retries the errors that are a `B`, or have one among their sources.
    #[expect(clippy::type_complexity, reason = "each type says what it is")]
    pub fn on<B>(self) -> Run<'p, O, T, E, On<E, On<E, N>>, V, C, H>
    where
        E: Chained,
        B: Error + Retryable + 'static,
    {
        self.change(|parts| parts.and_rule(On::itself::<B>))
    }

    /// The same for an `anyhow::Error` or a `Box<dyn Error + Send + Sync>` with a `B` inside.
    #[expect(clippy::type_complexity, reason = "each type says what it is")]
    pub fn on_source<B>(self) -> Run<'p, O, T, E, On<E, On<E, N>>, V, C, H>
    where
        E: AsRef<dyn Error + Send + Sync>,
        B: Error + Retryable + 'static,
    {
        self.change(|parts| parts.and_rule(On::source::<B>))
    }

    /// Asks `when` too: of the errors that `on` names, only those for which it returns true are retried.
    #[expect(clippy::type_complexity, reason = "each type says what it is")]
    pub fn when<P>(self, when: P) -> Run<'p, O, T, E, Both<On<E, N>, P>, V, C, H>
    where
        P: FnMut(&E) -> bool,
    {
        self.change(|parts| parts.and_rule(|on| Both(on, when)))
    }
}
