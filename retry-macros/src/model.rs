//! The meaning of an attribute: typed settings, none of which can hold a value without a meaning.
//!
//! `lower` makes a [`Model`] of the typed arguments. `expand` turns it into code, and cannot fail.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use syn::{Expr, LitStr, Path, Type};

use crate::errors::At;
use crate::keys::Id;

/// The settings of one annotated function.
#[derive(Default)]
pub(crate) struct Model {
    /// The path of the facade. `None` means `::reattempt`.
    pub(crate) root: Option<Path>,
    /// The label in events and metrics. `None` means the module path and the function name.
    pub(crate) name: Option<Spanned<Written<LitStr>>>,
    /// The policy that the settings below override.
    pub(crate) policy: Option<Expr>,
    /// How many attempts a call makes, the first included: at least 1, or `None` for the word `"unlimited"`.
    pub(crate) attempts: Option<Spanned<Written<Option<u32>>>>,
    /// The keys of the policy that are one duration.
    pub(crate) lengths: Vec<(Id, Spanned<Written<Duration>>)>,
    pub(crate) backoff: Option<Spanned<Written<TokenStream>>>,
    pub(crate) factor: Option<Spanned<Written<f64>>>,
    pub(crate) jitter: Option<Spanned<Written<TokenStream>>>,
    /// A list in place of a backoff. The type of an expression is `AsRef<[Duration]>`.
    pub(crate) delays: Option<Spanned<Written<Vec<Written<Duration>>>>>,
    /// Delays that the caller owns: what stands behind `&mut`.
    pub(crate) owned_delays: Option<Spanned<Expr>>,
    /// The delay after an error.
    pub(crate) retry_after: Option<Spanned<Expr>>,
    pub(crate) rules: Rules,
    /// An `Ok` that means failure.
    pub(crate) when_ok: Option<Spanned<Expr>>,
    /// An `Ok` that is ready. Any other is not returned.
    pub(crate) until: Option<Spanned<Expr>>,
    /// A budget, or `Fixed` for `"none"`.
    pub(crate) budget: Option<Spanned<Written<()>>>,
    pub(crate) idempotent: Option<Spanned<Written<bool>>>,
    pub(crate) nested: Option<Spanned<Written<TokenStream>>>,
    /// `hedge = "policy"`. A duration is among the `lengths`.
    pub(crate) hedge_of_policy: bool,
    /// A future. The call stops when it completes.
    pub(crate) cancel: Option<Spanned<Expr>>,
    /// The same, but the running attempt ends by itself.
    pub(crate) cancel_waits: Option<Spanned<Expr>>,
    pub(crate) on_retry: Option<Spanned<Expr>>,
    /// A closure that may take the last error, or an expression that is a future. It is evaluated before each retry.
    pub(crate) before_retry: Option<Spanned<Expr>>,
    pub(crate) on_end: Option<Spanned<Expr>>,
    /// The function is not async: its body blocks the thread, and so do the waits. Set even if the key has a wrong
    /// value, because the key decides which kind of function is expected.
    pub(crate) blocking: Option<At>,
    /// The log does not contain the text of errors.
    pub(crate) sensitive: bool,
    /// Calls write no event.
    pub(crate) silent: bool,
}

impl Model {
    /// Whether `before_retry` takes the error of the last attempt.
    pub(crate) fn prepares_with_error(&self) -> bool {
        let before_retry = self.before_retry.as_ref().map(|given| &given.value);
        matches!(before_retry, Some(Expr::Closure(closure)) if !closure.inputs.is_empty())
    }

    pub(crate) fn length(&self, key: Id) -> Option<&Spanned<Written<Duration>>> {
        let mut lengths = self.lengths.iter();
        lengths.find_map(|(set, length)| (*set == key).then_some(length))
    }

    /// The future that stops the call.
    pub(crate) fn cancels(&self) -> Option<&Spanned<Expr>> {
        self.cancel.as_ref().or(self.cancel_waits.as_ref())
    }

    /// Whether a second attempt may begin beside the first.
    pub(crate) fn hedges(&self) -> bool {
        self.hedge_of_policy || self.length(Id::Hedge).is_some()
    }

    /// Whether a call makes a single attempt.
    pub(crate) fn never_retries(&self) -> bool {
        is_fixed(self.attempts.as_ref(), &Some(1))
    }

    /// Whether only what was refused is repeated.
    pub(crate) fn is_not_idempotent(&self) -> bool {
        is_fixed(self.idempotent.as_ref(), &false)
    }
}

/// Whether a setting is this literal.
pub(crate) fn is_fixed<T: PartialEq>(setting: Option<&Spanned<Written<T>>>, value: &T) -> bool {
    setting.and_then(|setting| setting.value.fixed()) == Some(value)
}

/// A value, and its place.
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    /// The span of the value. Errors about the value point at it.
    pub(crate) span: Span,
    /// Which argument of the attribute it is, from 0.
    pub(crate) position: usize,
}

/// The rules that select errors to retry, in the order in which the code checks them.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) unless: Option<Spanned<UnlessRule>>,
    pub(crate) on: Option<Spanned<Vec<Type>>>,
    pub(crate) when: Option<Spanned<Expr>>,
    /// What takes the place of the error's own verdict.
    pub(crate) verdict: Option<Spanned<Expr>>,
}

/// The errors that are never retried.
#[allow(
    clippy::large_enum_variant,
    reason = "large only with the feature of `proc-macro2` by which tests see spans"
)]
pub(crate) enum UnlessRule {
    /// Those that are or contain an error of one of these types.
    Types(Vec<Type>),
    /// Those for which a function returns true.
    Function(Spanned<Expr>),
}

/// How a setting is written: as a value, or as an expression that the call evaluates.
#[allow(
    clippy::large_enum_variant,
    reason = "large only with the feature of `proc-macro2` by which tests see spans"
)]
pub(crate) enum Written<T> {
    /// A literal, or a word of a closed list, as the name of the runtime's variant.
    Fixed(T),
    /// An expression of the runtime's type. It may use the arguments and `self`.
    Expr(Expr),
}

impl<T> Written<T> {
    pub(crate) fn fixed(&self) -> Option<&T> {
        match self {
            Self::Fixed(value) => Some(value),
            Self::Expr(_) => None,
        }
    }

    pub(crate) fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Fixed(_) => None,
            Self::Expr(expr) => Some(expr),
        }
    }
}
