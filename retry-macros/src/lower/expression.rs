//! Values that stay Rust expressions: functions, futures, budgets, constants.

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens as _;
use syn::{Expr, ExprClosure, UnOp};

use super::types::one_of;
use crate::errors::{Mistake, combination, value as wording, whole};
use crate::given::{Form, Given};
use crate::model::Written;
use crate::operand::{lone_name, peel};
use crate::paths::last_two;
use crate::text;
use crate::tokens::{self, is_punct};

/// Reads a path, or a closure with one argument.
pub(super) fn function(given: &Given) -> Result<Expr, Mistake> {
    // What messages call the argument.
    let argument = match given.key.name {
        "when_ok" | "until" => "value",
        "on_retry" => "event",
        "on_end" => "report",
        _ => "error",
    };
    let expr = given.expr()?;
    let write = match peel(&expr) {
        Expr::Path(_) => return Ok(expr),
        Expr::Closure(closure) if matches!(argument, "event" | "report") && is_async(closure) => {
            return Err(given.mistake(combination::async_hook(given.key.name)));
        }
        Expr::Closure(closure) if closure.asyncness.is_none() && closure.inputs.len() == 1 => {
            return Ok(expr);
        }
        Expr::Lit(_) => return Err(given.wrong()),
        Expr::Closure(_) => format!("|{argument}| …"),
        // `is_temporary()`.
        Expr::Call(call) => whole(&call.func),
        Expr::Array(list) if argument == "error" => {
            format!("|error| {}", one_of(&list.elems).as_deref().unwrap_or("…"))
        }
        Expr::Field(_) => format!("|{argument}| {}({argument})", whole(&expr)),
        // An expression such as `error.is_temporary()`, which lacks the `|error|` before it.
        answer => {
            let name = first_name(answer).map(|name| name.to_string());
            let name = name.as_deref().unwrap_or(argument);
            format!("|{name}| {}", whole(&answer))
        }
    };
    Err(given.wrong_but(&write))
}

/// Whether what a closure returns is a future, as far as its text shows.
fn is_async(closure: &ExprClosure) -> bool {
    closure.asyncness.is_some() || matches!(peel(&closure.body), Expr::Async(_))
}

/// The name that an expression begins with, if it is not that of a macro.
fn first_name(expr: &Expr) -> Option<Ident> {
    let first = expr.to_token_stream().into_iter().next();
    let name = syn::parse2(first.into_iter().collect()).ok();
    name.filter(|_| !matches!(expr, Expr::Macro(_)))
}

/// Reads an expression whose value is a future.
pub(super) fn future(given: &Given) -> Result<Expr, Mistake> {
    let expr = given.expr()?;
    if let Expr::Await(inner) = untried(&expr) {
        return Err(given.wrong_but(&whole(&inner.base)));
    }
    if is_value(&expr) {
        Ok(expr)
    } else {
        Err(given.wrong())
    }
}

/// What comes before the `?`, as in `self.reconnect().await?`.
fn untried(expr: &Expr) -> &Expr {
    match peel(expr) {
        Expr::Try(tried) => untried(&tried.expr),
        expr => expr,
    }
}

/// Reads what [`future`] reads. The call makes this future before its first attempt, so an error on the way would end a call
/// that has not begun.
pub(super) fn cancel(given: &Given) -> Result<Expr, Mistake> {
    let expr = future(given)?;
    // In an async block or a closure, `?` and `.await` leave nothing else.
    let is_bar = |token: TokenTree| is_punct(Some(&token), "|");
    if tokens::has_word(&expr, "async") || tokens::deep(&expr).any(is_bar) {
        return Ok(expr);
    }
    plain_value(given, &expr)
}

pub(super) fn before_retry(given: &Given, blocking: bool) -> Result<Expr, Mistake> {
    let expr = given.expr()?;
    let is_async = match peel(&expr) {
        Expr::Closure(closure) => closure.asyncness.is_some(),
        other => matches!(untried(other), Expr::Async(_) | Expr::Await(_)),
    };
    if blocking && is_async {
        return Err(given.mistake(combination::awaited_while_blocking(&given.typed())));
    }
    match peel(&expr) {
        Expr::Closure(closure) if closure.inputs.len() < 2 => Ok(Expr::Closure(closure.clone())),
        Expr::Closure(_) => Err(given.wrong_but("async |error| …")),
        Expr::Path(path) => Err(given.wrong_but(&format!("{}()", whole(&path)))),
        _ => future(given),
    }
}

/// Reads an expression whose type rustc checks.
pub(super) fn value(given: &Given, expr: &Expr) -> Result<Expr, Mistake> {
    // A word in quotes is not the name of a variable. It may be the name of a constant.
    let quoted = matches!(given.form, Form::Text(_));
    if quoted && lone_name(expr).is_some_and(|name| !is_constant_name(name)) {
        return Err(given.wrong());
    }
    plain_value(given, expr)
}

/// Reads what [`value`] reads, and also the name of an argument in quotes.
pub(super) fn plain_value(given: &Given, expr: &Expr) -> Result<Expr, Mistake> {
    if !is_value(expr) {
        return Err(given.wrong());
    }
    match leaves(expr) {
        Some(token) => Err(given.mistake(wording::leaves(given.key, token, &given.typed()))),
        None => Ok(expr.clone()),
    }
}

/// The token by which a value would return from the function or await. Neither is possible where generated
/// code evaluates settings.
fn leaves(expr: &Expr) -> Option<&'static str> {
    tokens::deep(expr).find_map(|token| match &token {
        TokenTree::Punct(punct) if punct.as_char() == '?' => Some("?"),
        TokenTree::Ident(word) if word == "await" => Some(".await"),
        TokenTree::Ident(word) if word == "return" => Some("return"),
        _ => None,
    })
}

/// Whether an expression other than a literal can be a value of some setting.
fn is_value(expr: &Expr) -> bool {
    let expr = peel(expr);
    let is_negative = matches!(expr, Expr::Unary(unary)
        if matches!(unary.op, UnOp::Neg(_)) && matches!(peel(&unary.expr), Expr::Lit(_)));
    !is_negative
        && !matches!(
            expr,
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

/// Reads a budget, or `Fixed` for `"none"`.
pub(super) fn budget(given: &Given) -> Result<Written<()>, Mistake> {
    let found = given.typed();
    let word = found.trim_matches('"').to_lowercase();
    if word == "none" {
        return Ok(Written::Fixed(()));
    }
    if text::among("off no false 0 null disabled unlimited nothing", &word) {
        return Err(given.wrong_but("\"none\""));
    }
    let expr = given.expr()?;
    if is_made_here(&expr) {
        return Err(given.mistake(wording::new_budget(&found)));
    }
    value(given, &expr).map(Written::Expr)
}

/// Whether an expression makes a new budget, as in `Budget::ratio(0.1).floor(1.0)`. Calls would not share it.
fn is_made_here(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::MethodCall(call) => is_made_here(&call.receiver),
        Expr::Reference(reference) => is_made_here(&reference.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => last_two(&path.path).is_some_and(|[ty, _]| ty == "Budget"),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a name is written like a constant: `MAX_ATTEMPTS`, `N`.
pub(super) fn is_constant_name(name: &impl ToString) -> bool {
    !name.to_string().chars().any(char::is_lowercase)
}

pub(super) fn has_name(expr: &Expr) -> bool {
    tokens::any_word(expr, &|word| word != "true" && word != "false")
}
