//! What was typed between the parentheses: keys, and the tokens of their values.
//!
//! Judges nothing but the punctuation. A mistake costs the argument it is in and no other: reading
//! goes on at the next comma, or at the next thing that can only be a key.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::buffer::Cursor;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, LitStr, Pat, Token, Type};

use crate::errors::{At, Errors, key as wording, typed};
use crate::keys::{self, Key, Shape};
use crate::tokens::bare;

/// One argument as typed.
pub(crate) struct RawArg {
    /// The key without `r#`, known or not.
    pub(crate) name: String,
    pub(crate) span: Span,
    /// Which argument it is, from 0.
    pub(crate) position: usize,
    pub(crate) value: RawValue,
}

pub(crate) enum RawValue {
    /// The key alone, or the key and `=`.
    Missing,
    /// `key = tokens`; at least one token.
    Assigned(TokenStream),
    /// `key(tokens)`; maybe none.
    List { tokens: TokenStream, at: At },
}

/// Splits the arguments of the attribute.
pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Vec<RawArg> {
    let mut found = Vec::new();
    let parser = |input: ParseStream<'_>| {
        let mut position = 0;
        each(input, || {
            errors.seek(position);
            found.extend(argument(input, position, errors));
            position += 1;
        });
        Ok(())
    };
    if let Err(error) = parser.parse2(args) {
        errors.push(error.span(), error);
    }
    errors.seek(Errors::ITEM);
    found
}

/// Splits a list at its commas; a comma inside of a value of this shape is no end.
pub(crate) fn elements(list: TokenStream, shape: Shape) -> Vec<TokenStream> {
    let mut found = Vec::new();
    let parser = |input: ParseStream<'_>| {
        each(input, || {
            found.push(value(input, shape));
            comma(input);
        });
        Ok(())
    };
    // The closure has no error to give, and consumes everything.
    let _: syn::Result<()> = parser.parse2(list);
    found
}

/// Repeats until the end, or until a step takes nothing: no input may hang the compiler.
fn each(input: ParseStream<'_>, mut step: impl FnMut()) {
    while !input.is_empty() {
        let before = input.cursor();
        step();
        if input.cursor() == before {
            break;
        }
    }
}

/// Reads one argument and the comma behind it: at least one token.
fn argument(input: ParseStream<'_>, position: usize, errors: &mut Errors) -> Option<RawArg> {
    let Some(key) = key(input) else {
        not_a_key(input, errors);
        return None;
    };
    let name = key.unraw().to_string();
    let known = keys::find(&name);
    let value = match separator(input, &name, known.is_some(), errors) {
        Separator::Value(value) => value,
        Separator::End => RawValue::Missing,
        // `timeout = jitter = "full"`: the value is not there yet, and the comma is no mistake.
        Separator::Assigned if starts_assignment(input, true) => RawValue::Missing,
        Separator::Assigned => {
            let tokens = value(input, known.map_or(Shape::Expr, |key| key.shape));
            if tokens.is_empty() {
                RawValue::Missing
            } else {
                RawValue::Assigned(tokens)
            }
        }
    };
    let unfinished = matches!(value, RawValue::Missing) && starts_assignment(input, true);
    if !unfinished {
        end(input, known, errors);
    }
    Some(RawArg {
        name,
        span: key.span(),
        position,
        value,
    })
}

/// An identifier that begins no path.
fn key(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    ahead.call(Ident::parse_any).ok()?;
    if ahead.peek(Token![::]) || ahead.peek(Token![!]) {
        return None;
    }
    input.call(Ident::parse_any).ok()
}

fn not_a_key(input: ParseStream<'_>, errors: &mut Errors) {
    if input.peek(Token![,]) {
        errors.push(input.span(), wording::stray_comma());
    } else {
        let tokens = until(input, None);
        errors.push(At::of(&tokens), wording::not_a_key(&tokens));
    }
    comma(input);
}

enum Separator {
    /// `=`, or something wrong that was reported in its place.
    Assigned,
    /// The value that stood there.
    Value(RawValue),
    /// Nothing more in this argument.
    End,
}

/// Reads what stands between key and value. With an unknown key that is the mistake, and its
/// punctuation is not judged.
fn separator(input: ParseStream<'_>, name: &str, known: bool, errors: &mut Errors) -> Separator {
    if input.is_empty() || input.peek(Token![,]) {
        return Separator::End;
    }
    if input.peek(syn::token::Paren) {
        if let Ok(TokenTree::Group(group)) = input.parse() {
            return Separator::Value(RawValue::List {
                tokens: group.stream(),
                at: At {
                    start: group.span_open(),
                    end: group.span_close(),
                },
            });
        }
    }
    let right = input.peek(Token![=]) && !input.peek(Token![==]) && !input.peek(Token![=>]);
    if right {
        skip(input, 1);
        return Separator::Assigned;
    }
    if starts_argument(input) {
        // The key alone; `end` says that a comma is missing.
        return Separator::End;
    }
    if known {
        if let Some(value) = bracketed(input, name, errors) {
            return Separator::Value(value);
        }
        let found: TokenStream = input.fork().parse::<TokenTree>().into_iter().collect();
        let (length, found) = match wrong_separator(input) {
            Some((length, text)) => (length, text.to_owned()),
            None => (0, typed(&found)),
        };
        errors.push(input.span(), wording::not_equals(name, &found));
        skip(input, length);
    }
    Separator::Assigned
}

