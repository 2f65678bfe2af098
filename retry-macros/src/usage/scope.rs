//! Where a name no longer means the argument.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::Attribute;
use syn::parse::Parser as _;

use crate::conditions;
use crate::tokens::{before, delimiter, inside, is_among, is_punct, is_word};

/// Where the pattern of the `let` at `at` ends.
pub(super) fn pattern_end(tokens: &[TokenTree], at: usize) -> usize {
    let mut rest = at + 1..tokens.len();
    rest.find(|&index| ends_pattern(tokens, index))
        .unwrap_or(tokens.len())
}

/// The index from which the `let` at `at` hides `name` for the rest of its block. `None` if it does not.
pub(super) fn hidden_from(tokens: &[TokenTree], at: usize, name: &str) -> Option<usize> {
    let previous = before(tokens, at, 1);
    // The `let` of a condition hides a name only in the block of that condition.
    let statement = previous.is_none()
        || is_punct(previous, ";")
        || matches!(
            delimiter(previous),
            Some(Delimiter::Brace | Delimiter::Bracket)
        );
    let end = pattern_end(tokens, at);
    let semicolon = (end..tokens.len()).find(|&index| is_punct(tokens.get(index), ";"))?;
    (statement && binds(tokens.get(at + 1..end)?, name)).then_some(semicolon + 1)
}

/// The `cfg` of an attribute, given as its brackets.
pub(super) fn cfg(brackets: &Group) -> Vec<Attribute> {
    let attribute = Attribute::parse_outer.parse2(quote!(# #brackets));
    conditions::only(&attribute.unwrap_or_default(), conditions::is_cfg)
}

/// Where the statement, arm, field or element ends whose attribute is at `at`. If unsure, it is a later place.
pub(super) fn end_of_attributed(tokens: &[TokenTree], at: usize) -> usize {
    // The commas between generic arguments, or between the arguments of a closure, do not end it.
    let (mut angles, mut bars) = (0_usize, 0_usize);
    for index in at + 1..tokens.len() {
        let (token, next) = (tokens.get(index), tokens.get(index + 1));
        if is_punct(token, "<") {
            angles += 1;
        } else if is_punct(token, ">") && !is_punct(before(tokens, index, 1), "-=") {
            angles = angles.saturating_sub(1);
        } else if is_punct(token, "|") {
            bars += 1;
        }
        let separated = is_punct(token, ",") && angles == 0 && bars % 2 == 0;
        // `{ … } else`, `Pattern { … } if`, `Pattern { … } in` and `{ … } as` go on.
        let goes_on = match next {
            Some(TokenTree::Ident(word)) => is_among(word, "as else if in"),
            Some(TokenTree::Punct(_)) => !is_punct(next, "#"),
            Some(TokenTree::Group(_)) => true,
            Some(TokenTree::Literal(_)) | None => false,
        };
        let closed = delimiter(token) == Some(Delimiter::Brace) && !goes_on;
        if separated || closed || is_punct(token, ";") {
            return index + 1;
        }
    }
    tokens.len()
}

/// Whether a body binds `name` anew anywhere, in any way.
pub(super) fn is_rebound(name: &str, body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    let mut bars = 0;
    let anew = tokens.iter().enumerate().any(|(at, token)| {
        let previous = before(&tokens, at, 1);
        bars += usize::from(is_punct(Some(token), "|"));
        let pattern = bars % 2 == 1 || is_word(previous, "let for mut ref");
        let next = tokens.get(at + 1);
        let arm = is_punct(next, "=") && is_punct(tokens.get(at + 2), ">")
            || is_word(next, "if in")
            || is_punct(next, "@");
        match token {
            TokenTree::Ident(word) => word == name && (pattern || arm),
            // The group may be a part of a pattern: `Some(x)`, `Struct { x }`, `(x, y)`.
            TokenTree::Group(group) if pattern || arm || is_punct(next, "=") => {
                binds(&inside(group), name)
            }
            _ => false,
        }
    });
    anew || tokens
        .iter()
        .any(|token| matches!(token, TokenTree::Group(group) if is_rebound(name, &group.stream())))
}

/// Whether the pattern of a `let` ends before this token: at `=`, at `;`, or at the `:` before its type. The
/// colons of a path do not end it.
fn ends_pattern(tokens: &[TokenTree], at: usize) -> bool {
    let token = tokens.get(at);
    let colon = |token| is_punct(token, ":");
    is_punct(token, "=;")
        || colon(token) && !colon(tokens.get(at + 1)) && !colon(before(tokens, at, 1))
}

/// Whether a pattern binds `name`. The name of a field, as in `Struct { name: other }`, does not bind it.
fn binds(pattern: &[TokenTree], name: &str) -> bool {
    pattern.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) => word == name && !is_punct(pattern.get(at + 1), ":"),
        TokenTree::Group(group) => binds(&inside(group), name),
        _ => false,
    })
}
