//! The rules of an attribute as a closure from an error to a ruling.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::item::{Function, visible_error};
use crate::model::{Model, Rules};

/// The closure that says of an error whether it is worth another attempt.
///
/// ```text
/// Input:   unless = U, not_on = "N", matches = "P", on = "A | B", when = W
/// Output:  |error: &_| {
///              use root::__private::{…};
///              if ask(error, U) { return Ruling::stop(said) }
///              if links.contains::<N>() { return Ruling::stop(said) }
///              if matches!(error, P) { return Ruling::retry(said) }
///              if let Some(said) = links.find::<A>(…).or_else(|| links.find::<B>(…)) && ask(error, W) {
///                  return Ruling::retry(said)
///              }
///              Ruling::stop(said)
///          }
/// ```
///
/// Without `on`, `matches` and `when` the last line is `Ruling::by(verdict_of(error))`: the error's
/// own verdict.
pub(crate) fn classifier(function: &Function, model: &Model, root: &TokenStream) -> TokenStream {
    let plumbing = Span::mixed_site();
    let private = quote_spanned!(plumbing=> #root::__private);
    let error = Ident::new("__retry_error", plumbing);
    let Rules { unless, not_on, matches, on, when } = &model.rules;
    let said = quote_spanned!(plumbing=> #private::Probe(#error).said());
    let links = Ident::new("__retry_links", plumbing);

    let bind_links = (on.is_some() || not_on.is_some()).then(|| {
        quote_spanned!(plumbing=> let #links = (&&&&#private::Probe(#error)).links();)
    });
    let unless = unless.as_ref().map(|unless| {
        let predicate = &unless.value;
        quote_spanned!(plumbing=> if #private::ask(#error, #predicate) { return #private::Ruling::stop(#said); })
    });
    let not_on = not_on.iter().flat_map(|types| &types.value).map(|ty| {
        let span = plumbing.located_at(ty.span());
        quote_spanned!(span=> if #links.contains::<#ty>() { return #private::Ruling::stop(#said); })
    });
    let matches = matches.as_ref().map(|matches| {
        let pattern = &matches.value;
        quote_spanned! {plumbing=>
            #[allow(unreachable_patterns)]
            if match #error { #pattern => true, _ => false } { return #private::Ruling::retry(#said); }
        }
    });
    let found = on.as_ref().map(|types| {
        let mut alternatives = types.value.iter().map(|ty| {
            let span = plumbing.located_at(ty.span());
            quote_spanned!(span=> #links.find::<#ty>(|#error| #said))
        });
        let first = alternatives.next();
        quote_spanned!(plumbing=> #first #(.or_else(|| #alternatives))*)
    });
    let asked = when.as_ref().map(|when| {
        let predicate = &when.value;
        quote_spanned!(plumbing=> #private::ask(#error, #predicate))
    });
    let said_found = Ident::new("__retry_said", plumbing);
    let decision = match (found, asked) {
        (Some(found), Some(asked)) => quote_spanned! {plumbing=>
            if let ::core::option::Option::Some(#said_found) = #found {
                if #asked { return #private::Ruling::retry(#said_found); }
            }
            #private::Ruling::stop(#said)
        },
        (Some(found), None) => quote_spanned! {plumbing=>
            match #found {
                ::core::option::Option::Some(#said_found) => #private::Ruling::retry(#said_found),
                ::core::option::Option::None => #private::Ruling::stop(#said),
            }
        },
        (None, Some(asked)) => quote_spanned! {plumbing=>
            if #asked { #private::Ruling::retry(#said) } else { #private::Ruling::stop(#said) }
        },
        (None, None) if matches.is_some() => quote_spanned!(plumbing=> #private::Ruling::stop(#said)),
        (None, None) => {
            // What rustc says of an error without a verdict belongs on the type that the user wrote.
            let blamed = visible_error(&function.output).unwrap_or(&function.output);
            let blame = blamed.to_token_stream().into_iter().next().map_or(plumbing, |token| token.span());
            let ask = quote_spanned!(plumbing.located_at(blame)=> #private::verdict_of(#error));
            quote_spanned!(plumbing=> #private::Ruling::by(#ask))
        }
    };
    let traits = quote! {};
    let idempotent = model.idempotent.as_ref().is_some_and(|idempotent| !idempotent.value);
    let ruling = quote_spanned! {plumbing=>
        |#error: &_| {
            #traits
            #[allow(unused_imports)]
            use #private::ProbeFallback as _;
            #bind_links
            #unless
            #(#not_on)*
            #matches
            #decision
        }
    };
    if idempotent { quote_spanned!(plumbing=> #private::only_refused(#ruling)) } else { ruling }
}
