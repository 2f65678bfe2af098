//! Whether a pattern takes a part of a place: `match x.body { Some(text) => … }`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Usage;
use crate::tokens::{
    before, delimiter, inside, is_among, is_attribute, is_punct, is_variable_name, is_word,
};

/// Whether a `match` or an `if let` matches the place from `at` to `end` with a pattern that binds by value. The
/// tokens do not show whether the bound value is `Copy`.
pub(super) fn take(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let mut arms = arms(tokens, at, end).into_iter();
    delimiter(tokens.get(end + 1)) == Some(Delimiter::Brace)
        && arms.any(|arm| binds_by_value(&arm.pattern))
}

/// Whether a pattern takes the value out of an `Option`: `if let Some(text) = x.body`. That value is `Copy` if and only
/// if the `Option` is.
pub(super) fn take_option(tokens: &[TokenTree], at: usize, end: usize) -> bool {
    let mut arms = arms(tokens, at, end).into_iter();
    arms.any(|arm| arm.of_option().is_some())
}

/// Whether an arm hands on all of the name at `at`, or what an `Option` of that name has, or takes a part of it whatever
/// the types are: `match x { Kind::A => f(a), other => f(other) }`, `if let Some(y) = x { f(y) }`, `if let Some(mut y) = x { }`.
pub(super) fn hand_on(tokens: &[TokenTree], at: usize) -> bool {
    let mut arms = arms(tokens, at, at).into_iter();
    arms.any(|arm| {
        let name = arm.of_option().or_else(|| one_name(&arm.pattern));
        name.is_some_and(|name| {
            let body: Vec<_> = arm.body.clone().into_iter().collect();
            let is_value = matches!(&*body, [TokenTree::Ident(word)] if *word == name);
            is_value || super::read(&name, &arm.body).usage >= Usage::HandedOver
        }) || binds_mutably(&arm.pattern)
    })
}

/// Whether a pattern has a `mut x`, which takes its value out of a reference too.
fn binds_mutably(pattern: &[TokenTree]) -> bool {
    pattern.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => !is_attribute(pattern, at) && binds_mutably(&inside(group)),
        token => {
            let previous = before(pattern, at, 1);
            let by_reference = is_word(previous, "ref") || is_punct(previous, "&");
            is_word(Some(token), "mut") && !by_reference
        }
    })
}

/// A pattern, and the code for the value that it fits.
struct Arm {
    pattern: Vec<TokenTree>,
    body: TokenStream,
}

impl Arm {
    /// The name that the pattern binds to the value in an `Option`.
    fn of_option(&self) -> Option<String> {
        match &*self.pattern {
            [name, TokenTree::Group(bound)] if is_word(Some(name), "Some") => {
                one_name(&inside(bound))
            }
            _ => None,
        }
    }
}

/// The name that a pattern binds by value to all that it matches: `text`, `mut text`.
fn one_name(pattern: &[TokenTree]) -> Option<String> {
    let is_mut = is_word(pattern.first(), "mut");
    match pattern.get(usize::from(is_mut)..) {
        Some([TokenTree::Ident(name)]) if binds_by_value(pattern) => Some(name.to_string()),
        _ => None,
    }
}

/// The arms of the `match`, `if let` or `let … else` of the place from `at` to `end`.
fn arms(tokens: &[TokenTree], at: usize, end: usize) -> Vec<Arm> {
    let (previous, next) = (before(tokens, at, 1), tokens.get(end + 1));
    let braces = match next {
        Some(TokenTree::Group(group)) => group.stream(),
        _ if is_word(next, "else") => TokenStream::new(),
        _ => return Vec::new(),
    };
    if is_word(previous, "match") {
        return arms_of(braces);
    }
    let earlier = tokens.get(..at.saturating_sub(1)).unwrap_or_default();
    let first = earlier
        .iter()
        .rposition(|token| is_word(Some(token), "let"))
        .filter(|_| is_punct(previous, "="));
    let pattern = first.and_then(|first| earlier.get(first + 1..));
    let arm = pattern.map(|pattern| Arm {
        pattern: pattern.to_vec(),
        body: braces,
    });
    arm.into_iter().collect()
}

/// The arms of a `match`, without their guards.
fn arms_of(braces: TokenStream) -> Vec<Arm> {
    let tokens: Vec<_> = braces.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut arms = Vec::new();
    while let Some(arrow) = position_of_arrow(rest) {
        let pattern = rest.get(..arrow).unwrap_or_default();
        let guard = pattern.iter().position(|token| is_word(Some(token), "if"));
        let pattern = pattern.get(..guard.unwrap_or(arrow)).unwrap_or_default();
        let body = rest.get(arrow + 2..).unwrap_or_default();
        let end = match body.first() {
            Some(TokenTree::Group(_)) if !is_punct(body.get(1), ".") => Some(1),
            _ => body.iter().position(|token| is_punct(Some(token), ",")),
        };
        let (body, after) = body.split_at(end.unwrap_or(body.len()));
        arms.push(Arm {
            pattern: pattern.to_vec(),
            body: body.iter().cloned().collect(),
        });
        rest = match after {
            [comma, after @ ..] if is_punct(Some(comma), ",") => after,
            after => after,
        };
    }
    arms
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
            !is_punct(before(pattern, at, 1), "&") && binds_by_value(&inside(group))
        }
        _ => false,
    })
}
