//! What stands before the loop: what is known of the function, and the beginning of a call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::bounds::setters;
use crate::item::{self, Function};
use crate::model::Model;
use crate::settings::Settings;

/// The site of the function, and the beginning of a call.
pub(super) fn begin(
    function: &Function,
    model: &Model,
    settings: Settings,
    root: &TokenStream,
    call: &Ident,
) -> TokenStream {
    let plumbing = Span::mixed_site();
    let Settings {
        constant,
        dynamic,
        policy,
        limited,
    } = settings;
    let private = quote_spanned!(plumbing=> #root::__private);
    let label = match &model.name {
        Some(name) => name.to_token_stream(),
        None => {
            let function = format!("::{}", item::unraw(&function.signature.ident));
            quote_spanned!(plumbing=> ::core::concat!(::core::module_path!(), #function))
        }
    };
    let limited = match limited {
        Some(limited) => quote!(#limited),
        None => quote_spanned!(plumbing=> { __RETRY_POLICY.is_limited() }),
    };
    let idempotent = model
        .idempotent
        .as_ref()
        .filter(|idempotent| !idempotent.value)
        .map(|_| quote_spanned!(plumbing=> .not_idempotent()));
    let listens = model
        .on_retry
        .as_ref()
        .map(|_| quote_spanned!(plumbing=> .with_listener()));
    let setters = setters(model, root);
    let items = quote_spanned! {plumbing=>
        const __RETRY_POLICY: #root::Policy = #constant;
        static __RETRY_SHARED: #private::Shared = #private::Shared::new();
        static __RETRY_SITE: #private::Site<#limited> =
            #private::Site::new(#label, __RETRY_POLICY, &__RETRY_SHARED) #idempotent #listens #setters;
    };
    let Some(dynamic) = dynamic else {
        return quote_spanned! {plumbing=>
            let mut #call = { #items #private::Call::begin(&__RETRY_SITE) };
        };
    };
    let settings = Ident::new("__retry_settings", plumbing);
    quote_spanned! {plumbing=>
        let #settings;
        let mut #call = {
            #items
            #settings = __RETRY_SITE.settings().of_call().with_policy(|#policy| #dynamic);
            #private::Call::begin_with(&__RETRY_SITE, &#settings)
        };
    }
}
