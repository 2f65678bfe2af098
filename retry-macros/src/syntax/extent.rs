//! Where a value or an argument ends.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::buffer::Cursor;
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Pat, Token, Type};

use crate::keys::{Grammar, Key};
use crate::tokens::{bare, unraw};

/// Finds a key of the vocabulary.
pub(super) type FindKey = fn(&str) -> Option<&'static Key>;

/// The tokens of one value. It ends where the grammar ends, if a comma or the end follows there. Otherwise it
/// ends before the next comma.
///
/// So a comma within a value (`Error<A, B>`, `|a, b| …`) does not end it, and a wrong value stays whole.
pub(super) fn value(input: ParseStream<'_>, grammar: Grammar, find: FindKey) -> TokenStream {
    let ahead = input.fork();
    let parsed = match grammar {
        Grammar::Expr | Grammar::List | Grammar::Names => ahead.parse::<Expr>().is_ok(),
        Grammar::Pattern => guarded(&ahead).is_ok(),
        Grammar::Types => types(&ahead).is_ok(),
        Grammar::Flag => false,
    };
    let ends = ahead.is_empty() || ahead.peek(Token![,]) || starts_argument(&ahead, find);
    let end = (parsed && ends).then(|| ahead.cursor());
    until(input, end, find)
}

/// A pattern, and maybe a guard.
pub(crate) fn guarded(input: ParseStream<'_>) -> syn::Result<(Pat, Option<Expr>)> {
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    Ok((pattern, guard))
}

/// Types with `|` between them, and maybe one before them.
pub(crate) fn types(input: ParseStream<'_>) -> syn::Result<Punctuated<Type, Token![|]>> {
    input.parse::<Option<Token![|]>>()?;
    Punctuated::parse_separated_nonempty(input)
}

/// Takes the tokens before `end`. Without an `end`, takes those before the next comma or the next argument.
pub(super) fn until(input: ParseStream<'_>, end: Option<Cursor<'_>>, find: FindKey) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let ends = match end {
            Some(end) => input.cursor() >= end,
            None => input.peek(Token![,]) || (!tokens.is_empty() && starts_argument(input, find)),
        };
        if ends {
            break;
        }
        match input.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    // A fragment of `macro_rules!` adds invisible groups.
    bare(tokens)
}

/// Whether the next tokens can only be the next argument: `word =`, or a known key and then `(`, a literal, a
/// comma or the end.
pub(super) fn starts_argument(input: ParseStream<'_>, find: FindKey) -> bool {
    if starts_assignment(input, None) {
        return true;
    }
    word(input).is_some_and(|(word, after)| {
        let ends = after.is_empty()
            || after.peek(Token![,])
            || after.peek(syn::token::Paren)
            || after.peek(Lit);
        ends && find(&unraw(&word)).is_some()
    })
}

/// Whether `word =` follows. With `find`, the word has to be a key.
pub(super) fn starts_assignment(input: ParseStream<'_>, find: Option<FindKey>) -> bool {
    word(input).is_some_and(|(word, after)| {
        find.is_none_or(|find| find(&unraw(&word)).is_some()) && is_equals(&after)
    })
}

pub(super) fn is_equals(input: ParseStream<'_>) -> bool {
    input.peek(Token![=]) && !input.peek(Token![==]) && !input.peek(Token![=>])
}

/// The word that follows, and what is after it.
pub(super) fn word(input: ParseStream<'_>) -> Option<(Ident, ParseBuffer<'_>)> {
    let after = input.fork();
    let word = after.call(Ident::parse_any).ok()?;
    Some((word, after))
}

/// The token that follows.
pub(super) fn token(input: ParseStream<'_>) -> TokenStream {
    input.fork().parse::<TokenTree>().into_iter().collect()
}

pub(super) fn comma(input: ParseStream<'_>) -> bool {
    let found = input.peek(Token![,]);
    if found {
        skip(input, 1);
    }
    found
}

pub(super) fn skip(input: ParseStream<'_>, length: usize) {
    for _ in 0..length {
        let _: syn::Result<TokenTree> = input.parse();
    }
}
