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
/// first, and the race asks the rules about each:
///
/// ```text
/// Output: loop {
///             let ended = call.race(
///                 || { EACH async BODY },
///                 |call, ended| { CHECKS; call.set_aside(ended, JUDGE) },
///             ).await;
///             let at = match call.settle(ended, JUDGE) { … };
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
    let block = body::attempt(function, plan, body, at);
    let Plan { allowed, each, .. } = plan;
    let body = cancel.later(&block, at);
    // The block hides its bindings from the rules and from `before_retry`, which see the caller's arguments.
    let ended = blame.name("__ended");
    let judge = judge(function, model, limited);
    let checked = checked(function, model, blame);
    let hedges = model.hedges();
    let attempt = if hedges {
        let asked = blame.call("set_aside", generated!(#ended, #judge));
        // Each attempt, and a hedge beside it, gets arguments of its own.
        let race = generated!(|| { #each #body }, |__call, #ended| { #checked #asked });
        cancel.run("race", race, blame)
    } else {
        let attempt = cancel.run("attempt", body, blame);
        if each.is_empty() {
            attempt
        } else {
            generated!({ #each #attempt })
        }
    };
    // A race has checked what it returns.
    let checked = (!hedges).then_some(checked);
    let settled = settled(function, model, &judge, blame);
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
            #allowed let #ended = #attempt;
            #checked
            #settled
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

/// What the rules say about an error.
fn judge(function: &Function, model: &Model, limited: bool) -> TokenStream {
    let ruling = classifier::ruling(function, model);
    let keeps = if limited && may_be_kept(function) {
        generated!(__error.kept())
    } else {
        generated!(__retry::Forgets)
    };
    generated!(|__error| (#ruling, __error.words(), #keeps))
}

/// Ends the call with its result, or gives the instant of the next attempt.
fn settled(function: &Function, model: &Model, judge: &TokenStream, blame: Blame) -> TokenStream {
    let ended = blame.name("__ended");
    // `settle` takes only a judge that captures nothing, because functions can share the code behind it.
    let (method, arguments) = match &model.on_retry {
        None if classifier::captures_nothing(function, model) => {
            ("settle", generated!(#ended, #judge))
        }
        None => ("decide", generated!(#ended, #judge, |_| ())),
        Some(on_retry) => {
            let hook = classifier::lent(function, on_retry);
            ("decide", generated!(#ended, #judge, #hook))
        }
    };
    let settled = blame.call(method, arguments);
    generated! {
        let __at = match #settled {
            __retry::Ok(__at) => __at,
            __retry::Err(__result) => return __result,
        };
    }
}