/// `key[value]` and `key { value }`.
fn bracketed(input: ParseStream<'_>, name: &str, errors: &mut Errors) -> Option<RawValue> {
    let found = match () {
        () if input.peek(syn::token::Bracket) => "[",
        () if input.peek(syn::token::Brace) => "{",
        () => return None,
    };
    let at = input.span();
    let Ok(TokenTree::Group(group)) = input.parse() else {
        return None;
    };
    let tokens = bare(group.stream());
    if tokens.is_empty() {
        return Some(RawValue::Missing);
    }
    errors.push(at, wording::not_equals(name, found));
    Some(RawValue::Assigned(tokens))
}

/// What people write for `=`, and of how many tokens it is made.
fn wrong_separator(input: ParseStream<'_>) -> Option<(usize, &'static str)> {
    if input.peek(Token![==]) {
        Some((2, "=="))
    } else if input.peek(Token![=>]) {
        Some((2, "=>"))
    } else if input.peek(Token![:]) {
        Some((1, ":"))
    } else {
        None
    }
}

/// The tokens of one value: as far as the grammar of its shape reaches if a comma or the end
/// follows there, else everything before the next comma.
///
/// So a comma within a value (`Error<A, B>`, `|a, b| …`) does not cut it, and a value with a
/// mistake is handed on whole.
fn value(input: ParseStream<'_>, shape: Shape) -> TokenStream {
    let ahead = input.fork();
    let parsed = match shape {
        Shape::Expr | Shape::Names => ahead.parse::<Expr>().is_ok(),
        Shape::Pattern => pattern(&ahead).is_ok(),
        Shape::Types => {
            (ahead.peek(LitStr) && ahead.parse::<LitStr>().is_ok()) || types(&ahead).is_ok()
        }
    };
    let ends = ahead.is_empty() || ahead.peek(Token![,]) || starts_argument(&ahead);
    let end = (parsed && ends).then(|| ahead.cursor());
    until(input, end)
}

fn pattern(input: ParseStream<'_>) -> syn::Result<()> {
    Pat::parse_multi_with_leading_vert(input)?;
    if input.peek(Token![if]) {
        input.parse::<Token![if]>()?;
        input.parse::<Expr>()?;
    }
    Ok(())
}

fn types(input: ParseStream<'_>) -> syn::Result<()> {
    Punctuated::<Type, Token![|]>::parse_separated_nonempty(input).map(drop)
}

/// Takes the tokens before `end`; without one, those before the next comma or the next argument.
fn until(input: ParseStream<'_>, end: Option<Cursor<'_>>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let ends = match end {
            Some(end) => input.cursor() >= end,
            None => input.peek(Token![,]) || (!tokens.is_empty() && starts_argument(input)),
        };
        if ends {
            break;
        }
        match input.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    // What came through a fragment of `macro_rules!` is wrapped in brackets that nobody typed.
    bare(tokens)
}

/// Reads the comma behind an argument, or says that it is missing.
fn end(input: ParseStream<'_>, known: Option<&Key>, errors: &mut Errors) {
    if input.is_empty() || comma(input) {
        return;
    }
    if starts_argument(input) {
        errors.push(input.span(), wording::missing_comma(&next(input)));
        return;
    }
    let rest = until(input, None);
    if let Some(key) = known {
        errors.push(At::of(&rest), wording::trailing(key, &rest));
    }
    comma(input);
}

/// Whether what follows can only be the next argument: `word =`, or a key of ours and then `(`, a
/// literal, a comma or the end.
fn starts_argument(input: ParseStream<'_>) -> bool {
    if starts_assignment(input, false) {
        return true;
    }
    let ahead = input.fork();
    let Ok(ident) = ahead.call(Ident::parse_any) else {
        return false;
    };
    let ends = ahead.is_empty()
        || ahead.peek(Token![,])
        || ahead.peek(syn::token::Paren)
        || ahead.peek(Lit);
    ends && keys::find(&ident.unraw().to_string()).is_some()
}

fn starts_assignment(input: ParseStream<'_>, known: bool) -> bool {
    let ahead = input.fork();
    let Ok(ident) = ahead.call(Ident::parse_any) else {
        return false;
    };
    (!known || keys::find(&ident.unraw().to_string()).is_some())
        && ahead.peek(Token![=])
        && !ahead.peek(Token![==])
        && !ahead.peek(Token![=>])
}

fn next(input: ParseStream<'_>) -> String {
    let token = input.fork().call(Ident::parse_any);
    token.map(|ident| ident.to_string()).unwrap_or_default()
}

fn comma(input: ParseStream<'_>) -> bool {
    let found = input.peek(Token![,]);
    if found {
        skip(input, 1);
    }
    found
}

fn skip(input: ParseStream<'_>, length: usize) {
    for _ in 0..length {
        let _: syn::Result<TokenTree> = input.parse();
    }
}
