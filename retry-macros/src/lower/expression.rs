//! Values that stay Rust expressions: functions, futures, constants.

use proc_macro2::{Ident, TokenTree};
use syn::{Expr, ExprCall, Lit, UnOp};

use crate::duration;
use crate::errors::{Fault, combination, typed, value as wording, whole};
use crate::given::{Form, Given};
use crate::operand::peel;
use crate::tokens::{self, is_punct};

/// Reads a path, or a closure with one argument.
pub(super) fn function(given: &Given) -> Result<Expr, Fault> {
    let key = given.key;
    // What messages call the argument.
    let argument = match key.name {
        "when_ok" | "until" => "value",
        "on_retry" => "event",
        "on_end" => "report",
        _ => "error",
    };
    let expr = given.expr()?;
    let message = match peel(&expr) {
        Expr::Path(_) => return Ok(expr),
        Expr::Closure(closure) if closure.asyncness.is_some() => {
            return Err(given.wrong_but(&format!("|{argument}| …")));
        }
        Expr::Closure(closure) => match closure.inputs.len() {
            1 => return Ok(expr),
            found => wording::closure_arguments(key, found, 1, &format!("|{argument}| …")),
        },
        Expr::Lit(_) => return Err(given.wrong()),
        // `is_temporary()` and `is_temporary(error)`.
        Expr::Call(ExprCall { func, args, .. }) if args.iter().all(|it| variable(it).is_some()) => {
            return Err(given.wrong_but(&whole(&func)));
        }
        // An expression such as `error.is_temporary()`, which lacks the `|error|` before it.
        answer => {
            let write = match variable(answer) {
                Some(this) if this == "self" => with_self(answer, argument),
                Some(ident) => format!("|{ident}| {}", whole(&answer)),
                None => format!("|{argument}| …"),
            };
            return Err(given.wrong_but(&write));
        }
    };
    Err(given.fault(message))
}

/// Reads what [`function`] reads. A time is most likely meant as the limit of the call.
pub(super) fn until(given: &Given) -> Result<Expr, Fault> {
    let text = given.text().unwrap_or_else(|| given.typed());
    if duration::parse(&text).is_ok() {
        return Err(given.fault(wording::until_a_time(&given.typed(), &text)));
    }
    function(given)
}

/// The closure to write for `self.heard`, `self.heard()` or `self.heard(event)`.
fn with_self(answer: &Expr, argument: &str) -> String {
    let written = whole(&answer);
    match answer {
        Expr::Field(_) => format!("|{argument}| {written}({argument})"),
        _ if tokens::has_word(answer, argument) => {
            format!("|{argument}| {written}")
        }
        _ => format!("|_| {written}"),
    }
}

/// Reads an expression whose value is a future.
pub(super) fn future(given: &Given) -> Result<Expr, Fault> {
    let expr = given.expr()?;
    if let Expr::Await(inner) = untried(&expr) {
        let future = whole(&inner.base);
        let message = wording::awaited(given.key, &given.typed(), &future);
        return Err(given.fault(message));
    }
    match peel(&expr) {
        // The call cannot move a future out of a field.
        Expr::Field(_) => Err(given.fault(wording::token(given.key, &given.typed()))),
        _ if is_value(&expr) => Ok(expr),
        _ => Err(given.wrong()),
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
pub(super) fn cancel(given: &Given) -> Result<Expr, Fault> {
    let expr = future(given)?;
    // In an async block or a closure, `?` and `.await` leave nothing else.
    let is_bar = |token: TokenTree| is_punct(Some(&token), "|");
    if tokens::has_word(&expr, "async") || tokens::deep(&expr).any(is_bar) {
        return Ok(expr);
    }
    plain_value(given, &expr)
}

pub(super) fn before_retry(given: &Given, blocking: bool) -> Result<Expr, Fault> {
    let expr = given.expr()?;
    let is_async = match peel(&expr) {
        Expr::Closure(closure) => closure.asyncness.is_some(),
        other => matches!(untried(other), Expr::Async(_) | Expr::Await(_)),
    };
    if blocking && is_async {
        return Err(given.fault(combination::awaited_while_blocking(&given.typed())));
    }
    match peel(&expr) {
        Expr::Closure(closure) if closure.inputs.is_empty() => Ok(Expr::Closure(closure.clone())),
        Expr::Closure(closure) => {
            let found = closure.inputs.len();
            let message = wording::closure_arguments(given.key, found, 0, "async || …");
            Err(given.fault(message))
        }
        Expr::Path(path) => {
            let path = typed(&path);
            Err(given.fault(wording::not_called(given.key, &path)))
        }
        _ => future(given),
    }
}

/// Reads an expression whose type rustc checks.
pub(super) fn value(given: &Given, expr: &Expr) -> Result<Expr, Fault> {
    // A word in quotes is not the name of a variable. It may be the name of a constant.
    let quoted = matches!(given.form, Form::Text(_));
    if quoted && lone_name(expr).is_some_and(|name| !is_constant_name(name)) {
        return Err(given.wrong());
    }
    plain_value(given, expr)
}

/// Reads what [`value`] reads, and also the name of an argument in quotes.
pub(super) fn plain_value(given: &Given, expr: &Expr) -> Result<Expr, Fault> {
    if !is_value(expr) {
        return Err(given.wrong());
    }
    match leaves(expr) {
        Some(token) => Err(given.fault(wording::leaves(given.key, token, &given.typed()))),
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

/// The variable that an expression starts with, by its name: `n` in `n`, `n.attempts` and `n + 1`.
fn variable(expr: &Expr) -> Option<&Ident> {
    match peel(expr) {
        path @ Expr::Path(_) => lone_name(path).filter(|name| !is_constant_name(name)),
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

/// Whether an expression other than a literal can be a value of some setting.
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

/// The digits and the suffix of a number.
pub(super) fn number(expr: &Expr) -> Option<(&str, &str)> {
    let Expr::Lit(literal) = peel(expr) else {
        return None;
    };
    match &literal.lit {
        Lit::Int(int) => Some((int.base10_digits(), int.suffix())),
        Lit::Float(float) => Some((float.base10_digits(), float.suffix())),
        _ => None,
    }
}

/// The number in `-1`.
pub(super) fn negated(expr: &Expr) -> Option<&Expr> {
    match peel(expr) {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Some(peel(&unary.expr)),
        _ => None,
    }
}

/// The name, if an expression is a single name.
pub(super) fn lone_name(expr: &Expr) -> Option<&Ident> {
    match peel(expr) {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// Whether a name is written like a constant: `MAX_ATTEMPTS`, `N`.
pub(super) fn is_constant_name(ident: &Ident) -> bool {
    !ident.to_string().chars().any(char::is_lowercase)
}

pub(super) fn has_name(expr: &Expr) -> bool {
    tokens::any_word(expr, &|word| word != "true" && word != "false")
}
