//! Whether a call may keep its last error.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use crate::item::{self, Function};

/// Whether the compiler may choose to keep the last error. The choice by traits cannot see lifetimes, so an
/// error that may borrow, or that only the caller knows, is not offered to it.
pub(super) fn may_be_kept(function: &Function) -> bool {
    let error = item::visible_error(&function.output);
    let tokens = error.unwrap_or(&function.output).to_token_stream();
    let unknown = |tokens: &TokenStream| {
        tokens.clone().into_iter().any(|token| match token {
            TokenTree::Ident(word) => {
                word == "impl" || function.is_type_parameter(&word) || item::looks_generic(&word)
            }
            _ => false,
        })
    };
    match error {
        Some(_) => !item::mentions_lifetime(&tokens) && !unknown(&tokens),
        None => {
            !head_mentions_lifetime(&tokens)
                && !tokens
                    .clone()
                    .into_iter()
                    .any(|token| matches!(token, TokenTree::Ident(word) if word == "impl"))
        }
    }
}

/// Whether an alias takes a lifetime itself, `Reply<'a, T>`; one within its arguments, as in
/// `io::Result<&str>`, is the value's.
fn head_mentions_lifetime(tokens: &TokenStream) -> bool {
    let mut depth = 0_i32;
    for token in tokens.clone() {
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
