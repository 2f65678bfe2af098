//! Whether a pattern takes a part of a place: `match x.body { Some(text) => … }`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tokens::{
    before, delimiter, is_among, is_attribute, is_punct, is_variable_name, is_word,
};

/// Whether a `match` or an `if let` matches the place from `at` to `end` with a pattern that binds by value. The
/// tokens do not show whether the bound value is `Copy`.
pub(super) fn take(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let mut patterns = matching(tokens, at, end).into_iter();
    delimiter(tokens.get(end + 1)) == Some(Delimiter::Brace)
        && patterns.any(|pattern| binds_by_value(&pattern))
}

/// Whether a pattern takes the value out of an `Option`: `if let Some(text) = x.body`. That value is `Copy` if and only
/// if the `Option` is.
pub(super) fn take_option(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let mut patterns = matching(tokens, at, end).into_iter();
    patterns.any(|pattern| match &*pattern {
        [name, TokenTree::Group(bound)] if is_word(Some(name), "Some") => {
            let bound: Vec<_> = bound.stream().into_iter().collect();
            let is_mut = is_word(bound.first(), "mut");
            let bound = bound.get(usize::from(is_mut)..).unwrap_or_default();
            matches!(bound, [TokenTree::Ident(_)]) && binds_by_value(bound)
        }
        _ => false,
    })
}

/// The patterns of the `match`, `if let` or `let … else` of the place from `at` to `end`.
fn matching(tokens: &[TokenTree], at: usize, end: usize) -> Vec<Vec<TokenTree>> {
    let (previous, next) = (before(tokens, at, 1), tokens.get(end + 1));
    match next {
        Some(TokenTree::Group(arms)) if is_word(previous, "match") => patterns_of(arms.stream()),
        _ if is_punct(previous, "=")
            && (delimiter(next) == Some(Delimiter::Brace) || is_word(next, "else")) =>
        {
            let earlier = tokens.get(..at - 1).unwrap_or_default();
            let first = earlier
                .iter()
                .rposition(|token| is_word(Some(token), "let"));
            let pattern = first.and_then(|first| earlier.get(first + 1..));
            pattern.map(<[_]>::to_vec).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The patterns of the arms, without their guards.
fn patterns_of(arms: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<_> = arms.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut patterns = Vec::new();
    while let Some(arrow) = position_of_arrow(rest) {
        let pattern = rest.get(..arrow).unwrap_or_default();
        let guard = pattern.iter().position(|token| is_word(Some(token), "if"));
        let pattern = pattern.get(..guard.unwrap_or(arrow));
        patterns.extend(pattern.map(<[_]>::to_vec));
        let body = rest.get(arrow + 2..).unwrap_or_default();
        let comma = body.iter().position(|token| is_punct(Some(token), ","));
        let next = match body.first() {
            Some(TokenTree::Group(_)) if !is_punct(body.get(1), ".") => Some(0),
            _ => comma,
        };
        rest = next
            .and_then(|next| body.get(next + 1..))
            .unwrap_or_default();
    }
    patterns
}

fn position_of_arrow(tokens: &[TokenTree]) -> Option<usize> {
    let mut pairs = tokens.windows(2);
    pairs.position(|pair| is_punct(pair.first(), "=") && is_punct(pair.get(1), ">"))
}

/// Whether a pattern binds a variable without `ref` or `&`.
fn binds_by_value(pattern: &[TokenTree]) -> bool {
    pattern.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) => {
            let (previous, next) = (before(pattern, at, 1), pattern.get(at + 1));
            let keyword = is_among(word, "_ box false mut ref true");
            let by_reference = is_word(previous, "ref")
                || is_word(before(pattern, at, 2), "ref")
                || is_punct(previous, "&");
            // The word is a part of a path, a field's name, a macro or a constructor.
            let other = is_punct(next, ":!") || delimiter(next).is_some();
            is_variable_name(word) && !keyword && !by_reference && !other
        }
        TokenTree::Group(_) if is_attribute(pattern, at) => false,
        TokenTree::Group(group) => {
            let inner: Vec<_> = group.stream().into_iter().collect();
            !is_punct(before(pattern, at, 1), "&") && binds_by_value(&inner)
        }
        _ => false,
    })
}
