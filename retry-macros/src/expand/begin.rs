//! The code before the loop: the site of the function, and the beginning of a call.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use crate::item::Function;
use crate::model::{Model, Rules};
use crate::settings::SettingsCode;
use crate::tokens::{self, generated, is_among, located};

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
/// refer to `SHARED`. The site is then a `static`, and the label of a method lacks its type. So does the label of a
/// function whose signature and settings do not name `Self`: it may be outside of any `impl`.
///
/// ```text
/// Output: let site: &'static Site<true> = &const { Site::new(…).with_type(type_name::<Self>) };
/// ```
pub(super) fn begin(function: &Function, model: &Model, settings: SettingsCode) -> TokenStream {
    let SettingsCode {
        policy,
        limited,
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
            let kind = generated!(__retry::UnlimitedSite);
            (None, policy, Some(kind), quote!(false))
        }
        None => (
            Some(generated!(const __RETRY_POLICY: __retry::Policy = #policy;)),
            generated!(__RETRY_POLICY),
            None,
            generated!({ __RETRY_POLICY.is_limited() }),
        ),
    };
    let ty = generated!(__retry::Site<#limited>);
    let made = generated! {
        __retry::Site::new(#label, #policy, &__RETRY_SHARED) #setters
    };
    let seen = self_seen(function, model, &quote!(#borrowed #of_call));
    let (site, made) = if let Some(at) = seen {
        let site = Ident::new("__site", Span::mixed_site());
        let ty_of_self = Ident::new("Self", at);
        let made = generated! {
            let #site: &'static #ty =
                &const { #made.with_type(::core::any::type_name::<#ty_of_self>) };
        };
        (site, made)
    } else {
        let made = generated!(static __RETRY_SITE: #ty = #made;);
        (Ident::new("__RETRY_SITE", Span::mixed_site()), made)
    };
    let worked_out = (!of_call.is_empty()).then(|| {
        generated! {
            #borrowed
            let __settings = #site.settings().of_call() #of_call;
        }
    });
    let begun = match (kind, &worked_out) {
        // Not a method call, which a trait of the user for every type could take over.
        (Some(kind), None) => generated!(#kind::begin(&#site)),
        (Some(kind), Some(_)) => generated!(#kind::begin_with(&#site, &__settings)),
        // Only rustc can read the policy, so it chooses the kind of site.
        (None, None) => generated!(#site.begin()),
        (None, Some(_)) => generated!(#site.begin_with(&__settings)),
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
        static __RETRY_SHARED: __retry::Shared = __retry::Shared::new();
        #made
        #worked_out
        let mut __call = #begun;
    }
}

/// The span for the word `Self`, if the label gets the type around the function: the macro can see that there is one.
fn self_seen(function: &Function, model: &Model, settings: &TokenStream) -> Option<Span> {
    if !cfg!(constants_refer_to_statics) || model.name.is_some() {
        return None;
    }
    if function.names_self() {
        return Some(Span::mixed_site());
    }
    let written = rules_and_hooks(model);
    // This span puts rustc's "cannot find type `Self`" on the user's word.
    self_in(&quote!(#settings #written)).map(located)
}

/// The user's code that is not in the settings of a call.
fn rules_and_hooks(model: &Model) -> TokenStream {
    let Rules {
        unless,
        not_on,
        matches,
        on,
        when,
    } = &model.rules;
    let expressions = [
        unless,
        when,
        &model.retry_after,
        &model.when_ok,
        &model.until,
        &model.cancel,
        &model.on_retry,
        &model.on_end,
    ];
    let expressions = expressions.into_iter().flatten().map(|it| &it.value);
    let types = [on, not_on].into_iter().flatten().flat_map(|it| &it.value);
    let pattern = matches.as_ref().map(|it| &it.value);
    let before_retry = model.before_retry.as_ref().map(|it| &it.value);
    quote!(#(#expressions)* #(#types)* #pattern #before_retry)
}

/// Where the code of an attribute names the type around the function, as in `attempts = Self::N`. An item that is
/// written inside a setting may have a `Self` of its own, so no `Self` counts beside one.
fn self_in(code: &TokenStream) -> Option<Span> {
    if tokens::any_word(code, |word| {
        is_among(word, "enum impl macro_rules struct trait")
    }) {
        return None;
    }
    self_outside_of_macros(code.clone())
}

/// The first `Self` that is not in the argument of a macro, which may use the word as it likes.
fn self_outside_of_macros(code: TokenStream) -> Option<Span> {
    let mut after_bang = false;
    for token in code {
        match &token {
            TokenTree::Ident(word) if word == "Self" => return Some(word.span()),
            TokenTree::Group(group) if !after_bang => {
                if let Some(span) = self_outside_of_macros(group.stream()) {
                    return Some(span);
                }
            }
            _ => {}
        }
        after_bang = tokens::is_punct(Some(&token), "!");
    }
    None
}
