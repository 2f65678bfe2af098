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

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::arguments::Plan;
use crate::bounds::{Bounds, Cancel, bounds};
use crate::classifier::{self, classifier};
use crate::future::{self, Kind, Shape};
use crate::item::{self, Function};
use crate::model::{BeforeRetry, Model};
use crate::settings::{Settings, settings};

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
    let typed = typed_branch(&item::without_impl(&function.output));
    let rules = classifier(function, model, root);
    let body = if plan.rename_self {
        renamed_self(body.clone(), plumbing)
    } else {
        body.clone()
    };
    let Plan { each, within, .. } = plan;
    // In the user's braces: rustc's "expected `Result`, found `()`" and "use of moved value" belong
    // on the body. In braces of its own: an item in it comes after no statement of ours.
    // An item before a body that is one expression: rustc finds the braces round it unnecessary.
    let lone = !has_semicolon(&body);
    let item = lone.then(|| quote_spanned!(plumbing=> const _: () = ();));
    let block = braced(quote!(#item #body), function.braces);
    let block = braced(
        quote_spanned!(plumbing=> #typed #within #block),
        function.braces,
    );
    let attempt = quote_spanned!(function.braces=> async #block);
    let cancel = Cancel::new(model, &private);
    let attempt = cancel.run(&quote_spanned!(plumbing=> #call.attempt(#attempt)));
    // In a block of its own: the rules, and what goes before a retry, see the caller's argument.
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
    let pause = cancel.pause(&wait, &call, &memory);
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

/// The site of the function, and the beginning of a call.
fn begin(function: &Function, model: &Model, root: &TokenStream, call: &Ident) -> TokenStream {
    let plumbing = Span::mixed_site();
    let Settings {
        constant,
        dynamic,
        policy,
        limited,
    } = settings(model, &function.signature.generics, root);
    let private = quote_spanned!(plumbing=> #root::__private);
    let label = match &model.name {
        Some(name) => name.to_token_stream(),
        None => {
            let function = format!("::{}", item::unraw(&function.signature.ident));
            quote_spanned!(plumbing=> ::core::concat!(::core::module_path!(), #function))
        }
    };
    let limited = match limited {
        Some(limited) => quote!(#limited),
        None => quote_spanned!(plumbing=> { __RETRY_POLICY.is_limited() }),
    };
    let idempotent = model
        .idempotent
        .as_ref()
        .filter(|idempotent| !idempotent.value)
        .map(|_| quote_spanned!(plumbing=> .not_idempotent()));
    let Bounds {
        items: bounds,
        noted,
        setters,
    } = bounds(model, root);
    let items = quote_spanned! {plumbing=>
        const __RETRY_POLICY: #root::Policy = #constant;
        #bounds
        static __RETRY_SITE: #private::Site<#limited> =
            #private::Site::new(#label, __RETRY_POLICY, #noted) #idempotent #setters;
    };
    let Some(dynamic) = dynamic else {
        return quote_spanned! {plumbing=>
            let mut #call = { #items #private::Call::begin(&__RETRY_SITE) };
        };
    };
    let settings = Ident::new("__retry_settings", plumbing);
    quote_spanned! {plumbing=>
        let #settings;
        let mut #call = {
            #items
            #settings = __RETRY_SITE.with_policy(|#policy| #dynamic);
            #private::Call::begin_with(&__RETRY_SITE, &#settings)
        };
    }
}

/// The place that keeps the last error. The choice by traits cannot see lifetimes, so an error that
/// may borrow, or that only the caller knows, is not offered to it.
fn memory_of(function: &Function, root: &TokenStream, call: &Ident) -> TokenStream {
    let plumbing = Span::mixed_site();
    let error = item::visible_error(&function.output);
    let tokens = error.unwrap_or(&function.output).to_token_stream();
    let unknown = |tokens: &TokenStream| {
        tokens.clone().into_iter().any(|token| match token {
            TokenTree::Ident(word) => {
                word == "impl" || function.is_type_parameter(&word) || item::looks_generic(&word)
            }
            _ => false,
        })
    };
    let forgets = match error {
        Some(_) => item::mentions_lifetime(&tokens) || unknown(&tokens),
        None => {
            head_mentions_lifetime(&tokens)
                || tokens
                    .clone()
                    .into_iter()
                    .any(|token| matches!(token, TokenTree::Ident(word) if word == "impl"))
        }
    };
    if forgets {
        return quote_spanned!(plumbing=> #root::__private::Forgets);
    }
    let output = item::without_impl(&function.output);
    quote_spanned! {plumbing=>
        #call.memory::<<#output as #root::__private::ResultLike>::Error>().choose()
    }
}

/// Whether an alias takes a lifetime itself, `Reply<'a, T>`; one within its arguments, as in
/// `io::Result<&str>`, is the value's.
fn head_mentions_lifetime(tokens: &TokenStream) -> bool {
    let mut depth = 0_i32;
    for token in tokens.clone() {
        if let TokenTree::Punct(punct) = token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                '\'' if depth == 1 => return true,
                _ => {}
            }
        }
    }
    false
}

/// A branch that is never taken and gives the block its type, so that the body's last expression is
/// coerced as it would be in the plain function.
fn typed_branch(output: &syn::Type) -> TokenStream {
    let plumbing = Span::mixed_site();
    let it = Ident::new("__retry_it", plumbing);
    quote_spanned! {plumbing=>
        if let ::core::option::Option::Some(#it) = ::core::option::Option::None::<#output> { return #it; }
    }
}

/// `self` as `__self`, except within items of their own. `hygiene` is where that name is bound.
fn renamed_self(body: TokenStream, hygiene: Span) -> TokenStream {
    let mut tokens = body.into_iter().peekable();
    let mut renamed = TokenStream::new();
    let mut in_item = false;
    while let Some(token) = tokens.next() {
        let token = match token {
            TokenTree::Ident(word) if word == "self" => {
                TokenTree::Ident(Ident::new("__self", hygiene.located_at(word.span())))
            }
            TokenTree::Ident(word) => {
                let names_next = matches!(tokens.peek(), Some(TokenTree::Ident(_)));
                in_item |= (word == "fn" || word == "impl" || word == "trait" || word == "mod")
                    && names_next;
                TokenTree::Ident(word)
            }
            TokenTree::Group(group) if in_item => {
                in_item = group.delimiter() != proc_macro2::Delimiter::Brace;
                TokenTree::Group(group)
            }
            TokenTree::Group(group) => {
                let mut inner =
                    Group::new(group.delimiter(), renamed_self(group.stream(), hygiene));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        };
        renamed.extend([token]);
    }
    renamed
}

fn has_semicolon(body: &TokenStream) -> bool {
    let mut tokens = body.clone().into_iter();
    tokens.any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'))
}

fn braced(tokens: TokenStream, span: Span) -> TokenStream {
    let mut group = Group::new(proc_macro2::Delimiter::Brace, tokens);
    group.set_span(span);
    TokenTree::Group(group).into()
}
