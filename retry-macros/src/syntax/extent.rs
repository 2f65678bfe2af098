//! Where a value or an argument ends.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::buffer::Cursor;
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{BinOp, Expr, Lit, Token, Type};

use crate::keys::{Grammar, Key};
use crate::operand::peel;
use crate::tokens::{bare, is_variable_name, unraw};

pub(super) type FindKey = fn(&str) -> Option<&'static Key>;

/// The tokens of one value. It ends where the grammar ends, if a comma or the end follows there. Otherwise it
/// ends before the next comma.
///
/// So a comma within a value (`Error<A, B>`, `|a, b| …`) does not end it, and a wrong value stays whole.
pub(super) fn value(input: ParseStream<'_>, grammar: Grammar, find: FindKey) -> TokenStream {
    let ahead = input.fork();
    let parsed = match grammar {
        Grammar::Expr | Grammar::Function | Grammar::List => ahead.parse::<Expr>().is_ok(),
        Grammar::Rule if starts_closure(input) => ahead.parse::<Expr>().is_ok(),
        Grammar::Types | Grammar::Rule => types(&ahead).is_ok(),
        Grammar::Flag => false,
    };
    let ends = ahead.is_empty() || ahead.peek(Token![,]) || starts_argument(&ahead, find);
    let end = (parsed && ends).then(|| ahead.cursor());
    until(input, end, find)
}

fn starts_closure(input: ParseStream<'_>) -> bool {
    input.peek(Token![|]) || input.peek(Token![move]) || input.peek(Token![async])
}

/// Whether a rule is a function, and not types: a closure, or a name in lower case, such as `MyError::is_fatal`.
pub(crate) fn asks_function(rule: TokenStream) -> bool {
    let reads = |input: ParseStream<'_>| {
        // A closure that is being written is no expression yet.
        let begins = starts_closure(input);
        let expr = input.parse::<Expr>();
        let _: TokenStream = input.parse()?;
        Ok(begins || expr.is_ok_and(|expr| is_function(&expr)))
    };
    reads.parse2(rule).unwrap_or(false)
}

fn is_function(expr: &Expr) -> bool {
    match peel(expr) {
        Expr::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| is_variable_name(&last.ident))
        }
        Expr::Call(call) => is_function(&call.func),
        Expr::Binary(binary) => !matches!(binary.op, BinOp::BitOr(_) | BinOp::Lt(_)),
        Expr::Array(_) | Expr::Macro(_) | Expr::Reference(_) | Expr::Struct(_) | Expr::Tuple(_) => {
            false
        }
        _ => true,
    }
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
        let is_equals = after.peek(Token![=]) && !after.peek(Token![==]) && !after.peek(Token![=>]);
        is_equals && find.is_none_or(|find| find(&unraw(&word)).is_some())
    })
}

/// The tokens of a value, or none if they are settings, as in `backoff(base = 100)`.
pub(crate) fn unless_settings(tokens: TokenStream) -> TokenStream {
    let reads = |input: ParseStream<'_>| {
        let are_settings = starts_assignment(input, None);
        let tokens = input.parse::<TokenStream>()?;
        Ok(if are_settings {
            TokenStream::new()
        } else {
            tokens
        })
    };
    reads.parse2(tokens).unwrap_or_default()
}

/// The word that follows, and what is after it.
pub(super) fn word(input: ParseStream<'_>) -> Option<(Ident, ParseBuffer<'_>)> {
    let after = input.fork();
    let word = after.call(Ident::parse_any).ok()?;
    Some((word, after))
}

pub(super) fn token(input: ParseStream<'_>) -> TokenStream {
    input.fork().parse::<TokenTree>().into_iter().collect()
}

pub(super) fn comma(input: ParseStream<'_>) -> bool {
    let found = input.peek(Token![,]);
    if found {
        skip(input);
    }
    found
}

pub(super) fn skip(input: ParseStream<'_>) {
    let _: syn::Result<TokenTree> = input.parse();
}
