//! The attribute of the `reattempt` crate; its documentation stands on the facade's re-export.

mod derive;
mod errors;

use proc_macro::TokenStream;

#[expect(
    missing_docs,
    reason = "they stand on the facade's re-export, where their examples run"
)]
#[proc_macro_derive(Retryable, attributes(retryable))]
pub fn retryable(input: TokenStream) -> TokenStream {
    derive::derive(input.into()).into()
}
