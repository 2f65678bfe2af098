//! The loop of attempts and waits.

use proc_macro2::TokenStream;

use super::before_retry::before_retry;
use super::begin::begin;
use super::blame::Blame;
use super::body;
use super::cancel::Cancel;
use super::kept_error::may_be_kept;
use crate::arguments::Plan;
use crate::classifier::{self, ask};
use crate::item::Function;
use crate::model::Model;
use crate::settings::settings;
use crate::tokens::generated;

/// The loop, and the code before it. Every end of a call is a `return`.
pub(super) fn call(
    function: &Function,
    model: &Model,
    plan: &Plan,
    body: &TokenStream,
) -> TokenStream {
    let settings = settings(model, &function.signature.generics);
    let limited = settings.limited != Some(false);
    let turn = Turn {
        function,
        model,
        cancel: Cancel::new(model),
        limited,
        blame: Blame::of(function),
    };
    let begin = begin(function, model, settings);
    // The span of the whole body. A smaller span would show better where a value is used up, but clippy would take
    // the body for generated code and not check it (`implicit_return`).
    let at = function.braces;
    let block = body::attempt(function, plan, body, at);
    let body = turn.cancel.later(&block, at);
    let turns = turn.turns(&turn.attempt(plan, &body), &plan.allowed);
    let turns = turn.cancel.around(turns);
    generated!(#begin #turns)
}

/// The parts of one turn of the loop.
struct Turn<'a> {
    function: &'a Function,
    model: &'a Model,
    cancel: Cancel<'a>,
    /// Whether a timer or `cancel` may cut an attempt, as far as the attribute shows.
    limited: bool,
    blame: Blame,
}

impl Turn<'_> {
    /// The code of an attempt.
    fn attempt(&self, plan: &Plan, body: &TokenStream) -> TokenStream {
        let attempt = self.cancel.run("attempt", body, self.blame);
        // The block hides its bindings from the rules and from `before_retry`, which see the caller's arguments.
        let each = &plan.each;
        if each.is_empty() {
            attempt
        } else {
            generated!({ #each #attempt })
        }
    }

    /// The loop.
    fn turns(&self, attempt: &TokenStream, allowed: &TokenStream) -> TokenStream {
        let ended = self.blame.name("__ended");
        let (checked, settled) = (self.checked(), self.settled());
        let wait = self.cancel.run("wait", generated!(__at), self.blame);
        let before_retry = before_retry(self.model, &self.cancel, self.blame, self.limited);
        generated! {
            loop {
                #allowed let #ended = #attempt;
                #checked
                #settled
                #wait;
                #before_retry
            }
        }
    }

    /// Asks the rules that come before the ruling: `when_ok`, `unless`, `not_on`.
    fn checked(&self) -> TokenStream {
        let ended = self.blame.name("__ended");
        let when_ok = self.model.when_ok.as_ref().map(|when_ok| {
            let asked = ask(&generated!(__result), when_ok);
            let arguments = generated!(#ended, |__result| #asked);
            let checked = self.blame.call("when_ok", arguments);
            generated!(let #ended = #checked;)
        });
        let veto = classifier::veto(self.model).map(|veto| {
            let arguments = generated!(#ended, |__error| #veto);
            let checked = self.blame.call("unless", arguments);
            generated!(let #ended = #checked;)
        });
        generated!(#when_ok #veto)
    }

    /// Ends the call with its result, or gives the instant of the next attempt.
    fn settled(&self) -> TokenStream {
        let ended = self.blame.name("__ended");
        let ruling = classifier::ruling(self.function, self.model);
        let keeps = if self.limited && may_be_kept(self.function) {
            generated!(__error.kept())
        } else {
            generated!(__retry::Forgets)
        };
        let arguments = generated! {
            #ended, |__error| (#ruling, __error.words(), #keeps)
        };
        let (method, next) = match &self.model.on_retry {
            None => ("settle", generated!(__at)),
            Some(on_retry) => {
                let hook = &on_retry.value;
                ("decide", generated!(__call.tell(__at, #hook)))
            }
        };
        let settled = self.blame.call(method, arguments);
        generated! {
            let __at = match #settled {
                __retry::Ok(__at) => #next,
                __retry::Err(__result) => return __result,
            };
        }
    }
}
