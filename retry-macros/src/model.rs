//! What an attribute means: typed settings in which nonsense cannot be written.
//!
//! `lower` makes a [`Model`] out of what was typed; `expand` turns it into code and cannot fail.

use std::time::Duration;

use proc_macro2::{Ident, Span};
use syn::{Expr, ExprClosure, LitStr, Pat, Path, Type};

use crate::errors::At;

/// The settings of one annotated function.
#[derive(Default)]
pub(crate) struct Model {
    /// Where the facade is; `None` is `::reattempt`.
    pub(crate) root: Option<Path>,
    /// The label in events and metrics; `None` is module path and function name.
    pub(crate) name: Option<LitStr>,
    /// The policy that the settings below override.
    pub(crate) policy: Option<Expr>,
    pub(crate) attempts: Option<Spanned<Setting<Attempts>>>,
    /// Limit of one attempt.
    pub(crate) timeout: Option<Spanned<Setting<Duration>>>,
    /// Limit of the whole call.
    pub(crate) deadline: Option<Spanned<Setting<Duration>>>,
    pub(crate) backoff: Option<Spanned<Setting<Ident>>>,
    pub(crate) base: Option<Spanned<Setting<Duration>>>,
    pub(crate) max_delay: Option<Spanned<Setting<Duration>>>,
    pub(crate) factor: Option<Spanned<Setting<f64>>>,
    pub(crate) jitter: Option<Spanned<Setting<Ident>>>,
    /// The delays themselves. An expression is one of type `AsRef<[Duration]>`.
    pub(crate) delays: Option<Spanned<Setting<Vec<Setting<Duration>>>>>,
    /// The longest hint that is followed.
    pub(crate) max_retry_after: Option<Spanned<Setting<Duration>>>,
    pub(crate) rules: Rules,
    /// An `Ok` that means failure.
    pub(crate) when_ok: Option<Spanned<Expr>>,
    /// The arguments cloned for each attempt; `None` leaves the choice to the rule.
    pub(crate) clone: Option<Spanned<Vec<Ident>>>,
    pub(crate) budget: Option<Spanned<BudgetSetting>>,
    pub(crate) idempotent: Option<Spanned<Setting<bool>>>,
    pub(crate) nested: Option<Spanned<Setting<Ident>>>,
    /// A future; when it completes the call stops.
    pub(crate) cancel: Option<Spanned<Expr>>,
    pub(crate) on_retry: Option<Spanned<Expr>>,
    pub(crate) before_retry: Option<Spanned<BeforeRetry>>,
    pub(crate) on_end: Option<Spanned<Expr>>,
    /// The function is not async: its body blocks the thread, and so do the waits. Where the key is, be there a
    /// mistake in its value or not: it decides which function is expected.
    pub(crate) blocking: Option<At>,
    /// The text of errors stays out of the log.
    pub(crate) sensitive: Option<Spanned<()>>,
}

/// A value, and the key that set it.
#[derive(Clone)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    /// The key as typed: what an error about the combination of keys points at.
    pub(crate) key: Span,
    /// The value as typed: what an error about the value points at.
    pub(crate) span: Span,
    /// Which argument of the attribute it is, from 0.
    pub(crate) position: usize,
}

/// Which failures are worth another attempt, in the order in which the rules are asked.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) unless: Option<Spanned<Expr>>,
    pub(crate) not_on: Option<Spanned<Vec<Type>>>,
    /// One pattern, alternatives included.
    pub(crate) matches: Option<Spanned<Pat>>,
    pub(crate) on: Option<Spanned<Vec<Type>>>,
    pub(crate) when: Option<Spanned<Expr>>,
}

/// A setting that is a value, or that the call works out.
#[derive(Clone)]
pub(crate) enum Setting<T> {
    /// Written as a literal, or as one of the words of a closed list: the variant's name in the runtime.
    Fixed(T),
    /// An expression of the runtime's type; may use the arguments and `self`.
    Expr(Expr),
}

impl<T> Setting<T> {
    pub(crate) fn fixed(&self) -> Option<&T> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Expr(_) => None,
        }
    }
}

/// How many calls in all, the first included.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempts {
    /// At least 1.
    Count(u32),
    /// In so many words.
    Unlimited,
}

pub(crate) enum BudgetSetting {
    /// `"none"`.
    None,
    /// The path of a `static Budget`, or an expression that gives one.
    Expr(Expr),
}

pub(crate) enum BeforeRetry {
    /// `async || …` or `async move || …`, called.
    Closure(ExprClosure),
    /// An expression that is a future, evaluated before each retry.
    Expr(Expr),
}
