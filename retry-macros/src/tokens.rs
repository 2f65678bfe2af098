//! Helpers that walk tokens, look into groups, and compare words.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;

use crate::text::among;

/// Quotes generated code. The names in it do not meet those of the user, and lints do not look at it.
macro_rules! generated {
    ($($tokens:tt)*) => { quote::quote_spanned!(proc_macro2::Span::mixed_site()=> $($tokens)*) };
}
pub(crate) use generated;

/// The span of generated code in which rustc reports a mistake at `place`.
pub(crate) fn located(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// All tokens at any depth. A group comes before the tokens in it.
pub(crate) fn deep(tokens: &dyn ToTokens) -> impl Iterator<Item = TokenTree> {
    let mut open = vec![tokens.to_token_stream().into_iter()];
    std::iter::from_fn(move || {
        while let Some(tokens) = open.last_mut() {
            let Some(token) = tokens.next() else {
                open.pop();
                continue;
            };
            if let TokenTree::Group(group) = &token {
                open.push(group.stream().into_iter());
            }
            #[cfg(test)]
            steps::count();
            return Some(token);
        }
        None
    })
}

/// The words among the tokens, at any depth.
pub(crate) fn words(tokens: &dyn ToTokens) -> impl Iterator<Item = String> {
    deep(tokens).filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    })
}

/// Whether `holds` is true of the text of a word or a literal, at any depth. The text of a group would be written again at each depth.
pub(crate) fn any_text(tokens: &dyn ToTokens, holds: impl Fn(&str) -> bool) -> bool {
    deep(tokens).any(|token| match token {
        TokenTree::Ident(word) => holds(&word.to_string()),
        TokenTree::Literal(literal) => holds(&literal.to_string()),
        TokenTree::Group(_) | TokenTree::Punct(_) => false,
    })
}

/// Whether `holds` is true of a word, at any depth.
pub(crate) fn any_word(tokens: &dyn ToTokens, holds: &dyn Fn(&Ident) -> bool) -> bool {
    deep(tokens).any(|token| matches!(token, TokenTree::Ident(word) if holds(&word)))
}

/// Whether one of these words, which blanks separate, is among the tokens, at any depth.
pub(crate) fn has_word(tokens: &dyn ToTokens, words: &str) -> bool {
    any_word(tokens, &|word| is_among(word, words))
}

/// A name without `r#`.
pub(crate) fn unraw(name: &Ident) -> String {
    name.unraw().to_string()
}

/// Whether a word is one of these, which blanks separate.
pub(crate) fn is_among(word: &Ident, words: &str) -> bool {
    among(words, &word.to_string())
}

/// Whether a name is written like a variable, and not like a constant or a variant.
pub(crate) fn is_variable_name(name: &Ident) -> bool {
    let is_first = |char: char| char.is_lowercase() || char == '_';
    name.to_string().starts_with(is_first)
}

/// Whether a token is one of these words, which blanks separate.
pub(crate) fn is_word(token: Option<&TokenTree>, words: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(word)) if is_among(word, words))
}

/// Whether a token is one of these punctuation characters.
pub(crate) fn is_punct(token: Option<&TokenTree>, chars: &str) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if chars.contains(punct.as_char()))
}

pub(crate) fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

pub(crate) fn delimiter(token: Option<&TokenTree>) -> Option<Delimiter> {
    match token {
        Some(TokenTree::Group(group)) => Some(group.delimiter()),
        _ => None,
    }
}

/// Whether the group at `at` is that of an attribute: `#[…]`.
pub(crate) fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    delimiter(tokens.get(at)) == Some(Delimiter::Bracket) && is_punct(before(tokens, at, 1), "#")
}

pub(crate) fn is_text(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Literal(literal)) if literal.to_string().contains('"'))
}

/// Whether a `::` stands before the token at `at`.
pub(crate) fn follows_path(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(before(tokens, at, 1), ":") && is_punct(before(tokens, at, 2), ":")
}

/// Whether the group at `at` lists what a `use` imports: `use std::io::{self, Write};`.
pub(crate) fn is_import(tokens: &[TokenTree], at: usize) -> bool {
    delimiter(tokens.get(at)) == Some(Delimiter::Brace) && follows_path(tokens, at)
}

/// The token that is `steps` places before `at`.
pub(crate) fn before(tokens: &[TokenTree], at: usize, steps: usize) -> Option<&TokenTree> {
    at.checked_sub(steps).and_then(|index| tokens.get(index))
}

/// The group, if the tokens are a single group.
pub(crate) fn lone_group(tokens: &TokenStream) -> Option<Group> {
    let mut tokens = tokens.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) => Some(group),
        _ => None,
    }
}

/// A group with this span.
pub(crate) fn grouped(delimiter: Delimiter, tokens: TokenStream, span: Span) -> TokenTree {
    let mut group = Group::new(delimiter, tokens);
    group.set_span(span);
    group.into()
}

/// Removes the invisible groups around all of the tokens, which a fragment of `macro_rules!` adds.
pub(crate) fn bare(tokens: TokenStream) -> TokenStream {
    match lone_group(&tokens) {
        Some(group) if group.delimiter() == Delimiter::None => bare(group.stream()),
        _ => tokens,
    }
}

/// The tokens, without the invisible group around a place: around `x` or `x.body`, for which a `$value` of `macro_rules!`
/// stands.
pub(crate) fn with_bare_places(tokens: TokenStream) -> Vec<TokenTree> {
    let mut bare = Vec::new();
    for token in tokens {
        #[cfg(test)]
        steps::count();
        if let TokenTree::Group(group) = &token {
            if group.delimiter() == Delimiter::None {
                let inner = with_bare_places(group.stream());
                let is_part = |token: &TokenTree| match token {
                    TokenTree::Ident(_) | TokenTree::Literal(_) => true,
                    token => is_punct(Some(token), "."),
                };
                if inner.iter().all(is_part) {
                    bare.extend(inner);
                    continue;
                }
            }
        }
        bare.push(token);
    }
    bare
}

/// Counts the tokens that are read, so that a test sees what reads them too often.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::Cell;

    thread_local!(static STEPS: Cell<usize> = const { Cell::new(0) });

    pub(crate) fn count() {
        STEPS.set(STEPS.get() + 1);
    }

    /// The tokens that `code` reads.
    pub(crate) fn of(code: impl FnOnce()) -> usize {
        STEPS.set(0);
        code();
        STEPS.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_walked_into() {
        let tokens: TokenStream = "a(b[c], { d }) e".parse().unwrap();
        let words: Vec<_> = deep(&tokens)
            .filter_map(|token| match token {
                TokenTree::Ident(word) => Some(word.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(words, ["a", "b", "c", "d", "e"]);
        assert!(has_word(&tokens, "d"));
        assert!(any_text(&tokens, |text| text == "d"));
        assert!(
            !any_text(&tokens, |text| text.len() > 1),
            "the text of a group"
        );
    }
}
