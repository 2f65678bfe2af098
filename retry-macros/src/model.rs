//! What an attribute means: typed settings in which nonsense cannot be written.
//!
//! `lower` makes a [`Model`] out of what was typed; `expand` turns it into code and cannot fail.

use std::time::Duration;

use proc_macro2::{Ident, Span};
use syn::{Expr, ExprClosure, LitStr, Pat, Path, Type};

/// The settings of one annotated function.
#[derive(Default)]
pub(crate) struct Model {
    /// Where the facade is; `None` is `::reattempt`.
    pub(crate) root: Option<Path>,
    /// The label in events and metrics; `None` is module path and function name.
    pub(crate) name: Option<LitStr>,
    /// The policy that the settings below override.
    pub(crate) policy: Option<Path>,
    pub(crate) attempts: Option<Spanned<Attempts>>,
    /// Limit of one attempt.
    pub(crate) timeout: Option<Spanned<Length>>,
    /// Limit of the whole call.
    pub(crate) deadline: Option<Spanned<Length>>,
    pub(crate) backoff: Option<Spanned<Word>>,
    pub(crate) base: Option<Spanned<Length>>,
    pub(crate) max_delay: Option<Spanned<Length>>,
    pub(crate) factor: Option<Spanned<Factor>>,
    pub(crate) jitter: Option<Spanned<Word>>,
    pub(crate) rules: Rules,
    /// An `Ok` that means failure.
    pub(crate) when_ok: Option<Spanned<Expr>>,
    /// The arguments cloned for each attempt; `None` leaves the choice to the rule.
    pub(crate) clone: Option<Spanned<Vec<Ident>>>,
    pub(crate) budget: Option<Spanned<Budget>>,
    pub(crate) idempotent: Option<Spanned<bool>>,
    pub(crate) nested: Option<Spanned<Word>>,
    /// A future; when it completes the call stops.
    pub(crate) cancel: Option<Spanned<Expr>>,
    pub(crate) on_retry: Option<Spanned<Expr>>,
    pub(crate) before_retry: Option<Spanned<BeforeRetry>>,
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

/// How many calls in all, the first included.
pub(crate) enum Attempts {
    /// At least 1.
    Count(u32),
    /// In so many words.
    Unlimited,
    /// An expression of type `u32`; may use the arguments and `self`.
    Expr(Expr),
}

/// A span of time.
pub(crate) enum Length {
    /// Written as a literal: at most 24 h.
    Fixed(Duration),
    /// An expression of type `Duration`; may use the arguments and `self`.
    Expr(Expr),
}

pub(crate) enum Factor {
    /// In `[1, 1000]`.
    Fixed(f64),
    /// An expression of type `f64`; may use the arguments and `self`.
    Expr(Expr),
}

/// One of the words of a closed list, or an expression of the type that they stand for.
pub(crate) enum Word {
    /// The variant's name in the runtime: `Full`, `Exponential`.
    Variant(Ident),
    /// An expression of the runtime's type; may use the arguments and `self`.
    Expr(Expr),
}

pub(crate) enum Budget {
    /// `"none"`.
    None,
    /// A path to a `static Budget`.
    Path(Path),
}

pub(crate) enum BeforeRetry {
    /// `async || …` or `async move || …`, called.
    Closure(ExprClosure),
    /// An expression that is a future, evaluated before each retry.
    Expr(Expr),
}
