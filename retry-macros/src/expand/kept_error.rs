//! Whether a call may keep its last error.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

use crate::item::{self, Function};

/// Whether the code lets rustc choose, by traits, to keep the last error. Traits do not show lifetimes. So it
/// does not keep an error that may borrow, or whose type only the caller knows.
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

/// Whether an alias itself takes a lifetime, as in `Reply<'a, T>`. A lifetime within its arguments, as in
/// `io::Result<&str>`, is a lifetime of the value.
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
