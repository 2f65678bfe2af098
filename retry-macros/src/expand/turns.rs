//! The loop of attempts and waits.

use proc_macro2::TokenStream;

use super::before_retry::before_retry;
use super::begin::begin;
use super::blame::Blame;
use super::body;
use super::cancel::Cancel;
use super::kept_error::may_be_kept;
use super::pause::pause;
use crate::arguments::Plan;
use crate::classifier::{self, ask};
use crate::item::Function;
use crate::model::Model;
use crate::settings::settings;
use crate::tokens::generated;

/// The loop, and the code before it. Every end of a call is a `return`. With `hedge`, the body may run a second time beside the
/// first, and each that ends is settled:
///
/// ```text
/// Output: loop {
///             let settled = call.race(
///                 || { EACH async BODY },
///                 |call, ended| { CHECKS; call.settle(ended, JUDGE) },
///             ).await;
///             let at = match settled { … };
///             at.wait().await;
///         }
/// ```
pub(super) fn call(
    function: &Function,
    model: &Model,
    plan: &Plan,
    body: &TokenStream,
) -> TokenStream {
    let settings = settings(model, &function.signature);
    // Whether a timer, `cancel` or `until` may cut an attempt, as far as the attribute shows.
    let limited = settings.limited != Some(false);
    let begin = begin(function, model, settings);
    let (blame, cancel) = (Blame::of(function), Cancel::new(model));
    // The span of the whole body. A smaller span would show better where a value is used up, but clippy would take
    // the body for generated code and not check it (`implicit_return`).
    let at = function.braces;
    let said = model.idempotent.is_some();
    let twice = (model.hedges() && !said, said || model.never_retries());
    let block = body::attempt(function, plan, body, at, twice);
    let Plan { allowed, each, .. } = plan;
    let body = cancel.later(&block, at);
    // The block hides its bindings from the rules and from `before_retry`, which see the caller's arguments.
    let ended = blame.name("__ended");
    let checked = checked(function, model, blame);
    let settled = settled(function, model, limited, blame);
    let attempt = if model.hedges() {
        // Each attempt, and a hedge beside it, gets arguments of its own.
        let race = generated!(|| { #each #body }, |__call, #ended| { #checked #settled });
        let settled = blame.name("__settled");
        let race = cancel.run("race", race, blame);
        generated!(#allowed let #settled = #race; let __at = match #settled)
    } else {
        let attempt = cancel.run("attempt", body, blame);
        let attempt = if each.is_empty() {
            attempt
        } else {
            generated!({ #each #attempt })
        };
        generated!(#allowed let #ended = #attempt; #checked let __at = match #settled)
    };
    let wait = cancel.wait(blame);
    let cut = limited.then(|| {
        let stopped = blame.call("cut_between", generated!(__result));
        generated!(__retry::Err(__result) => return #stopped,)
    });
    let before_retry = before_retry(model, &cancel, blame, cut.as_ref());
    let pause = pause(model, &cancel, blame, &wait, limited);
    // It must not begin in a pause either.
    let pause_before = before_retry.as_ref().and(pause.as_ref());
    let turns = cancel.around(generated! {
        loop {
            #pause
            #attempt {
                __retry::Continue(__at) => __at,
                __retry::Break(__result) => return __result,
            };
            #wait;
            #pause_before
            #before_retry
        }
    });
    generated!(#begin #turns)
}

/// Asks what comes before the ruling: `when_ok`, `until`, `unless`, `retry_after`.
fn checked(function: &Function, model: &Model, blame: Blame) -> TokenStream {
    let ended = blame.name("__ended");
    let until = model.until.as_ref().map(|until| {
        let asked = ask(function, "ask_ok", &generated!(__result), until);
        blame.call("until", generated!(&#ended, |__result| #asked))
    });
    let when_ok = model.when_ok.as_ref().map(|when_ok| {
        let asked = ask(function, "ask_ok", &generated!(__result), when_ok);
        blame.call("when_ok", generated!(&#ended, |__result| #asked))
    });
    let veto = classifier::veto(function, model)
        .map(|veto| blame.call("unless", generated!(&#ended, |__error| #veto)));
    let after = model.retry_after.as_ref().map(|after| {
        let asked = classifier::ask_delay(function, after);
        blame.call("retry_after", generated!(&#ended, |__error| #asked))
    });
    let checks = [until, when_ok, veto, after].into_iter().flatten();
    generated!(#(#checks;)*)
}

/// Ends the call with its result, or gives the instant of the next attempt.
fn settled(function: &Function, model: &Model, limited: bool, blame: Blame) -> TokenStream {
    let ended = blame.name("__ended");
    let has_chain = may_be_kept(function);
    let ruling = classifier::ruling(function, model, has_chain);
    let keeps = if limited && has_chain {
        generated!(__error.kept())
    } else if model.before_retry.is_some() && has_chain {
        generated!(__error.last())
    } else {
        generated!(__error.dropped())
    };
    let judgement = generated! {
        __retry::Judgement {
            ruling: #ruling,
            words: __error.words(),
            keeps: #keeps,
        }
    };
    let judge = generated!(|__error| #judgement);
    // `settle` takes only a judge that captures nothing, because functions can share the code behind it.
    let (method, arguments) = match &model.on_retry {
        None if classifier::captures_nothing(function, model) => {
            ("settle", generated!(#ended, #judge))
        }
        None => ("settle_with", generated!(#ended, #judge, |_| ())),
        Some(on_retry) => {
            let hook = classifier::lent(function, on_retry);
            ("settle_with", generated!(#ended, #judge, #hook))
        }
    };
    blame.call(method, arguments)
}
