//! `#[retryable(…)]` as typed; judges nothing but the punctuation.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Meta, Token};

use super::errors as wording;
use crate::errors::{At, Errors};

/// One word of an attribute, with what stands behind its `=`.
pub(crate) struct Word {
    /// Without `r#`.
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) value: Option<TokenStream>,
    /// The place among the words of the whole item: errors come in this order.
    pub(crate) position: usize,
}

/// Counts the words and the cases of an item, in the order of the source.
#[derive(Default)]
pub(crate) struct Positions(usize);

impl Positions {
    pub(crate) fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }
}

/// Reads all `#[retryable(…)]` attributes of a type, a variant or a field.
pub(crate) fn words(
    attributes: &[Attribute],
    positions: &mut Positions,
    errors: &mut Errors,
) -> Vec<Word> {
    let mut words = Vec::new();
    for attribute in attributes {
        let Some(name) = attribute
            .path()
            .get_ident()
            .filter(|name| *name == "retryable")
        else {
            continue;
        };
        let before = words.len();
        errors.seek(positions.next());
        match &attribute.meta {
            Meta::Path(_) => errors.push(name.span(), wording::empty()),
            Meta::NameValue(typed) => {
                errors.push(At::of(&typed.value), wording::not_parentheses(&typed.value));
            }
            Meta::List(list) if list.tokens.is_empty() => {
                errors.push(name.span(), wording::empty());
            }
            Meta::List(list) => split(list.tokens.clone(), &mut words, positions, errors),
        }
        if words.len() == before {
            // Whatever it was, one error is enough: no second one about a word that is not there.
            words.push(Word {
                name: String::new(),
                span: name.span(),
                value: None,
                position: positions.next(),
            });
        }
    }
    words
}

/// Splits at commas; a mistake costs the word it is in and no other.
fn split(
    tokens: TokenStream,
    words: &mut Vec<Word>,
    positions: &mut Positions,
    errors: &mut Errors,
) {
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let position = positions.next();
            errors.seek(position);
            words.extend(word(input, position, errors));
            let rest = until_comma(input);
            if !rest.is_empty() {
                errors.push(At::of(&rest), wording::missing_comma(&rest));
            }
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.push(error.span(), error);
    }
}

fn word(input: ParseStream<'_>, position: usize, errors: &mut Errors) -> Option<Word> {
    let Ok(name) = input.call(Ident::parse_any) else {
        let found = until_comma(input);
        let at = if found.is_empty() {
            At::from(input.span())
        } else {
            At::of(&found)
        };
        errors.push(at, wording::not_a_word(&found));
        return None;
    };
    let value = if input.peek(Token![=]) {
        let equals = input.parse::<Token![=]>().ok()?;
        let value = until_comma(input);
        if value.is_empty() {
            errors.push(equals.span, wording::missing_value(&name));
        }
        Some(value)
    } else if input.peek(syn::token::Paren) {
        match input.parse() {
            Ok(TokenTree::Group(group)) => {
                errors.push(At::from(group.span()), wording::no_list(&name));
                Some(TokenStream::new())
            }
            _ => None,
        }
    } else {
        None
    };
    Some(Word {
        name: name.unraw().to_string(),
        span: name.span(),
        value,
        position,
    })
}

/// Paths and names have no comma outside of brackets but between generic arguments, which nobody
/// needs here.
fn until_comma(input: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        match input.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    tokens
}
