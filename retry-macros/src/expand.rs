//! Writes the code of a function from its model and its plan. It cannot fail.
//!
//! ```text
//! Input:   #[retry(attempts = 4, timeout = "1s", on = "io::Error")]
//!          async fn f(&self, a: A, b: B) -> io::Result<T> { BODY }        // hands `b` over
//!
//! Output:  async fn f(&self, mut a: A, b: B) -> io::Result<T> {
//!              use ::reattempt::__private as __retry;
//!              static SHARED: __retry::SiteState = __retry::SiteState::NEW;
//!              static SITE: __retry::Site<true> = __retry::Site(__retry::SiteSettings::new("…::f", POLICY, &SHARED));
//!              let mut call = __retry::Site::begin(&SITE);
//!              loop {
//!                  let ended = {
//!                      let b = __retry::Argument::new(&b).for_each_attempt();  // a clone, or `&b`
//!                      call.attempt(async {
//!                          if false {
//!                              let _ = &mut a;                              // captured uniquely
//!                              return __retry::typed::<io::Result<T>>();    // fixes the type
//!                          }
//!                          BODY
//!                      }).await
//!                  };
//!                  let at = match call.settle(ended, |error| Judgement {
//!                      ruling: RULING,
//!                      words: error.words(),
//!                      keeps: error.kept(),
//!                  }) {
//!                      Continue(at) => at,
//!                      Break(result) => return result,
//!                  };
//!                  at.await;
//!              }
//!          }
//! ```
//!
//! The body becomes an async block, so that `?` and `return` in it end an attempt, not the call. It is not a
//! `move` block, so that arguments that it only borrows stay for the next attempt. With `blocking`, the body
//! becomes a closure in the same way, and the loop awaits nothing: `call.attempt_blocking(|| { … BODY })`,
//! `call.wait_blocking(at)`.

mod begin;
mod body;
mod turns;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use self::body::{braced, renamed_self, typed_return};
use self::turns::call;
use crate::arguments::Plan;
use crate::future::{FutureKind, name_of_self};
use crate::item::{Bars, Function};
use crate::model::Model;
use crate::tokens::generated;

/// The function, retried.
pub(crate) fn expand(function: &Function, model: &Model, plan: &Plan) -> TokenStream {
    let Function {
        attributes,
        visibility,
        defaultness,
        signature,
        inner_attributes,
        ..
    } = function;
    let before = &plan.before;
    let call = |body: &TokenStream| {
        let call = call(function, model, plan, body);
        quote!(#before #call)
    };
    let code = match (&function.handmade, function.block()) {
        (None, _) => call(&function.body),
        (Some(_), Some(block)) => {
            let rebound = &block.rebindings;
            let code = call(&block.body);
            // `#[async_trait]` has renamed `self` in the body, but not in our attribute.
            let code = match rebound.iter().find_map(name_of_self) {
                Some(this) => renamed_self(code, this.span()),
                None => code,
            };
            let (statements, wrapper) = (&block.statements, &block.wrapper);
            let future = quote!(async move { #(#rebound)* #code });
            if wrapper.is_empty() {
                quote!(#statements #future)
            } else {
                quote!(#statements #wrapper(#future))
            }
        }
        (Some(handmade), None) => {
            let code = call(&whole(function));
            match handmade.kind {
                FutureKind::Boxed => quote!(::std::boxed::Box::pin(async move { #code })),
                FutureKind::Opaque => {
                    // Without the variable, clippy takes the function for an `async fn` that is written by hand.
                    generated!(let __future = async move { #code }; __future)
                }
            }
        }
    };
    let body = braced(quote!(#(#inner_attributes)* #code), function.braces);
    if let Some(Bars { capture, span }) = function.closure {
        let at = span.resolved_at(Span::mixed_site());
        return match model.blocking {
            None => quote_spanned!(at=> async #capture #body),
            Some(_) => quote_spanned!(at=> (#capture || #body)()),
        };
    }
    quote!(#(#attributes)* #visibility #defaultness #signature #body)
}

/// Turns a body that returns a future into a body that awaits it.
///
/// ```text
/// Input:   { if a { return Box::pin(f()); } g().boxed() }
/// Output:  let future = async { if false { return typed::<BoxFuture<T>>(); } … };
///          future.await.await
/// ```
fn whole(function: &Function) -> TokenStream {
    let body = &function.body;
    let typed = match &function.signature.output {
        syn::ReturnType::Type(_, ty) if !matches!(**ty, syn::Type::ImplTrait(_)) => {
            Some(typed_return(ty))
        }
        _ => None,
    };
    generated! {
        // The block yields a future on purpose.
        #[allow(clippy::async_yields_async)]
        let __future = async { if false { #typed } #body };
        __future.await.await
    }
}
