//! The code of `before_retry`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Expr;

use super::blame::Blame;
use super::cancel::Cancel;
use crate::model::Model;
use crate::operand::operand;
use crate::tokens::{generated, located};

/// Runs `before_retry`, after the wait and before the attempt.
///
/// ```text
/// Output: match call.prepare(async { (CLOSURE)().await }).await {   // or call.prepare_blocking(|| { (CLOSURE)() })
///             Ok(prepared) => {
///                 if let Some(error) = call.end_preparation(prepared) { return call.err(error); }
///                 if let Some(error) = call.late() { return call.err(error); }    // without limits
///             }
///             Err(cut) => return call.cut_between(cut),
///         }
/// ```
pub(super) fn before_retry(
    model: &Model,
    cancel: &Cancel<'_>,
    blame: Blame,
    cut: Option<&TokenStream>,
) -> Option<TokenStream> {
    let before_retry = model.before_retry.as_ref()?;
    let at = located(before_retry.span);
    let work = match &before_retry.value {
        closure @ Expr::Closure(_) => generated!((#closure)()),
        future => operand(future),
    };
    let block = if model.blocking.is_some() {
        generated!({ #work })
    } else {
        generated!({ #work.await })
    };
    let prepared = Ident::new("__prepared", at);
    let preparation = cancel.run("prepare", cancel.later(&block, Span::mixed_site()), blame);
    let err = blame.call("err", generated!(__error));
    // Without limits, the deadline around cuts nothing. The last error is there to return.
    let late = cut.is_none().then(|| {
        generated! {
            if let __retry::Some(__error) = __call.late() {
                return #err;
            }
        }
    });
    // This span puts rustc's "gives …, expected `()` or `Result<(), _>`" on the value.
    let method = quote_spanned!(at=> .end_preparation(#prepared));
    Some(generated! {
        match #preparation {
            __retry::Ok(#prepared) => {
                if let __retry::Some(__error) = __call #method {
                    return #err;
                }
                #late
            }
            #cut
        }
    })
}
