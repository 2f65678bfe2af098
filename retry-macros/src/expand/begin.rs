//! The code before the loop: the site of the function, and the beginning of a call.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use crate::item::Function;
use crate::model::Model;
use crate::settings::SettingsCode;
use crate::tokens::{self, generated, located};

/// The short name of the runtime, the site of the function, and the beginning of a call.
///
/// ```text
/// Output: use ::reattempt::__private as __retry;
///         static SHARED: __retry::SiteState = __retry::SiteState::NEW;
///         static SITE: __retry::Site<true> = __retry::Site(__retry::SiteSettings::new("…::f", POLICY, &SHARED));
///         let mut call = __retry::Site::begin(&SITE, &SITE);      // or SiteSettings::begin(&SITE, …), or SITE.begin(…)
/// ```
pub(super) fn begin(function: &Function, model: &Model, settings: SettingsCode) -> TokenStream {
    let SettingsCode {
        policy,
        limited,
        given,
        site: setters,
        borrowed,
        of_call,
    } = settings;
    let root = match &model.root {
        Some(path) => path.to_token_stream(),
        None => generated!(::reattempt),
    };
    let label = match &model.name {
        Some(name) => name.to_token_stream(),
        None => {
            let function = format!("::{}", tokens::unraw(&function.signature.ident));
            generated!(::core::concat!(::core::module_path!(), #function))
        }
    };
    let (named, policy, kind, limited) = match limited {
        Some(true) => (None, policy, Some(generated!(__retry::Site)), quote!(true)),
        Some(false) => {
            let kind = generated!(__retry::SiteSettings);
            (None, policy, Some(kind), quote!(false))
        }
        None if given.is_some() => (None, policy, None, quote!(true)),
        None => (
            Some(generated!(const __RETRY_POLICY: __retry::Policy = #policy;)),
            generated!(__RETRY_POLICY),
            None,
            generated!({ __RETRY_POLICY.is_limited() }),
        ),
    };
    let begins = match (&given, &kind) {
        (None, _) => generated!(__RETRY_SITE),
        (Some(_), None) => generated!(__begins),
        (Some(_), Some(_)) => quote!(_),
    };
    let worked_out = match given {
        Some((at, policy)) => {
            let change = generated!(|__settings| __settings #of_call);
            let given =
                quote_spanned!(at=> __retry::PolicyOf::given(&#policy, &__RETRY_SITE, #change));
            Some(generated!(#borrowed let (#begins, __settings) = #given;))
        }
        None if of_call.is_empty() => None,
        None => Some(generated! {
            #borrowed
            let __settings = __retry::SiteSettings::of_call(&__RETRY_SITE) #of_call;
        }),
    };
    let settings = match worked_out {
        None => generated!(__RETRY_SITE),
        Some(_) => generated!(__settings),
    };
    let begun = match kind {
        // Not a method call, which a trait of the user for every type could take over.
        Some(kind) => generated!(#kind::begin(&__RETRY_SITE, &#settings)),
        // Only rustc can read the policy, so it chooses the kind of site.
        None => generated!(#begins.begin(&#settings)),
    };
    let begun = match &model.on_end {
        None => begun,
        Some(on_end) => {
            // This span puts rustc's "type mismatch in closure arguments" on the hook.
            let at = located(on_end.span);
            let hook = &on_end.value;
            quote_spanned!(at=> __retry::OnEnd::new(#begun, #hook))
        }
    };
    generated! {
        use #root::__private as __retry;
        #named
        static __RETRY_SHARED: __retry::SiteState = __retry::SiteState::NEW;
        static __RETRY_SITE: __retry::Site<#limited> =
            __retry::Site(__retry::SiteSettings::new(#label, #policy, &__RETRY_SHARED) #setters);
        #worked_out
        let mut __call = #begun;
    }
}
