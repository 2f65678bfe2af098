//! Where rustc reports that the result of a function, or its error, is not what a retry needs.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;

use crate::item::{Function, visible_error};
use crate::tokens::located;

/// The type in the signature: that of the error, if it is written, or the whole. With one span for all uses, rustc
/// reports a mistake once.
#[derive(Clone, Copy)]
pub(super) struct Blame(Span);

impl Blame {
    pub(super) fn of(function: &Function) -> Self {
        let ty = visible_error(&function.output).unwrap_or(&function.output);
        Self(located(ty.span()))
    }

    /// A name of generated code.
    pub(super) fn name(self, text: &str) -> Ident {
        Ident::new(text, self.0)
    }

    /// Calls a method that makes, takes or reads the user's result, or a part of it.
    pub(super) fn call(self, method: &str, arguments: impl ToTokens) -> TokenStream {
        let method = self.name(method);
        quote_spanned!(self.0=> __call.#method(#arguments))
    }
}
