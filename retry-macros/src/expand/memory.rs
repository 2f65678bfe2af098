//! The place in which a call keeps its last error.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

use crate::item::{self, Function};
use crate::tokens;

/// The place that keeps the last error. The choice by traits cannot see lifetimes, so an error that
/// may borrow, or that only the caller knows, is not offered to it.
pub(super) fn memory_of(function: &Function, root: &TokenStream, call: &Ident) -> TokenStream {
    let plumbing = Span::mixed_site();
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
    let forgets = match error {
        Some(_) => item::mentions_lifetime(&tokens) || unknown(&tokens),
        None => {
            head_mentions_lifetime(&tokens)
                || tokens
                    .clone()
                    .into_iter()
                    .any(|token| matches!(token, TokenTree::Ident(word) if word == "impl"))
        }
    };
    if forgets {
        return quote_spanned!(plumbing=> #root::__private::Forgets);
    }
    // Beside an `impl Trait` nothing can be inferred, so the error is named.
    if let (Some(error), true) = (
        error,
        tokens::any_word(&function.output, |word| word == "impl"),
    ) {
        return quote_spanned!(plumbing=> #call.memory::<#error>().choose());
    }
    let output = item::without_impl(&function.output);
    quote_spanned! {plumbing=>
        #call.memory::<<#output as #root::__private::ResultLike>::Error>().choose()
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
