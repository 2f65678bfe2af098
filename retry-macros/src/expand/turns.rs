//! The loop of attempts and waits.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;

use super::before_retry::before_retry;
use super::begin::begin;
use super::body;
use super::cancel::Cancel;
use super::kept_error::kept_error;
use super::names::Names;
use crate::arguments::Plan;
use crate::classifier::{self, ask};
use crate::item::{self, Function};
use crate::model::Model;
use crate::settings::settings;

/// The loop, and what stands before it. Every end of a call is a `return`.
pub(super) fn call(
    function: &Function,
    model: &Model,
    plan: &Plan,
    body: &TokenStream,
) -> TokenStream {
    let plumbing = Span::mixed_site();
    // Where rustc finds that the result, or its error, is not what a retry needs, the blame is on the
    // type that the user wrote. With one span for all, rustc tells a mistake in it once.
    let blamed = item::visible_error(&function.output)
        .unwrap_or(&function.output)
        .span();
    let settings = settings(model, &function.signature.generics);
    let limited = settings.limited != Some(false);
    let cancel = Cancel::new(model);
    let turn = Turn {
        model,
        cancel,
        limited,
        names: Names::new(blamed),
    };
    let Names { call, kept, .. } = &turn.names;
    let begin = begin(function, model, settings, call);
    let kept = limited.then(|| {
        let kept_error = kept_error(function, call);
        quote_spanned!(plumbing=> let mut #kept = #kept_error;)
    });
    let block = body::attempt(function, plan, body, plumbing);
    let body = turn.cancel.later(&block, function.braces);
    let attempt = turn.attempt(plan, &body);
    let turns = turn.cancel.around(turn.turns(function, &attempt));
    quote_spanned!(plumbing=> #begin #kept #turns)
}

/// What one turn of the loop is made from.
struct Turn<'a> {
    model: &'a Model,
    cancel: Cancel<'a>,
    /// Whether an attempt may be cut, as far as the attribute shows.
    limited: bool,
    names: Names,
}

impl Turn<'_> {
    /// What an attempt gives.
    fn attempt(&self, plan: &Plan, body: &TokenStream) -> TokenStream {
        let ended = &self.names.ended;
        let plumbing = Span::mixed_site();
        let attempt = self.cancel.run("attempt", body, &self.names);
        // In a block of its own: the rules, and what goes before a retry, see the caller's argument.
        let each = &plan.each;
        if each.is_empty() {
            attempt
        } else {
            quote_spanned!(plumbing=> { #each let #ended = #attempt; #ended })
        }
    }

    /// The loop.
    fn turns(&self, function: &Function, attempt: &TokenStream) -> TokenStream {
        let Names {
            call,
            kept,
            ended,
            failed,
            veto,
            at,
            ..
        } = &self.names;
        let plumbing = Span::mixed_site();
        let asked = classifier::veto(self.model, ended, veto);
        let veto = asked.is_some().then_some(veto);
        let arms = [
            self.succeeded(),
            self.failed(function, veto),
            self.cut(veto).unwrap_or_default(),
        ];
        let how = self.names.call("ended", ended);
        let turn = match &asked {
            Some(asked) => quote_spanned! {plumbing=> {
                let #ended = #how;
                #asked
                match #ended { #(#arms)* }
            }},
            None => quote_spanned!(plumbing=> match #how { #(#arms)* }),
        };
        let next = match &self.model.on_retry {
            None => quote_spanned!(plumbing=> let #at = #turn;),
            Some(on_retry) => {
                let on_retry = &on_retry.value;
                let keep = quote_spanned! {plumbing=>
                    if let __retry::Some(#failed) = #failed { #kept.keep(#failed); }
                };
                let keep = self.limited.then_some(keep);
                quote_spanned! {plumbing=>
                    let (#at, #failed) = #turn;
                    __retry::tell(&#call.event(#failed.as_ref()), #on_retry);
                    #keep
                }
            }
        };
        let wait = self.cancel.run("wait", at, &self.names);
        let before_retry = before_retry(self.model, &self.cancel, &self.names, self.limited);
        quote_spanned! {plumbing=>
            loop {
                let #ended = #attempt;
                #next
                #wait;
                #before_retry
            }
        }
    }

    /// The arm of an `Ok`.
    fn succeeded(&self) -> TokenStream {
        let Names { call, value, .. } = &self.names;
        let plumbing = Span::mixed_site();
        let succeeded = self.names.call("succeeded", value);
        let Some(when_ok) = &self.model.when_ok else {
            return quote_spanned!(plumbing=> __retry::Ok(#value) => return #succeeded,);
        };
        let asked = ask(&quote_spanned!(plumbing=> &#value), when_ok);
        let retried = self.retried(
            &quote_spanned!(plumbing=> #call.failed_value()),
            &self.names.call("ok", value),
            None,
        );
        quote_spanned! {plumbing=>
            __retry::Ok(#value) => {
                if !#asked { return #succeeded; }
                #retried
            }
        }
    }

    /// The arm of an error.
    fn failed(&self, function: &Function, veto: Option<&Ident>) -> TokenStream {
        let Names { call, failed, .. } = &self.names;
        let plumbing = Span::mixed_site();
        let error = Ident::new("__retry_error", plumbing);
        let ruling = classifier::ruling(function, self.model, &error, veto);
        let decided = quote_spanned! {plumbing=>
            #call.failed(#ruling, __retry::Explain::new(#error).words())
        };
        let retried = self.retried(&decided, &self.names.call("err", failed), Some(failed));
        quote_spanned! {plumbing=>
            __retry::Err(__retry::Failed::Error(#failed)) => {
                let #error = &#failed;
                #retried
            }
        }
    }

    /// Acts on a decision: ends the call with `ended`, or keeps the error and gives the instant of the next
    /// attempt.
    fn retried(
        &self,
        decided: &TokenStream,
        ended: &TokenStream,
        error: Option<&Ident>,
    ) -> TokenStream {
        let Names { kept, at, .. } = &self.names;
        let plumbing = Span::mixed_site();
        let next = match error {
            Some(error) if self.limited && self.model.on_retry.is_none() => {
                quote_spanned!(plumbing=> { #kept.keep(#error); #at })
            }
            error => self.next(error),
        };
        quote_spanned! {plumbing=>
            match #decided {
                __retry::Some(#at) => #next,
                __retry::None => return #ended,
            }
        }
    }

    /// What an arm gives: the instant of the next attempt and, for `on_retry`, the error.
    fn next(&self, error: Option<&Ident>) -> TokenStream {
        let at = &self.names.at;
        let plumbing = Span::mixed_site();
        match (&self.model.on_retry, error) {
            (None, _) => at.to_token_stream(),
            (Some(_), None) => quote_spanned!(plumbing=> (#at, __retry::None)),
            (Some(_), Some(error)) => quote_spanned!(plumbing=> (#at, __retry::Some(#error))),
        }
    }

    /// The arm of an attempt that was cut.
    fn cut(&self, veto: Option<&Ident>) -> Option<TokenStream> {
        let Names { call, cut, at, .. } = &self.names;
        let plumbing = Span::mixed_site();
        let vetoed = match veto {
            Some(veto) => self
                .names
                .call("vetoes", quote_spanned!(plumbing=> #cut, #veto)),
            None => quote_spanned!(plumbing=> false),
        };
        let next = self.next(None);
        let stopped = self.names.stopped(&cut.to_token_stream());
        self.limited.then(|| {
            quote_spanned! {plumbing=>
                __retry::Err(__retry::Failed::Cut(#cut)) => match #call.cut(#cut, #vetoed) {
                    __retry::Ok(#at) => #next,
                    __retry::Err(#cut) => return #stopped,
                },
            }
        })
    }
}
