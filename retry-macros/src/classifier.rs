//! The rules of an attribute as code that makes a ruling on an error.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Type};

use crate::future::argument_named;
use crate::item::{Function, visible_error};
use crate::model::{Model, Rules, Spanned};
use crate::tokens::{any_word, deep, generated, is_punct, located};

/// Writes an expression that rules on `__error`, a `&Failed<E>`.
///
/// ```text
/// Input:   unless = U, matches = "P", on = "A | B", when = W
/// Output:  if error.is_vetoed() { Ruling::stop(SAID) }
///          else {
///              match error.error() {
///                  P => Ruling::retry(SAID),
///                  _ => match error.search::<A>().find(|it| it.said()).or_else(|| … B …) {
///                      Some(said) if ask(error.error(), W) => Ruling::retry(said),
///                      _ => Ruling::stop(SAID),
///                  }
///              }
///          }
/// ```
///
/// Without `on`, `matches` and `when`, the last branch is `Ruling::by(verdict_of(error.error()))`, which uses
/// the error's own verdict. With `attempts = 1` it is `Ruling::by(SAID)`, which does not need one.
pub(crate) fn ruling(function: &Function, model: &Model) -> TokenStream {
    let Rules {
        unless,
        not_on,
        matches,
        on,
        when,
    } = &model.rules;
    let said = generated!(__error.said());
    let stop = generated!(__retry::Ruling::stop(#said));
    let found = on.as_ref().map(|types| {
        let mut alternatives = types.value.iter().map(|ty| {
            let find = searched(ty, "find");
            generated!(#find(|__link| __link.said()))
        });
        let first = alternatives.next();
        generated!(#first #(.or_else(|| #alternatives))*)
    });
    let when = when.as_ref().map(|when| asked(function, when));
    let decision = match (found, when) {
        (Some(found), when) => {
            let guard = when.map(|when| generated!(if #when));
            generated! {
                match #found {
                    __retry::Some(__said) #guard => __retry::Ruling::retry(__said),
                    _ => #stop,
                }
            }
        }
        (None, Some(when)) => generated! {
            __retry::Ruling::when(#when, #said)
        },
        (None, None) if matches.is_some() => stop.clone(),
        // The error is asked if it can answer. So the call ends with the same outcome as any other call without an
        // attempt left, and every error type will do.
        (None, None) if model.never_retries() => {
            generated!(__retry::Ruling::by(#said))
        }
        (None, None) => {
            // This span puts rustc's "does not say which of its errors are worth another attempt" on the
            // error's type in the signature.
            let blamed = visible_error(&function.output).unwrap_or(&function.output);
            let at = located(blamed.span());
            let verdict = quote_spanned!(at=> __retry::verdict_of(__error.error()));
            generated!(__retry::Ruling::by(#verdict))
        }
    };
    let decision = match matches {
        Some(matches) => {
            let pattern = &matches.value;
            generated! {
                match __error.error() {
                    #pattern => __retry::Ruling::retry(#said),
                    // The user's pattern may match every error, so that rustc finds this branch unreachable.
                    #[allow(unreachable_patterns)]
                    _ => #decision,
                }
            }
        }
        None => decision,
    };
    if unless.is_none() && not_on.is_none() {
        return decision;
    }
    generated!(if __error.is_vetoed() { #stop } else { #decision })
}

/// Whether the ruling captures nothing, as far as the words of `when` show: no argument, also in the text of a macro, and no
/// variable of a function that makes its future by hand.
pub(crate) fn captures_nothing(function: &Function, model: &Model) -> bool {
    let arguments = &function.signature.inputs;
    model.rules.when.as_ref().is_none_or(|when| {
        let may_name = any_word(&when.value, &|word| any_word(arguments, &|it| it == word))
            || deep(&when.value).any(|token| is_punct(Some(&token), "!"));
        !may_name && function.handmade.is_none()
    })
}

/// Writes whether `unless` or `not_on` forbids another attempt after `__error`, a `&Failed<E>`.
///
/// ```text
/// Input:   unless = U, not_on = "N"
/// Output:  ask(error.error(), U) || error.search::<N>().contains()
/// ```
pub(crate) fn veto(function: &Function, model: &Model) -> Option<TokenStream> {
    let Rules { unless, not_on, .. } = &model.rules;
    let unless = unless.iter().map(|unless| asked(function, unless));
    let not_on = not_on.iter().flat_map(|types| &types.value).map(|ty| {
        let contains = searched(ty, "contains");
        generated!(#contains())
    });
    let questions: Vec<_> = unless.chain(not_on).collect();
    (!questions.is_empty()).then(|| generated!(#(#questions)||*))
}

/// A search for errors of a type: `error.search::<A>().find`.
fn searched(ty: &Type, method: &str) -> TokenStream {
    // This span puts rustc's "can never be found inside" on the type.
    let method = Ident::new(method, located(ty.span()));
    generated!(__error.search::<#ty>().#method)
}

/// Applies a predicate of the user's to the error.
fn asked(function: &Function, predicate: &Spanned<Expr>) -> TokenStream {
    ask(function, &generated!(__error.error()), predicate)
}

/// Applies a predicate of the user's to `subject`.
pub(crate) fn ask(
    function: &Function,
    subject: &impl ToTokens,
    predicate: &Spanned<Expr>,
) -> TokenStream {
    // rustc reports "type mismatch in closure arguments" on the whole call. This span puts it on the predicate.
    let at = located(predicate.span);
    let value = lent(function, predicate);
    quote_spanned!(at=> __retry::ask(#subject, #value))
}

/// Applies the function of `retry_after` to the error.
pub(crate) fn ask_delay(function: &Function, delay: &Spanned<Expr>) -> TokenStream {
    let value = lent(function, delay);
    quote_spanned!(located(delay.span)=> __retry::ask_delay(__error, #value))
}

/// Lends a predicate or a hook that is an argument, because the next attempt needs it too.
pub(crate) fn lent(function: &Function, called: &Spanned<Expr>) -> TokenStream {
    let value = &called.value;
    let name = match value {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    };
    if name.is_some_and(|name| argument_named(&function.signature, name).is_some()) {
        quote_spanned!(located(called.span)=> &#value)
    } else {
        value.to_token_stream()
    }
}
