//! The names in generated code.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

/// The names in generated code.
pub(super) struct Names {
    pub(super) call: Ident,
    pub(super) ended: Ident,
    pub(super) error: Ident,
    pub(super) at: Ident,
    pub(super) result: Ident,
    /// The span of the type in the signature. rustc reports there what the result, or its error, lacks.
    blamed: Span,
}

impl Names {
    pub(super) fn new(blamed: Span) -> Self {
        let name = |text| Ident::new(text, Span::mixed_site());
        Self {
            call: name("__call"),
            ended: Ident::new("__ended", Span::mixed_site().located_at(blamed)),
            error: name("__error"),
            at: name("__at"),
            result: name("__result"),
            blamed,
        }
    }

    /// Calls a method that makes, takes or reads the user's result, or a part of it. The whole call has the span
    /// `blamed`.
    pub(super) fn call(&self, method: &str, arguments: impl ToTokens) -> TokenStream {
        let at = Span::mixed_site().located_at(self.blamed);
        let (call, method) = (Ident::new("__call", at), Ident::new(method, at));
        quote_spanned!(at=> #call.#method(#arguments))
    }
}
