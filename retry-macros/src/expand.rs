//! Model and function to code. Cannot fail.
//!
//! ```text
//! Input:   #[retry(attempts = 4, timeout = "1s", on = "io::Error")]
//!          async fn f(&self, a: A, b: B) -> io::Result<T> { BODY }        // hands `b` over
//!
//! Output:  async fn f(&self, mut a: A, b: B) -> io::Result<T> {
//!              let mut call = {
//!                  const POLICY: Policy = Policy::new().with_attempts(4).with_timeout(…);
//!                  static BUDGET: Budget = Budget::new();
//!                  static SITE: Site<{ POLICY.is_limited() }> =
//!                      Site::new("…::f", POLICY, …).with_budget(&BUDGET);
//!                  Call::begin(&SITE)
//!              };
//!              let mut memory = call.memory::<io::Error>().choose();
//!              loop {
//!                  let b = Argument::new(&b).for_each_attempt();      // a clone, or `&b`
//!                  let ended = call.attempt(async {
//!                      if let Some(it) = None::<io::Result<T>> { return it; }   // fixes the type
//!                      if false { let _ = &mut a; }                       // captured uniquely
//!                      BODY
//!                  }).await;
//!                  let wait = match call.settle(ended, &mut memory, …, |error| RULES, …) {
//!                      Next::Return(result) => return result,
//!                      Next::Retry(wait) => wait,
//!                  };
//!                  let waited = wait.pause().await;
//!                  call.proceed(waited);
//!              }
//!          }
//! ```
//!
//! The body is an async block of its own, so that `?` and `return` in it end an attempt, not the
//! call. It is not a `move` block: what it only borrows stays for the next attempt.

mod begin;
mod body;
mod memory;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use self::begin::begin;
use self::body::{braced, renamed_self, typed_branch};
use self::memory::memory_of;
use crate::arguments::Plan;
use crate::bounds::Cancel;
use crate::classifier::{self, classifier};
use crate::future::{self, Kind, Shape};
use crate::item::{self, Function};
use crate::model::{BeforeRetry, Model};

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

/// The loop, and what stands before it.
fn call(
    function: &Function,
    model: &Model,
    plan: &Plan,
    root: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let plumbing = Span::mixed_site();
    // Where rustc finds that the result, or its error, is not what a retry needs, the blame is on the
    // type that the user wrote.
    let blamed = item::visible_error(&function.output).unwrap_or(&function.output);
    let name = |text| Ident::new(text, plumbing);
    let (call, memory) = (name("__retry_call"), name("__retry_memory"));
    let (result, wait) = (name("__retry_result"), name("__retry_wait"));
    let ended = Ident::new("__retry_ended", blamed.span());
    let private = quote_spanned!(plumbing=> #root::__private);

    let begin = begin(function, model, root, &call);
    let choose = memory_of(function, root, &call);
    let rules = classifier(function, model, root);
    let attempt = body::attempt(function, plan, body, plumbing);
    let cancel = Cancel::new(model, &private);
    let attempt = cancel.run(&quote_spanned!(plumbing=> #call.attempt(#attempt)));
    // In a block of its own: the rules, and what goes before a retry, see the caller's argument.
    let each = &plan.each;
    let attempt = if each.is_empty() {
        attempt
    } else {
        quote_spanned!(plumbing=> { #each let #ended = #attempt; #ended })
    };
    let error = name("__retry_error");
    let failed = match &model.when_ok {
        Some(when_ok) => {
            let value = name("__retry_value");
            let asked = classifier::ask(&private, &value, when_ok);
            quote_spanned!(plumbing=> |#value| #asked)
        }
        None => quote_spanned!(plumbing=> |_| false),
    };
    let on_retry = match &model.on_retry {
        Some(on_retry) => on_retry.value.to_token_stream(),
        None => quote_spanned!(plumbing=> |_| ()),
    };
    let explain = quote_spanned!(plumbing=> |#error| #private::Explain::new(#error).text());
    // The very span of the type: rustc then tells a mistake in it once.
    let settle = Ident::new("settle", blamed.span());
    let waited = name("__retry_waited");
    let pause = cancel.pause(&wait, &call, &memory, blamed.span());
    let before_retry = before_retry(model, &cancel, &call, &memory);
    let turns = quote_spanned! {plumbing=>
        loop {
            let #ended = #attempt;
            let #wait = match #call.#settle(
                #ended, &mut #memory, #failed, #rules, #explain, #on_retry,
            ) {
                #private::Next::Return(#result) => return #result,
                #private::Next::Retry(#wait) => #wait,
            };
            let #waited = #pause;
            #before_retry
            #call.proceed(#waited);
        }
    };
    let turns = cancel.around(turns);
    quote_spanned! {plumbing=>
        #begin
        let mut #memory = #choose;
        #turns
    }
}

/// What goes before a retry, after the wait.
///
/// ```text
/// Output: let prepared = call.prepare(async { (CLOSURE)().await }).await;
///         if let Some(result) = call.settle_prepared(prepared, &mut memory) { return result; }
/// ```
fn before_retry(
    model: &Model,
    cancel: &Cancel,
    call: &Ident,
    memory: &Ident,
) -> Option<TokenStream> {
    let plumbing = Span::mixed_site();
    let before_retry = model.before_retry.as_ref()?;
    let blame = plumbing.located_at(before_retry.span);
    let future = match &before_retry.value {
        BeforeRetry::Closure(closure) => quote_spanned!(plumbing=> (#closure)()),
        BeforeRetry::Expr(expr) => quote_spanned!(plumbing=> #expr),
    };
    let prepared = Ident::new("__retry_prepared", blame);
    let result = Ident::new("__retry_result", plumbing);
    let preparation =
        cancel.run(&quote_spanned!(plumbing=> #call.prepare(async { #future.await })));
    // rustc's "gives …, expected `()` or `Result<(), _>`" belongs on the value.
    let settled = quote_spanned!(blame=> #call.settle_prepared(#prepared, &mut #memory));
    Some(quote_spanned! {plumbing=>
        let #prepared = #preparation;
        if let ::core::option::Option::Some(#result) = #settled {
            return #result;
        }
    })
}
