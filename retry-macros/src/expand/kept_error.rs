//! Whether a call may keep its last error.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

use crate::item::{self, Function};
use crate::tokens::{self, is_punct, is_word};

/// Whether the code lets rustc choose, by traits, to keep the last error. Traits do not show lifetimes. So it
/// does not keep an error that may borrow, or whose type only the caller knows.
pub(super) fn may_be_kept(function: &Function) -> bool {
    match item::visible_error(&function.output) {
        Some(error) => {
            let unknown = |word: &Ident| word == "impl" || function.is_generic(word);
            !item::mentions_lifetime(error)
                && !tokens::any_word(error, &unknown)
                && !has_associated_type(error)
        }
        None => {
            let output = function.output.to_token_stream();
            !head_mentions_lifetime(output) && !tokens::has_word(&function.output, "impl")
        }
    }
}

/// Whether there is a type such as `Store::Error` or `<Store as Backend>::Error`: `Store` is a type parameter. The types of `Self`
/// are those of the `impl` around.
fn has_associated_type(error: &Type) -> bool {
    let tokens: Vec<_> = tokens::deep(error).collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) if word != "Self" => {
            let next = tokens.get(at + 1);
            let is_path =
                is_punct(next, ":") && matches!(tokens.get(at + 3), Some(TokenTree::Ident(_)));
            let is_type = word.to_string().starts_with(char::is_uppercase);
            is_type && (is_path || is_word(next, "as"))
        }
        _ => false,
    })
}

/// Whether an alias itself takes a lifetime, as in `Reply<'a, T>`. A lifetime within its arguments, as in
/// `io::Result<&str>`, is a lifetime of the value.
fn head_mentions_lifetime(tokens: TokenStream) -> bool {
    let mut depth = 0_i32;
    for token in tokens {
        if let TokenTree::Punct(punct) = token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                '\'' if depth == 1 => return true,
                _ => {}
            }
        }
    }
    false
}
