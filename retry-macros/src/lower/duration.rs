//! Durations: `timeout`, `deadline`, `base`, `max_delay`.

use syn::{Expr, Lit};

use super::duration_text::{is_iso, is_unit, parse};
use super::expression::{has_name, lone_ident, peel, plain_value};
use crate::errors::Fault;
use crate::errors::duration::{endless, not_in_quotes, zero};
use crate::given::{Form, Given};
use crate::model::Length;
use crate::text;

/// What people write for "no limit". In quotes these are no names of arguments.
const ENDLESS: &str = "none never unlimited infinite infinity inf forever off no";

pub(super) fn length(given: &Given) -> Result<Length, Fault> {
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
            // `1.5` and `1.5s` without quotes. Suffixes that Rust itself has are no units.
            let text = expr.and_then(plain_number).unwrap_or(text);
            match fixed(given, &text) {
                Ok(_) => Err(given.fault(not_in_quotes(given.key, &text))),
                Err(fault) => Err(fault),
            }
        }
    }
}

/// Text that starts like a number or like ISO 8601 is meant as a duration; so is nothing at all,
/// and a unit alone.
fn quoted_is_duration(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || starts_like_number(text) || is_iso(text) || is_unit(text)
}

fn starts_like_number(text: &str) -> bool {
    let unsigned = text.trim().trim_start_matches(['-', '+', '.']);
    unsigned.starts_with(|char: char| char.is_ascii_digit())
}

/// A value that is Rust: `self.timeout`, `Duration::from_secs(1)`, `2 * BASE`.
fn expression(given: &Given, expr: &Expr, is_duration: bool) -> Result<Option<Length>, Fault> {
    let peeled = peel(expr);
    if let Expr::Path(path) = peeled {
        let name = lone_ident(path).map(|ident| ident.to_string().to_lowercase());
        let is_endless = |name: String| match given.form {
            Form::Text(_) => text::among(ENDLESS, &name),
            Form::Rust(_) | Form::List(_) => text::among("none never forever", &name),
        };
        if name.is_some_and(is_endless) {
            return Err(given.fault(endless(given.key, &given.typed())));
        }
    }
    // `"1.s"`, `"PT5S"` and `"ms"` are Rust, but not meant as such; `"2 * BASE"` is.
    let computed = matches!(
        peeled,
        Expr::Binary(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Cast(_)
    );
    if !has_name(expr) || (is_duration && !computed) {
        return Ok(None);
    }
    plain_value(given, expr).map(|expr| Some(Length::Expr(expr)))
}

/// The digits of a number with no suffix but one of Rust's.
fn plain_number(expr: &Expr) -> Option<String> {
    let Expr::Lit(expr) = peel(expr) else {
        return None;
    };
    let (digits, suffix) = match &expr.lit {
        Lit::Int(int) => (int.base10_digits(), int.suffix()),
        Lit::Float(float) => (float.base10_digits(), float.suffix()),
        _ => return None,
    };
    let rust = "u8 u16 u32 u64 u128 usize i32 i64 f32 f64";
    (suffix.is_empty() || text::among(rust, suffix)).then(|| digits.to_owned())
}

fn fixed(given: &Given, text: &str) -> Result<Length, Fault> {
    let message = match parse(given.key, &given.typed(), text) {
        Ok(duration) if duration.is_zero() && given.key.name != "base" => zero(given.key),
        Ok(duration) => return Ok(Length::Fixed(duration)),
        Err(message) => message,
    };
    Err(given.fault(message))
}
