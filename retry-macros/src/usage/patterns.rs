//! What a pattern does with a value: it takes it apart, or binds all of it, or holds a part of it.

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::tokens::{before, delimiter, inside, is_punct, is_variable_name, is_word};

/// Whether a pattern takes a value apart, and so works with a reference too: `Some(x)`, `Job { id, .. }`, `Kind::A`.
pub(super) fn takes_apart(pattern: &[TokenTree]) -> bool {
    let is_part = |token: &TokenTree| match token {
        TokenTree::Ident(word) => !is_variable_name(word),
        token => matches!(token, TokenTree::Group(_)),
    };
    pattern.iter().any(is_part) && !holds(pattern)
}

/// Whether a pattern needs the value itself: it binds a name such as `_permit`, which is there only to be dropped, or a `mut`.
pub(super) fn holds(pattern: &[TokenTree]) -> bool {
    pattern.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) if word == "mut" => {
            let previous = before(pattern, at, 1);
            !is_word(previous, "ref") && !is_punct(previous, "&")
        }
        TokenTree::Ident(word) => {
            let name = word.to_string();
            name.starts_with('_') && name != "_" && !is_punct(pattern.get(at + 1), ":")
        }
        TokenTree::Group(group) => holds(&inside(group)),
        _ => false,
    })
}

/// Whether the pattern of an arm of a `match` holds something, or that of the first arm binds the whole value.
pub(super) fn arms_hold(arms: TokenStream) -> bool {
    let tokens = Vec::from_iter(arms);
    let mut pattern = 0;
    for (at, token) in tokens.iter().enumerate() {
        let arrow = at.saturating_sub(2);
        let is_first = is_punct(tokens.get(arrow), "=") && is_punct(before(&tokens, at, 1), ">");
        let arm = tokens.get(pattern..arrow).unwrap_or_default();
        if is_first && (holds(arm) || pattern == 0 && binds_all(arm)) {
            return true;
        }
        if is_first && delimiter(Some(token)).is_some() || is_punct(Some(token), ",") {
            pattern = at + 1;
        }
    }
    false
}

/// Whether a pattern begins with a name for the whole value: `x`, `x if …`, `x @ _`.
fn binds_all(pattern: &[TokenTree]) -> bool {
    let is_name = |name: &Ident| is_variable_name(name) && name != "ref" && name != "_";
    matches!(pattern.first(), Some(TokenTree::Ident(name)) if is_name(name))
        && (pattern.len() == 1 || is_word(pattern.get(1), "if") || is_punct(pattern.get(1), "@"))
}

/// The names that a pattern binds, or those of the arguments of a closure: `(a, b), c: u8`. In a group, the name of a field, as in
/// `Struct { name: other }`, binds nothing.
pub(super) fn bound(pattern: &[TokenTree], in_group: bool) -> Vec<String> {
    let names = pattern.iter().enumerate().map(|(at, token)| match token {
        TokenTree::Ident(word) if !in_group || !is_punct(pattern.get(at + 1), ":") => {
            vec![word.to_string()]
        }
        TokenTree::Group(group) => bound(&inside(group), true),
        _ => Vec::new(),
    });
    names.flatten().collect()
}
