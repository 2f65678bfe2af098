//! The rules of an attribute as a closure from an error to a ruling.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Expr;
use syn::spanned::Spanned as _;

use crate::item::{Function, visible_error};
use crate::model::{Attempts, Model, Rules, Spanned};

/// The closure that says of an error whether it is worth another attempt.
///
/// ```text
/// Input:   unless = U, not_on = "N", matches = "P", on = "A | B", when = W
/// Output:  |error: &_| {
///              if ask(error, U) { return Ruling::stop(said) }
///              if Find::<_, N>::new(error).contains() { return Ruling::stop(said) }
///              if match error { P => true, _ => false } { return Ruling::retry(said) }
///              if let Some(said) = Find::<_, A>::new(error).find(…).or_else(|| … B …) {
///                  if ask(error, W) { return Ruling::retry(said) }
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
    let Rules {
        unless,
        not_on,
        matches,
        on,
        when,
    } = &model.rules;
    let said = quote_spanned!(plumbing=> #private::Probe::new(#error).said());
    let stop = quote_spanned!(plumbing=> #private::Ruling::stop(#said));
    let asked = |predicate: &Spanned<Expr>| ask(&private, &error, predicate);

    let unless = unless.as_ref().map(|unless| {
        let asked = asked(unless);
        quote_spanned!(plumbing=> if #asked { return #stop; })
    });
    let not_on = not_on.iter().flat_map(|types| &types.value).map(|ty| {
        // rustc's "can never be found inside" belongs on the type.
        let contains = Ident::new("contains", plumbing.located_at(ty.span()));
        quote_spanned!(plumbing=> if #private::Find::<_, #ty>::new(#error).#contains() { return #stop; })
    });
    let matched = matches.as_ref().map(|matches| {
        let pattern = &matches.value;
        quote_spanned! {plumbing=>
            // The user's pattern may match every error, so that nothing is left for ours.
            #[allow(unreachable_patterns)]
            if match #error { #pattern => true, _ => false } { return #private::Ruling::retry(#said); }
        }
    });
    let found = on.as_ref().map(|types| {
        let mut alternatives = types.value.iter().map(|ty| {
            let find = Ident::new("find", plumbing.located_at(ty.span()));
            quote_spanned! {plumbing=>
                #private::Find::<_, #ty>::new(#error).#find(|#error| #said)
            }
        });
        let first = alternatives.next();
        quote_spanned!(plumbing=> #first #(.or_else(|| #alternatives))*)
    });
    let when = when.as_ref().map(asked);
    let found_said = Ident::new("__retry_said", plumbing);
    let decision = match (found, when) {
        (Some(found), when) => {
            let retry = quote_spanned!(plumbing=> return #private::Ruling::retry(#found_said););
            let retry = match when {
                Some(when) => quote_spanned!(plumbing=> if #when { #retry }),
                None => retry,
            };
            quote_spanned! {plumbing=>
                if let ::core::option::Option::Some(#found_said) = #found { #retry }
                #stop
            }
        }
        (None, Some(when)) => quote_spanned! {plumbing=>
            if #when { return #private::Ruling::retry(#said); }
            #stop
        },
        (None, None) if matches.is_some() || never_retries(model) => stop.clone(),
        (None, None) => {
            // rustc's "does not say which of its errors are worth another attempt" belongs on the
            // error's type in the signature.
            let blamed = visible_error(&function.output).unwrap_or(&function.output);
            let at = plumbing.located_at(blamed.span());
            // A path that the user gave keeps its place: rustc tells a mistake in it once.
            let private_at = match &model.root {
                Some(_) => private.clone(),
                None => located(&private, at),
            };
            let error = Ident::new("__retry_error", at);
            let verdict = quote_spanned!(at=> #private_at::verdict_of(#error));
            quote_spanned!(plumbing=> #private::Ruling::by(#verdict))
        }
    };
    let rules = quote_spanned!(plumbing=> #unless #(#not_on)* #matched #decision);
    quote_spanned!(plumbing=> |#error| { #rules })
}

/// Whether there is but one attempt, so that nothing is asked of the error's type.
fn never_retries(model: &Model) -> bool {
    matches!(
        model.attempts.as_ref().map(|attempts| &attempts.value),
        Some(Attempts::Count(1))
    )
}

/// A question of the user's, asked about `subject`.
pub(crate) fn ask(
    private: &TokenStream,
    subject: &Ident,
    predicate: &Spanned<Expr>,
) -> TokenStream {
    // rustc's "type mismatch in closure arguments" belongs on the predicate, and it blames the whole
    // call.
    let at = Span::mixed_site().located_at(predicate.span);
    let private = located(private, at);
    let value = &predicate.value;
    quote_spanned!(at=> #private::ask(#subject, #value))
}

/// The same path, for rustc to blame elsewhere.
fn located(path: &TokenStream, at: Span) -> TokenStream {
    let located = path.clone().into_iter().map(|mut token| {
        token.set_span(at);
        token
    });
    located.collect()
}
