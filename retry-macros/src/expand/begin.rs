//! What stands before the loop: what is known of the function, and the beginning of a call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::item::{self, Function};
use crate::model::{Budget, Model, Word};
use crate::settings::Settings;

/// The short name of the runtime, the site of the function, and the beginning of a call.
///
/// ```text
/// Output: use ::reattempt::__private as __retry;
///         static __RETRY_SHARED: __retry::Shared = __retry::Shared::new();
///         static __RETRY_SITE: __retry::Site<true> = __retry::Site::new("…::f", POLICY, &__RETRY_SHARED);
///         let mut call = __retry::Call::begin(&__RETRY_SITE);
/// ```
pub(super) fn begin(
    function: &Function,
    model: &Model,
    settings: Settings,
    call: &Ident,
) -> TokenStream {
    let plumbing = Span::mixed_site();
    let Settings {
        constant,
        dynamic,
        policy,
        limited,
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
    let (named, constant, limited) = match limited {
        Some(limited) => (None, constant, quote!(#limited)),
        None => (
            Some(quote_spanned!(plumbing=> const __RETRY_POLICY: __retry::Policy = #constant;)),
            quote_spanned!(plumbing=> __RETRY_POLICY),
            quote_spanned!(plumbing=> { __RETRY_POLICY.is_limited() }),
        ),
    };
    let setters = setters(model);
    let begin = match dynamic {
        None => quote_spanned!(plumbing=> let mut #call = __retry::Call::begin(&__RETRY_SITE);),
        Some(dynamic) => {
            let settings = Ident::new("__retry_settings", plumbing);
            quote_spanned! {plumbing=>
                let #settings = __RETRY_SITE.settings().of_call().with_policy(|#policy| #dynamic);
                let mut #call = __retry::Call::begin_with(&__RETRY_SITE, &#settings);
            }
        }
    };
    quote_spanned! {plumbing=>
        use #root::__private as __retry;
        #named
        static __RETRY_SHARED: __retry::Shared = __retry::Shared::new();
        static __RETRY_SITE: __retry::Site<#limited> =
            __retry::Site::new(#label, #constant, &__RETRY_SHARED) #setters;
        #begin
    }
}

/// What comes after `Site::new(…)`.
///
/// ```text
/// Output: .not_idempotent().with_listener().with_budget(&PAYMENTS).with_nested(Nested::Outermost)
/// ```
fn setters(model: &Model) -> TokenStream {
    let plumbing = Span::mixed_site();
    let mut setters = TokenStream::new();
    if matches!(&model.idempotent, Some(idempotent) if !idempotent.value) {
        setters.extend(quote_spanned!(plumbing=> .not_idempotent()));
    }
    if model.on_retry.is_some() {
        setters.extend(quote_spanned!(plumbing=> .with_listener()));
    }
    setters.extend(match model.budget.as_ref().map(|budget| &budget.value) {
        None => TokenStream::new(),
        Some(Budget::None) => quote_spanned!(plumbing=> .without_budget()),
        Some(Budget::Path(path)) => quote_spanned!(plumbing=> .with_budget(&#path)),
    });
    if let Some(nested) = &model.nested {
        let value = match &nested.value {
            Word::Variant(variant) => quote_spanned!(plumbing=> __retry::Nested::#variant),
            Word::Expr(expr) => expr.to_token_stream(),
        };
        setters.extend(quote_spanned!(plumbing=> .with_nested(#value)));
    }
    setters
}
