//! Values that stay Rust: functions, futures, constants.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprClosure, ExprPath};

use crate::errors::value::{
    self as wording, function as function_wording, future as future_wording,
};
use crate::errors::{Fault, combination, typed, whole};
use crate::given::{Form, Given};
use crate::model::BeforeRetry;
use crate::tokens;

/// A path, or a closure of one argument, which examples call `argument`.
pub(super) fn function(given: &Given, argument: &str) -> Result<Expr, Fault> {
    let key = given.key;
    let expr = given.expr()?;
    let message = match peel(&expr) {
        Expr::Path(_) => return Ok(expr),
        Expr::Closure(closure) if closure.asyncness.is_some() => {
            function_wording::asynchronous(key, argument)
        }
        Expr::Closure(closure) => match closure.inputs.len() {
            1 => return Ok(expr),
            found => function_wording::arguments(key, found, 1, &format!("|{argument}| …")),
        },
        Expr::Lit(_) => return Err(given.wrong()),
        // `is_temporary()` and `is_temporary(error)`.
        Expr::Call(ExprCall { func, args, .. }) if args.iter().all(is_variable) => {
            let path = whole(&func.to_token_stream());
            function_wording::called(key, &given.typed(), &path)
        }
        // An expression that looks like the answer instead of the question.
        answer => {
            let write = match variable(answer) {
                Some(ident) => format!("|{ident}| {}", whole(&answer.to_token_stream())),
                None => format!("|{argument}| …"),
            };
            return Err(given.wrong_but(&write));
        }
    };
    Err(given.fault(message))
}

/// An expression that gives a future.
pub(super) fn future(given: &Given) -> Result<Expr, Fault> {
    let expr = given.expr()?;
    match peel(&expr) {
        Expr::Await(inner) => {
            let future = whole(&inner.base.to_token_stream());
            let message = future_wording::awaited(given.key, &given.typed(), &future);
            Err(given.fault(message))
        }
        Expr::Closure(_) => Err(given.wrong()),
        // A future in a field could not be moved out of it.
        Expr::Field(_) => Err(given.fault(future_wording::token(given.key, &given.typed()))),
        _ if is_value(&expr) => Ok(expr),
        _ => Err(given.wrong()),
    }
}

pub(super) fn before_retry(given: &Given, blocking: bool) -> Result<BeforeRetry, Fault> {
    let expr = given.expr()?;
    let is_async = match peel(&expr) {
        Expr::Closure(closure) => closure.asyncness.is_some(),
        other => matches!(other, Expr::Async(_) | Expr::Await(_)),
    };
    if blocking && is_async {
        return Err(given.fault(combination::awaited_while_blocking(&given.typed())));
    }
    match peel(&expr) {
        Expr::Closure(closure) => closure_without_arguments(given, closure),
        Expr::Path(path) => {
            let path = typed(&path.to_token_stream());
            Err(given.fault(future_wording::not_called(given.key, &path)))
        }
        _ => future(given).map(BeforeRetry::Expr),
    }
}

fn closure_without_arguments(given: &Given, closure: &ExprClosure) -> Result<BeforeRetry, Fault> {
    match closure.inputs.len() {
        0 => Ok(BeforeRetry::Closure(closure.clone())),
        found => Err(given.fault(function_wording::arguments(
            given.key,
            found,
            0,
            "async || …",
        ))),
    }
}

/// A value that rustc is to check.
pub(super) fn value(given: &Given, expr: &Expr) -> Result<Expr, Fault> {
    let lone = match peel(expr) {
        Expr::Path(path) => lone_ident(path),
        _ => None,
    };
    // A word in quotes was not meant as a name, unless it is one of a constant.
    let quoted = matches!(given.form, Form::Text(_));
    if quoted && lone.is_some_and(|ident| !is_constant_name(ident)) {
        return Err(given.wrong());
    }
    plain_value(given, expr)
}

/// The same, whatever its name: an argument, `self.timeout`, a block.
pub(super) fn plain_value(given: &Given, expr: &Expr) -> Result<Expr, Fault> {
    if !is_value(expr) {
        return Err(given.wrong());
    }
    match leaves(expr) {
        Some(token) => Err(given.fault(wording::leaves(given.key, token, &given.typed()))),
        None => Ok(expr.clone()),
    }
}

/// The token by which a value would leave the function or suspend it. Settings are worked out where
/// neither is possible.
fn leaves(expr: &Expr) -> Option<&'static str> {
    tokens::deep(expr).find_map(|token| match &token {
        TokenTree::Punct(punct) if punct.as_char() == '?' => Some("?"),
        TokenTree::Ident(word) if word == "await" => Some(".await"),
        TokenTree::Ident(word) if word == "return" => Some("return"),
        _ => None,
    })
}

fn is_variable(expr: &Expr) -> bool {
    variable(expr).is_some()
}

/// What is named like a variable at its start: `n`, `config.attempts`, `n + 1`.
fn variable(expr: &Expr) -> Option<&Ident> {
    match peel(expr) {
        Expr::Path(path) => lone_ident(path).filter(|ident| !is_constant_name(ident)),
        Expr::Field(expr) => variable(&expr.base),
        Expr::Index(expr) => variable(&expr.expr),
        Expr::MethodCall(expr) => variable(&expr.receiver),
        Expr::Reference(expr) => variable(&expr.expr),
        Expr::Unary(expr) => variable(&expr.expr),
        Expr::Cast(expr) => variable(&expr.expr),
        Expr::Binary(expr) => variable(&expr.left).or_else(|| variable(&expr.right)),
        _ => None,
    }
}

/// Whether it can be a value other than a literal: what is left over, no type can save.
pub(super) fn is_value(expr: &Expr) -> bool {
    !matches!(
        peel(expr),
        Expr::Lit(_)
            | Expr::Assign(_)
            | Expr::Array(_)
            | Expr::Break(_)
            | Expr::Closure(_)
            | Expr::Continue(_)
            | Expr::ForLoop(_)
            | Expr::Infer(_)
            | Expr::Let(_)
            | Expr::Range(_)
            | Expr::Repeat(_)
            | Expr::Return(_)
            | Expr::Tuple(_)
            | Expr::Verbatim(_)
            | Expr::While(_)
            | Expr::Yield(_)
    )
}

/// The expression without parentheses and without the brackets of `macro_rules!`.
pub(super) fn peel(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) if inner.attrs.is_empty() => peel(&inner.expr),
        Expr::Group(inner) if inner.attrs.is_empty() => peel(&inner.expr),
        _ => expr,
    }
}

pub(super) fn lone_ident(path: &ExprPath) -> Option<&Ident> {
    match path.qself {
        None => path.path.get_ident(),
        Some(_) => None,
    }
}

/// `MAX_ATTEMPTS`, `N`.
pub(super) fn is_constant_name(ident: &Ident) -> bool {
    !ident.to_string().chars().any(char::is_lowercase)
}

pub(super) fn has_name(expr: &Expr) -> bool {
    tokens::any_word(expr, |word| word != "true" && word != "false")
}
