//! What goes before a retry.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::names::Names;
use crate::bounds::Cancel;
use crate::model::{BeforeRetry, Model};

/// What goes before a retry, after the wait.
///
/// ```text
/// Output: match call.prepare(async { (CLOSURE)().await }).await {
///             Ok(prepared) => if let Some(error) = call.prepared(prepared) { return Err(error); }
///             Err(cut) => break call.cut_between(cut),
///         }
/// ```
pub(super) fn before_retry(
    model: &Model,
    cancel: &Cancel,
    names: &Names,
    limited: bool,
) -> Option<TokenStream> {
    let Names {
        call, failed, cut, ..
    } = names;
    let plumbing = Span::mixed_site();
    let before_retry = model.before_retry.as_ref()?;
    let blame = plumbing.located_at(before_retry.span);
    let future = match &before_retry.value {
        BeforeRetry::Closure(closure) => quote_spanned!(plumbing=> (#closure)()),
        BeforeRetry::Expr(expr) => quote_spanned!(plumbing=> #expr),
    };
    let prepared = Ident::new("__retry_prepared", blame);
    let preparation = cancel.run(
        &quote_spanned!(plumbing=> #call.prepare(async { #future.await })),
        call,
    );
    let err = names.result("err", failed);
    // rustc's "gives …, expected `()` or `Result<(), _>`" belongs on the value.
    let settled = quote_spanned!(blame=> #call.prepared(#prepared));
    let cut = limited.then(|| {
        quote_spanned! {plumbing=>
            ::core::result::Result::Err(#cut) => break #call.cut_between(#cut),
        }
    });
    Some(quote_spanned! {plumbing=>
        match #preparation {
            ::core::result::Result::Ok(#prepared) => {
                if let ::core::option::Option::Some(#failed) = #settled {
                    return #err;
                }
            }
            #cut
        }
    })
}
