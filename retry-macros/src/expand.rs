//! Model and function to code. Cannot fail.
//!
//! ```text
//! Input:   #[retry(attempts = 4, timeout = "1s", on = "io::Error")]
//!          async fn f(&self, a: A, b: B) -> io::Result<T> { BODY }        // hands `b` over
//!
//! Output:  async fn f(&self, mut a: A, b: B) -> io::Result<T> {
//!              let mut call = {
//!                  const POLICY: Policy = Policy::new().with_attempts(4).with_timeout(…);
//!                  static SHARED: Shared = Shared::new();
//!                  static SITE: Site<true> = Site::new("…::f", POLICY, &SHARED);
//!                  Call::begin(&SITE)
//!              };
//!              let mut kept = call.kept_error::<…>().choose();
//!              let stopped = loop {
//!                  match {
//!                      let b = Argument::new(&b).for_each_attempt();  // a clone, or `&b`
//!                      let ended = call.attempt(async {
//!                          if let Some(it) = None::<io::Result<T>> { return it; }  // fixes the type
//!                          if false { let _ = &mut a; }               // captured uniquely
//!                          BODY
//!                      }).await;
//!                      ended
//!                  } {
//!                      Ok(value) => { call.succeeded(); return Ok(value); }
//!                      Err(Failed::Error(failed)) => {
//!                          if call.failed({ let error = &failed; RULING }, …).is_none() {
//!                              return Err(failed);
//!                          }
//!                          kept.keep(failed);
//!                      }
//!                      Err(Failed::Cut(cut)) => if let Err(stopped) = call.cut(cut, false) { break stopped; }
//!                  }
//!                  call.wait().await;
//!              };
//!              Err(kept.stopped(stopped))
//!          }
//! ```
//!
//! The body is an async block of its own, so that `?` and `return` in it end an attempt, not the
//! call. It is not a `move` block: what it only borrows stays for the next attempt.

mod before_retry;
mod begin;
mod body;
mod kept_error;
mod names;
mod turns;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use self::body::{braced, renamed_self, typed_branch};
use self::turns::call;
use crate::arguments::Plan;
use crate::future::{self, Kind, Shape};
use crate::item::Function;
use crate::model::Model;

/// The function, retried.
pub(crate) fn expand(
    function: &Function,
    model: &Model,
    plan: &Plan,
    root: &TokenStream,
) -> TokenStream {
    let Function {
        attributes,
        visibility,
        defaultness,
        inner_attributes,
        ..
    } = function;
    let signature = plan.apply(function);
    let code = match function
        .handmade
        .as_ref()
        .map(|handmade| (handmade.kind, &handmade.shape))
    {
        None => call(function, model, plan, root, &function.body),
        Some((
            _,
            Shape::Block {
                statements,
                wrapper,
                rebindings,
                body,
                ..
            },
        )) => {
            let rebound =
                rebindings
                    .iter()
                    .zip(plan.rebound(function))
                    .map(|(rebinding, pattern)| {
                        let (attributes, value) = (&rebinding.attributes, &rebinding.value);
                        quote!(#(#attributes)* let #pattern = #value;)
                    });
            let code = call(function, model, plan, root, body);
            // `#[async_trait]` has renamed it in the body, and not in our attribute.
            let code = match rebindings.iter().find_map(future::Rebinding::of_self) {
                Some(this) => renamed_self(code, this.span()),
                None => code,
            };
            let future = quote!(async move { #(#rebound)* #code });
            if wrapper.is_empty() {
                quote!(#statements #future)
            } else {
                quote!(#statements #wrapper(#future))
            }
        }
        Some((kind, Shape::Whole)) => {
            let code = call(function, model, plan, root, &whole(function));
            match kind {
                Kind::Boxed => quote!(::std::boxed::Box::pin(async move { #code })),
                Kind::Opaque => {
                    // By name: a block alone looks to clippy like an `async fn` written out.
                    let future = Ident::new("__retry_future", Span::mixed_site());
                    quote!(let #future = async move { #code }; #future)
                }
            }
        }
    };
    let body = braced(quote!(#(#inner_attributes)* #code), function.braces);
    quote!(#(#attributes)* #visibility #defaultness #signature #body)
}

/// A body that makes a future by hand, as a body that awaits it.
///
/// ```text
/// Input:   { if a { return Box::pin(f()); } g().boxed() }
/// Output:  let future = async { if let Some(it) = None::<BoxFuture<T>> { return it; } … };
///          future.await.await
/// ```
fn whole(function: &Function) -> TokenStream {
    let plumbing = Span::mixed_site();
    let body = &function.body;
    let typed = match &function.signature.output {
        syn::ReturnType::Type(_, ty) if !matches!(**ty, syn::Type::ImplTrait(_)) => {
            Some(typed_branch(ty))
        }
        _ => None,
    };
    let future = Ident::new("__retry_future", plumbing);
    quote_spanned! {plumbing=>
        // That the block gives a future is its purpose.
        #[allow(clippy::async_yields_async)]
        let #future = async { #typed #body };
        #future.await.await
    }
}
