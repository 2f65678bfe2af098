//! The rules of an attribute as code that makes a ruling on an error.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Type};

use crate::future::argument_named;
use crate::item::Function;
use crate::model::{Model, Rules, Spanned, UnlessRule};
use crate::operand::lone_name;
use crate::tokens::{deep, generated, is_punct, is_text, is_variable_name, located, words};

/// Writes an expression that rules on `__error`, a `&Failed<E>`.
///
/// ```text
/// Input:   on = "A | B", when = W
/// Output:  match error.search::<A>().find().or_else(|| … B …) {
///              Some(said) if ask(error.error(), W) => Ruling::retry(said),
///              _ => Ruling::stop(SAID),
///          }
/// ```
///
/// Without `on` and `when`, it is `Ruling::by(verdict_of(error.error()), error.harmless)`, which uses
/// the error's own verdict. With `attempts = 1`, `SAID` stands in its place, which does not need one. `verdict` takes the place of
/// both. It does not overrule an error inside that has the last word, where the type of the error shows that it `has_chain`.
pub(crate) fn ruling(function: &Function, model: &Model, has_chain: bool) -> TokenStream {
    let Rules {
        on, when, verdict, ..
    } = &model.rules;
    let verdict = verdict.as_ref().map(|verdict| {
        let searched = if has_chain {
            generated!(__error.search::<()>())
        } else {
            generated!(__retry::Chainless::search::<()>(__error))
        };
        let value = lent(function, verdict);
        quote_spanned!(located(verdict.span)=> #searched.asked(#value))
    });
    let found = on.as_ref().map(|types| {
        let mut alternatives = types.value.iter().map(|ty| searched(ty, "find"));
        let first = alternatives.next();
        generated!(#first #(.or_else(|| #alternatives))*)
    });
    let when = when.as_ref().map(|when| asked(function, when));
    // The error is asked if it can answer, or has to answer by this function.
    let assessed = |by: Option<&str>| match (&verdict, by) {
        (Some(verdict), _) => verdict.clone(),
        (None, None) => generated!(__error.assessment()),
        (None, Some(by)) => {
            // This span puts rustc's "does not say which of its errors are worth another attempt" on the error's type in the
            // signature.
            let at = function.blamed();
            let by = Ident::new(by, at);
            quote_spanned!(at=> __retry::#by(__error.error()))
        }
    };
    match (found, when) {
        (Some(found), when) => {
            let guard = when.map(|when| generated!(if #when));
            let assessed = assessed(None);
            generated! {
                match #found {
                    __retry::Some(__said) #guard => __retry::Ruling::retry(__said),
                    _ => __retry::Ruling::stop(#assessed),
                }
            }
        }
        (None, Some(when)) => {
            let assessed = assessed(model.is_not_idempotent().then_some("says_no_effect"));
            generated!(__retry::Ruling::when(#when, #assessed))
        }
        (None, None) => {
            // If nothing is retried, the call ends with the same outcome as any other call without an attempt left, and every
            // error type will do.
            let assessed = assessed((!model.never_retries()).then_some("verdict_of"));
            generated!(__retry::Ruling::by(#assessed, __error.harmless))
        }
    }
}

/// Whether the ruling captures nothing, as far as the words of `when` and `verdict` show: no argument, no macro with a text that may
/// name one, and no variable of a function that makes its future by hand.
pub(crate) fn captures_nothing(function: &Function, model: &Model) -> bool {
    let arguments: HashSet<_> = words(&function.signature.inputs).collect();
    let Rules { when, verdict, .. } = &model.rules;
    [when, verdict].into_iter().flatten().all(|asks| {
        let may_name = words(&asks.value).any(|word| arguments.contains(&word))
            || deep(&asks.value).any(|token| is_punct(Some(&token), "!"))
                && deep(&asks.value).any(|token| is_text(Some(&token)));
        // Any name may be that of a variable around a closure.
        !may_name && function.handmade.is_none() && function.closure.is_none()
    })
}

/// Writes whether `unless` forbids another attempt after `__error`, a `&Failed<E>`.
///
/// ```text
/// Input:   unless = is_fatal
/// Output:  ask(error.error(), is_fatal)
///
/// Input:   unless = "A | B"
/// Output:  error.search::<A>().contains() || error.search::<B>().contains()
/// ```
pub(crate) fn veto(function: &Function, model: &Model) -> Option<TokenStream> {
    Some(match &model.rules.unless.as_ref()?.value {
        UnlessRule::Function(predicate) => asked(function, predicate),
        UnlessRule::Types(types) => {
            let found = types.iter().map(|ty| searched(ty, "contains"));
            generated!(#(#found)||*)
        }
    })
}

/// A search for errors of a type: `error.search::<A>().find()`.
fn searched(ty: &Type, method: &str) -> TokenStream {
    // This span puts rustc's "can never be found inside" on the type.
    let method = Ident::new(method, located(ty.span()));
    generated!(__error.search::<#ty>().#method())
}

/// Applies a predicate of the user's to the error.
fn asked(function: &Function, predicate: &Spanned<Expr>) -> TokenStream {
    ask(function, "ask", &generated!(__error.error()), predicate)
}

/// Applies a predicate of the user's to `subject`, by a function of the runtime.
pub(crate) fn ask(
    function: &Function,
    by: &str,
    subject: &impl ToTokens,
    predicate: &Spanned<Expr>,
) -> TokenStream {
    // rustc reports "type mismatch in closure arguments" on the whole call. This span puts it on the predicate.
    let at = located(predicate.span);
    let value = lent(function, predicate);
    let by = Ident::new(by, at);
    quote_spanned!(at=> __retry::#by(#subject, #value))
}

/// Lends a predicate or a hook that is an argument, because the next attempt needs it too.
pub(crate) fn lent(function: &Function, called: &Spanned<Expr>) -> TokenStream {
    let value = &called.value;
    let is_argument = |name: &Ident| match function.closure {
        Some(_) => is_variable_name(name),
        None => argument_named(&function.signature, name).is_some(),
    };
    if lone_name(value).is_some_and(is_argument) {
        quote_spanned!(located(called.span)=> &#value)
    } else {
        value.to_token_stream()
    }
}
