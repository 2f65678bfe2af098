//! `matches`: a pattern on the error.

use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat};

use crate::errors::{Fault, typed, value as wording, whole};
use crate::given::Given;
use crate::syntax;
use crate::tokens::is_variable_name;

pub(super) fn pattern(given: &Given) -> Result<Pat, Fault> {
    let (pattern, guard) = match given.form.parse(guarded) {
        Ok(parsed) => parsed,
        Err(error) => return Err(invalid(given, &error)),
    };
    if let Some(guard) = guard {
        let found = match given.text() {
            Some(text) => text,
            None => format!("{} if {}", whole(&pattern), whole(&guard)),
        };
        return Err(given.fault(wording::guard(&found)));
    }
    match catch_all(&pattern) {
        Some(part) => Err(given.fault(wording::catch_all(&typed(&part)))),
        None => Ok(pattern),
    }
}

fn guarded(input: ParseStream<'_>) -> syn::Result<(Pat, Option<Expr>)> {
    let parsed = syntax::guarded(input)?;
    if input.is_empty() {
        Ok(parsed)
    } else {
        Err(input.error("expected `|` or the end"))
    }
}

fn invalid(given: &Given, error: &syn::Error) -> Fault {
    if matches!(given.form.parse(Expr::parse), Ok(Expr::Closure(_))) {
        return given.fault(wording::closure_for_pattern());
    }
    let reason = error.to_string();
    // syn's list of all tokens that may begin a pattern does not help a reader. Nor does a lexer's error.
    if reason.contains("one of") || reason.contains("token stream") {
        return given.wrong();
    }
    given.fault(wording::invalid_pattern(&given.typed(), &reason))
}

/// The alternative that matches every error, and would so retry unclassified errors.
fn catch_all(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::Wild(_) | Pat::Rest(_) => Some(pattern),
        Pat::Ident(ident) => match &ident.subpat {
            Some((_, inner)) => catch_all(inner),
            // A name that begins in upper case is a constant or a variant. Any other name is a new variable.
            None => is_variable_name(&ident.ident).then_some(pattern),
        },
        Pat::Or(alternatives) => alternatives.cases.iter().find_map(catch_all),
        Pat::Paren(inner) => catch_all(&inner.pat),
        Pat::Reference(inner) => catch_all(&inner.pat),
        _ => None,
    }
}
