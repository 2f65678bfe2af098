//! Durations: `timeout`, `deadline`, `base`, `max_delay`, `max_retry_after`, and the list `delays`.

use std::time::Duration;

use proc_macro2::{Delimiter, TokenStream};
use quote::ToTokens;
use syn::Expr;

use super::each;
use super::expression::{has_name, lone_name, number, plain_value, value};
use crate::duration::{is_endless, is_iso, is_unit, parse};
use crate::errors::Fault;
use crate::errors::duration::{endless, no_delays, not_in_quotes, refused, zero};
use crate::given::{Form, Given};
use crate::model::Written;
use crate::operand::peel;
use crate::text;
use crate::tokens;

pub(super) fn length(given: &Given) -> Result<Written<Duration>, Fault> {
    let (text, is_duration) = match &given.form {
        Form::Text(text) => (text.value(), quoted_is_duration(&text.value())),
        Form::Rust(_) | Form::List(_) => (given.typed(), starts_like_number(&given.typed())),
    };
    let expr = given.expr().ok();
    if let Some(expr) = &expr {
        if let Some(length) = expression(given, expr, is_duration)? {
            return Ok(length);
        }
    }
    match (&given.form, expr.as_ref().map(peel)) {
        _ if !is_duration => Err(given.wrong()),
        (Form::Text(_), _) => fixed(given, &text),
        // `2 * 3`.
        (_, Some(Expr::Binary(_) | Expr::Range(_))) => Err(given.wrong()),
        (_, expr) => {
            // `1.5` and `1.5s` without quotes. A suffix that Rust itself has, as in `5u32`, is not a unit.
            let text = expr.and_then(plain_number).unwrap_or(text);
            match fixed(given, &text) {
                Ok(_) => Err(given.fault(not_in_quotes(given.key, &text))),
                Err(fault) => Err(fault),
            }
        }
    }
}

/// Whether quoted text is meant as a duration: it starts like a number or like ISO 8601, is empty, or is
/// a unit alone.
fn quoted_is_duration(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || starts_like_number(text) || is_iso(text) || is_unit(text)
}

fn starts_like_number(text: &str) -> bool {
    let unsigned = text.trim().trim_start_matches(['-', '+', '.']);
    unsigned.starts_with(|char: char| char.is_ascii_digit())
}

/// Reads a value that is a Rust expression: `self.timeout`, `Duration::from_secs(1)`, `2 * BASE`.
fn expression(
    given: &Given,
    expr: &Expr,
    is_duration: bool,
) -> Result<Option<Written<Duration>>, Fault> {
    let peeled = peel(expr);
    let name = lone_name(expr).map(|name| name.to_string().to_lowercase());
    let is_endless = |name: String| match given.form {
        Form::Text(_) => is_endless(&name),
        // The other words may name an argument.
        Form::Rust(_) | Form::List(_) => text::among("none never forever", &name),
    };
    if name.is_some_and(is_endless) {
        return Err(given.fault(endless(given.key, &given.typed())));
    }
    // `"1.s"`, `"PT5S"` and `"ms"` parse as Rust, but are meant as durations. `"2 * BASE"` is meant as Rust.
    let computed = matches!(
        peeled,
        Expr::Binary(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Cast(_)
    );
    if !has_name(expr) || (is_duration && !computed) {
        return Ok(None);
    }
    plain_value(given, expr).map(|expr| Some(Written::Expr(expr)))
}

/// The digits of a number without a suffix, or with a suffix that Rust itself has.
fn plain_number(expr: &Expr) -> Option<String> {
    let (digits, suffix) = number(expr)?;
    let rust = "u8 u16 u32 u64 u128 usize i32 i64 f32 f64";
    (suffix.is_empty() || text::among(rust, suffix)).then(|| digits.to_owned())
}

fn fixed(given: &Given, text: &str) -> Result<Written<Duration>, Fault> {
    let message = match parse(text) {
        Ok(duration) => match given.key.zero.filter(|_| duration.is_zero()) {
            Some((why, help)) => zero(given.key, why, help),
            None => return Ok(Written::Fixed(duration)),
        },
        Err(fault) => refused(given.key, &given.typed(), &fault),
    };
    Err(given.fault(message))
}

/// Reads a list of durations, or an expression whose value is a list.
pub(super) fn delays(given: &Given) -> Result<Written<Vec<Written<Duration>>>, Vec<Fault>> {
    let list = match &given.form {
        Form::List(tokens) => Some(tokens.clone()),
        form => form.tokens().ok().and_then(|tokens| in_brackets(&tokens)),
    };
    let Some(list) = list else {
        return Ok(expression_of_delays(given)?);
    };
    let found = each(given.elements(list), length)?;
    if found.is_empty() {
        return Err(given.fault(no_delays()).into());
    }
    Ok(Written::Fixed(found))
}

fn expression_of_delays(given: &Given) -> Result<Written<Vec<Written<Duration>>>, Fault> {
    let text = given.text().filter(|text| quoted_is_duration(text));
    let text = text.filter(|text| !text.is_empty());
    if text.is_none() {
        return value(given, &given.expr()?).map(Written::Expr);
    }
    let typed = given.typed();
    // `"1s, 2s"` is one text with two durations.
    Err(given.wrong_but(&format!("[{}]", typed.replace(", ", "\", \""))))
}

/// The tokens inside `[a, b]` or `&[a, b]`.
fn in_brackets(tokens: &TokenStream) -> Option<TokenStream> {
    if let Ok(Expr::Reference(reference)) = syn::parse2(tokens.clone()) {
        return in_brackets(&reference.expr.to_token_stream());
    }
    let group = tokens::lone_group(tokens)?;
    (group.delimiter() == Delimiter::Bracket).then(|| group.stream())
}
