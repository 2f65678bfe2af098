//! The names in generated code, and what is made of them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

/// The names in generated code.
pub(super) struct Names {
    pub(super) call: Ident,
    pub(super) kept: Ident,
    pub(super) ended: Ident,
    pub(super) value: Ident,
    pub(super) failed: Ident,
    pub(super) cut: Ident,
    pub(super) veto: Ident,
    pub(super) at: Ident,
    blamed: Span,
}

impl Names {
    /// What has the user's result, or a part of it, is `blamed` for what that cannot do: on the type.
    pub(super) fn new(blamed: Span) -> Self {
        let name = |text| Ident::new(text, Span::mixed_site());
        let typed = |text| Ident::new(text, blamed);
        Self {
            call: name("__retry_call"),
            kept: name("__retry_kept"),
            ended: typed("__retry_ended"),
            value: typed("__retry_value"),
            failed: typed("__retry_failed"),
            cut: name("__retry_cut"),
            veto: name("__retry_veto"),
            at: name("__retry_at"),
            blamed,
        }
    }

    /// A call of a method that makes, takes or asks the user's result, or a part of it.
    pub(super) fn call(&self, method: &str, arguments: impl ToTokens) -> TokenStream {
        let call = &self.call;
        let method = Ident::new(method, self.blamed);
        quote_spanned!(Span::mixed_site()=> #call.#method(#arguments))
    }

    /// The user's result for a call that was stopped.
    pub(super) fn stopped(&self, ending: &TokenStream) -> TokenStream {
        let kept = &self.kept;
        self.call(
            "stopped",
            quote_spanned!(Span::mixed_site()=> &mut #kept, #ending),
        )
    }
}
