//! The code before the loop: the site of the function, and the beginning of a call.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use crate::item::Function;
use crate::model::Model;
use crate::site::SiteCode;
use crate::tokens::{self, generated, located};

/// The short name of the runtime, the site of the function, and the beginning of a call.
///
/// ```text
/// Output: use ::reattempt::__private as __retry;
///         static SHARED: __retry::SiteState = __retry::SiteState::NEW;
///         static SITE: __retry::Site<true> = __retry::Site(__retry::SiteSettings::new("…::f", POLICY, &SHARED));
///         let mut call = __retry::Site::begin(&SITE, &SITE);      // or SiteSettings::begin(&SITE, …), or SITE.begin(…)
/// ```
pub(super) fn begin(function: &Function, model: &Model, site: SiteCode) -> TokenStream {
    let SiteCode {
        name,
        policy,
        given,
        change,
        limited,
        setters,
        borrowed,
        evaluates,
        of_call,
    } = site;
    let root = match &model.root {
        Some(path) => path.to_token_stream(),
        None => generated!(::reattempt),
    };
    let label = name.unwrap_or_else(|| {
        if function.closure.is_some() {
            generated!(::core::concat!(
                ::core::file!(),
                ":",
                ::core::line!(),
                ":",
                ::core::column!()
            ))
        } else {
            let function = format!("::{}", tokens::unraw(&function.signature.ident));
            generated!(::core::concat!(::core::module_path!(), #function))
        }
    });
    let (kind, limited) = match (limited, &given) {
        (Some(true), _) => (Some(generated!(__retry::Site)), quote!(true)),
        (Some(false), _) => (Some(generated!(__retry::SiteSettings)), quote!(false)),
        (None, Some(given)) if change.is_some() => {
            (None, generated!({ #given.of_site().is_limited() }))
        }
        (None, _) => (None, quote!(true)),
    };
    let (site, own) = (generated!(__RETRY_SITE), generated!(__settings));
    let changed = generated!(|__settings| __settings #of_call);
    let (bound, begins, settings) = match given {
        None if !evaluates => (None, site.clone(), site),
        None => {
            let settings = generated!(__retry::SiteSettings::of_call(&__RETRY_SITE) #of_call);
            (Some(generated!(let __settings = #settings;)), site, own)
        }
        Some(given) if change.is_some() && !evaluates => {
            let lent = generated!(#given.lent(&__RETRY_SITE, __retry_change));
            // A reference to what is lent, and not to the local variable, which the future would keep.
            (
                Some(generated!(let __settings = #lent;)),
                site,
                generated!(*__settings),
            )
        }
        Some(given) if change.is_some() || kind.is_some() => {
            let settings = generated!(__retry::PolicyOf::settings(#given, &__RETRY_SITE, #changed));
            (Some(generated!(let __settings = #settings;)), site, own)
        }
        Some(given) => {
            let both = generated!(__retry::PolicyOf::given(#given, &__RETRY_SITE, #changed));
            (
                Some(generated!(let (__begins, __settings) = #both;)),
                generated!(__begins),
                own,
            )
        }
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
        #change
        static __RETRY_SHARED: __retry::SiteState = __retry::SiteState::NEW;
        static __RETRY_SITE: __retry::Site<#limited> =
            __retry::Site(__retry::SiteSettings::new(#label, #policy, &__RETRY_SHARED) #setters);
        #borrowed
        #bound
        let mut __call = #begun;
    }
}
