//! The code before the loop: the site of the function, and the beginning of a call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::item::{self, Function};
use crate::model::Model;
use crate::settings::SettingsCode;

/// The short name of the runtime, the site of the function, and the beginning of a call.
///
/// ```text
/// Output: use ::reattempt::__private as __retry;
///         static SHARED: __retry::Shared = __retry::Shared::new();
///         static SITE: __retry::Site<true> = __retry::Site::new("…::f", POLICY, &SHARED);
///         let mut call = __retry::Site::begin(&SITE);      // or UnlimitedSite::begin(&SITE), or SITE.begin()
/// ```
///
/// A `static` cannot name `Self`, so the site of a method is a constant. Before Rust 1.90 a constant cannot
/// refer to `SHARED`. The site is then a `static`, and the label of a method lacks its type.
///
/// ```text
/// Output: let site: &'static Site<true> = &const { Site::new(…).with_type(type_name::<Self>) };
/// ```
pub(super) fn begin(
    function: &Function,
    model: &Model,
    settings: SettingsCode,
    call: &Ident,
) -> TokenStream {
    let plumbing = Span::mixed_site();
    let SettingsCode {
        policy,
        limited,
        site: setters,
        borrowed,
        of_call,
    } = settings;
    let root = match &model.root {
        Some(path) => path.to_token_stream(),
        None => quote_spanned!(plumbing=> ::reattempt),
    };
    let label = match &model.name {
        Some(name) => name.to_token_stream(),
        None => {
            let function = format!("::{}", item::unraw(&function.signature.ident));
            quote_spanned!(plumbing=> ::core::concat!(::core::module_path!(), #function))
        }
    };
    // Not a method call, which a trait of the user for every type could take over.
    let begins = limited.map(|limited| {
        if limited {
            quote_spanned!(plumbing=> __retry::Site)
        } else {
            quote_spanned!(plumbing=> __retry::UnlimitedSite)
        }
    });
    let (named, policy, limited) = match limited {
        Some(limited) => (None, policy, quote!(#limited)),
        None => (
            Some(quote_spanned!(plumbing=> const __RETRY_POLICY: __retry::Policy = #policy;)),
            quote_spanned!(plumbing=> __RETRY_POLICY),
            quote_spanned!(plumbing=> { __RETRY_POLICY.is_limited() }),
        ),
    };
    let ty = quote_spanned!(plumbing=> __retry::Site<#limited>);
    let made = quote_spanned! {plumbing=>
        __retry::Site::new(#label, #policy, &__RETRY_SHARED) #setters
    };
    let of_type = cfg!(constants_refer_to_statics) && function.names_self();
    let (site, made) = if of_type && model.name.is_none() {
        let site = Ident::new("__site", plumbing);
        let made = quote_spanned! {plumbing=>
            let #site: &'static #ty = &const { #made.with_type(::core::any::type_name::<Self>) };
        };
        (site, made)
    } else {
        let made = quote_spanned!(plumbing=> static __RETRY_SITE: #ty = #made;);
        (Ident::new("__RETRY_SITE", plumbing), made)
    };
    let settings = Ident::new("__settings", plumbing);
    let worked_out = (!of_call.is_empty()).then(|| {
        quote_spanned! {plumbing=>
            #borrowed
            let #settings = #site.settings().of_call() #of_call;
        }
    });
    let begun = match (begins, &worked_out) {
        (Some(kind), None) => quote_spanned!(plumbing=> #kind::begin(&#site)),
        (Some(kind), Some(_)) => quote_spanned!(plumbing=> #kind::begin_with(&#site, &#settings)),
        // Only rustc can read the policy, so it chooses the kind of site.
        (None, None) => quote_spanned!(plumbing=> #site.begin()),
        (None, Some(_)) => quote_spanned!(plumbing=> #site.begin_with(&#settings)),
    };
    let begun = match &model.on_end {
        None => begun,
        Some(on_end) => {
            // This span puts rustc's "type mismatch in closure arguments" on the hook.
            let at = plumbing.located_at(on_end.span);
            let hook = &on_end.value;
            quote_spanned!(at=> __retry::OnEnd::new(#begun, #hook))
        }
    };
    quote_spanned! {plumbing=>
        use #root::__private as __retry;
        #named
        static __RETRY_SHARED: __retry::Shared = __retry::Shared::new();
        #made
        #worked_out
        let mut #call = #begun;
    }
}
