//! Durations: `timeout`, `deadline`, `base`, `max_delay`, `max_retry_after`, and the list `delays`.

use std::time::Duration;

use proc_macro2::{Delimiter, Ident, TokenStream};
use quote::ToTokens;
use syn::Expr;

use super::all;
use super::expression::{has_name, plain_value, value};
use crate::duration::parse;
use crate::errors::Mistake;
use crate::errors::duration::{endless, no_delays, not_in_quotes, refused, zero};
use crate::given::{Form, Given};
use crate::model::Written;
use crate::operand::{lone_name, peel};
use crate::text;
use crate::tokens;

pub(super) fn length(given: &Given) -> Result<Written<Duration>, Mistake> {
    let text = given.text().unwrap_or_else(|| given.typed());
    let is_duration = starts_like_number(&text);
    let parsed = parse(&text);
    // Most are durations, and are not parsed as Rust as well.
    let expr = parsed.as_ref().err().and_then(|_| given.expr().ok());
    if let Some(expr) = expr {
        if lone_name(&expr).is_some_and(is_endless) {
            return Err(given.mistake(endless(given.key, &given.typed())));
        }
        // `"1.s"` parses as Rust, but is meant as a duration. `"2 * BASE"` is meant as Rust.
        let computed = matches!(
            peel(&expr),
            Expr::Binary(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Cast(_)
        );
        if has_name(&expr) && (computed || !is_duration) {
            return plain_value(given, &expr).map(Written::Expr);
        }
    }
    if !is_duration {
        return Err(given.wrong());
    }
    let refused = |fault| given.mistake(refused(given.key, &given.typed(), &fault));
    let duration = parsed.map_err(refused)?;
    match given.key.zero.filter(|_| duration.is_zero()) {
        Some((why, help)) => Err(given.mistake(zero(given.key, why, help))),
        None if given.text().is_none() => Err(given.mistake(not_in_quotes(given.key, &text))),
        None => Ok(Written::Fixed(duration)),
    }
}

fn starts_like_number(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['-', '+', '.']);
    unsigned.starts_with(|char: char| char.is_ascii_digit())
}

/// Whether people write this for "no limit".
fn is_endless(word: &Ident) -> bool {
    let word = word.to_string().to_lowercase();
    text::among("none never forever off unlimited infinite", &word)
}

/// Reads a list of durations, or an expression whose value is a list.
pub(super) fn delays(given: &Given) -> Result<Written<Vec<Written<Duration>>>, Vec<Mistake>> {
    let list = match &given.form {
        Form::List(tokens) => Some(tokens.clone()),
        form => form.tokens().ok().and_then(|tokens| in_brackets(&tokens)),
    };
    let Some(list) = list else {
        // `"1s, 2s"` is one text.
        if given.text().is_some_and(|text| starts_like_number(&text)) {
            return Err(given.wrong().into());
        }
        return Ok(value(given, &given.expr()?).map(Written::Expr)?);
    };
    let found = all(given.elements(list).iter().map(length))?;
    if found.is_empty() {
        return Err(given.mistake(no_delays()).into());
    }
    Ok(Written::Fixed(found))
}

/// Reads `&mut EXPR`: delays that the caller owns, of which each retry takes the next.
pub(super) fn owned_delays(given: &Given) -> Result<Option<Expr>, Mistake> {
    match given.expr() {
        Ok(Expr::Reference(reference)) if reference.mutability.is_some() => {
            plain_value(given, &reference.expr).map(Some)
        }
        _ => Ok(None),
    }
}

/// The tokens inside `[a, b]` or `&[a, b]`.
fn in_brackets(tokens: &TokenStream) -> Option<TokenStream> {
    if let Ok(Expr::Reference(reference)) = syn::parse2(tokens.clone()) {
        return in_brackets(&reference.expr.to_token_stream());
    }
    let group = tokens::lone_group(tokens)?;
    (group.delimiter() == Delimiter::Bracket).then(|| group.stream())
}
