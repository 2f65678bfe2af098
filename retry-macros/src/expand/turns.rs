//! The loop of attempts and waits.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned as _;

use super::before_retry::before_retry;
use super::begin::begin;
use super::body;
use super::kept_error::kept_error;
use super::names::Names;
use crate::arguments::Plan;
use crate::bounds::Cancel;
use crate::classifier::{self, ask};
use crate::item::{self, Function};
use crate::model::Model;
use crate::settings::settings;

/// The loop, and what stands before and after it.
pub(super) fn call(
    function: &Function,
    model: &Model,
    plan: &Plan,
    root: &TokenStream,
    body: &TokenStream,
) -> TokenStream {
    let plumbing = Span::mixed_site();
    // Where rustc finds that the result, or its error, is not what a retry needs, the blame is on the
    // type that the user wrote. With one span for all, rustc tells a mistake in it once.
    let blamed = item::visible_error(&function.output)
        .unwrap_or(&function.output)
        .span();
    let private = quote_spanned!(plumbing=> #root::__private);
    let settings = settings(model, &function.signature.generics, root);
    let limited = settings.limited != Some(false);
    let cancel = Cancel::new(model, &private);
    let turn = Turn {
        model,
        private,
        cancel,
        limited,
        blamed,
        names: Names::new(blamed),
    };
    let begin = begin(function, model, settings, root, &turn.names.call);
    let attempt = turn.attempt(plan, &body::attempt(function, plan, body, plumbing));
    let turns = turn.turns(function, root, &attempt);
    if !limited {
        return quote_spanned!(plumbing=> #begin #turns);
    }
    let Names {
        call,
        kept,
        stopped,
        ..
    } = &turn.names;
    let make_kept = kept_error(function, root, call);
    let end = Ident::new("stopped", blamed);
    let turns = turn.cancel.around(quote_spanned! {plumbing=>
        let #stopped = #turns;
        return #call.#end(&mut #kept, #stopped);
    });
    quote_spanned! {plumbing=>
        #begin
        let mut #kept = #make_kept;
        #turns
    }
}

/// What one turn of the loop is made from.
struct Turn<'a> {
    model: &'a Model,
    private: TokenStream,
    cancel: Cancel,
    /// Whether an attempt may be cut, as far as the attribute shows.
    limited: bool,
    blamed: Span,
    names: Names,
}

impl Turn<'_> {
    /// What an attempt gives.
    fn attempt(&self, plan: &Plan, body: &TokenStream) -> TokenStream {
        let Names { call, ended, .. } = &self.names;
        let plumbing = Span::mixed_site();
        let attempt = self
            .cancel
            .run(&quote_spanned!(plumbing=> #call.attempt(#body)), call);
        // In a block of its own: the rules, and what goes before a retry, see the caller's argument.
        let each = &plan.each;
        if each.is_empty() {
            attempt
        } else {
            quote_spanned!(plumbing=> { #each let #ended = #attempt; #ended })
        }
    }

    /// The loop. It gives why the call was stopped, if that can happen.
    fn turns(&self, function: &Function, root: &TokenStream, attempt: &TokenStream) -> TokenStream {
        let Names {
            call,
            kept,
            ended,
            failed,
            veto,
            at,
            ..
        } = &self.names;
        let private = &self.private;
        let plumbing = Span::mixed_site();
        let asked = classifier::veto(self.model, root, ended, veto);
        let veto = asked.is_some().then_some(veto);
        let arms = [
            self.succeeded(),
            self.failed(function, root, veto),
            self.cut(veto).unwrap_or_default(),
        ];
        let before = quote_spanned!(plumbing=> let #ended = #attempt;);
        let how = Ident::new("ended", self.blamed);
        let how = quote_spanned!(plumbing=> #call.#how(#ended));
        let turn = match &asked {
            Some(asked) => quote_spanned! {plumbing=> {
                let #ended = #how;
                #asked
                match #ended { #(#arms)* }
            }},
            None => quote_spanned!(plumbing=> match #how { #(#arms)* }),
        };
        let turn = match &self.model.on_retry {
            None => turn,
            Some(on_retry) => {
                let on_retry = &on_retry.value;
                let keep = self
                    .limited
                    .then(|| quote_spanned!(plumbing=> if let ::core::option::Option::Some(#failed) = #failed { #kept.keep(#failed); }));
                quote_spanned! {plumbing=> {
                    let (#at, #failed) = #turn;
                    #private::tell(&#call.event(#failed.as_ref()), #on_retry);
                    #keep
                    #at
                }}
            }
        };
        let wait = self
            .cancel
            .run(&quote_spanned!(plumbing=> #call.wait(#at)), call);
        let before_retry = before_retry(self.model, &self.cancel, &self.names, self.limited);
        quote_spanned!(plumbing=> loop { #before let #at = #turn; #wait; #before_retry })
    }

    /// The arm of an `Ok`.
    fn succeeded(&self) -> TokenStream {
        let Names { call, value, .. } = &self.names;
        let plumbing = Span::mixed_site();
        let ok = self.names.result("ok", value);
        let done = quote_spanned! {plumbing=>
            #call.succeeded();
            return #ok;
        };
        let Some(when_ok) = &self.model.when_ok else {
            return quote_spanned!(plumbing=> ::core::result::Result::Ok(#value) => { #done });
        };
        let subject = quote_spanned!(plumbing=> &#value);
        let asked = ask(&self.private, &subject, when_ok);
        let retried = self.retried(&quote_spanned!(plumbing=> #call.failed_value()), &ok, None);
        quote_spanned! {plumbing=>
            ::core::result::Result::Ok(#value) => {
                if !#asked { #done }
                #retried
            }
        }
    }

    /// The arm of an error.
    fn failed(&self, function: &Function, root: &TokenStream, veto: Option<&Ident>) -> TokenStream {
        let Names { call, failed, .. } = &self.names;
        let private = &self.private;
        let plumbing = Span::mixed_site();
        let error = Ident::new("__retry_error", plumbing);
        let ruling = classifier::ruling(function, self.model, root, &error, veto);
        let decided = quote_spanned! {plumbing=>
            #call.failed(
                { let #error = &#failed; #ruling },
                #private::Explain::new(&#failed).words(),
            )
        };
        let ended = self.names.result("err", failed);
        let retried = self.retried(&decided, &ended, Some(failed));
        quote_spanned! {plumbing=>
            ::core::result::Result::Err(#private::Failed::Error(#failed)) => { #retried }
        }
    }

    /// Acts on a decision: ends the call with `ended`, or keeps the error and gives the instant of the next
    /// attempt. With `on_retry`, it gives the error too, for the hook.
    fn retried(
        &self,
        decided: &TokenStream,
        ended: &TokenStream,
        error: Option<&Ident>,
    ) -> TokenStream {
        let Names { kept, at, .. } = &self.names;
        let plumbing = Span::mixed_site();
        if self.model.on_retry.is_some() {
            let error = match error {
                Some(error) => quote_spanned!(plumbing=> ::core::option::Option::Some(#error)),
                None => quote_spanned!(plumbing=> ::core::option::Option::None),
            };
            return quote_spanned! {plumbing=>
                match #decided {
                    ::core::option::Option::Some(#at) => (#at, #error),
                    ::core::option::Option::None => return #ended,
                }
            };
        }
        let keep = error
            .filter(|_| self.limited)
            .map(|error| quote_spanned!(plumbing=> #kept.keep(#error);));
        quote_spanned! {plumbing=>
            match #decided {
                ::core::option::Option::Some(#at) => { #keep #at }
                ::core::option::Option::None => return #ended,
            }
        }
    }

    /// The arm of an attempt that was cut.
    fn cut(&self, veto: Option<&Ident>) -> Option<TokenStream> {
        let Names {
            call,
            cut,
            at,
            stopped,
            ..
        } = &self.names;
        let private = &self.private;
        let plumbing = Span::mixed_site();
        let vetoed = match veto {
            Some(veto) => {
                let vetoes = Ident::new("vetoes", self.blamed);
                quote_spanned!(plumbing=> #call.#vetoes(#cut, #veto))
            }
            None => quote_spanned!(plumbing=> false),
        };
        let decided = quote_spanned!(plumbing=> #call.cut(#cut, #vetoed));
        let decided = if self.model.on_retry.is_some() {
            quote_spanned! {plumbing=>
                match #decided {
                    ::core::result::Result::Ok(#at) => (#at, ::core::option::Option::None),
                    ::core::result::Result::Err(#stopped) => break #stopped,
                }
            }
        } else {
            quote_spanned! {plumbing=>
                match #decided {
                    ::core::result::Result::Ok(#at) => #at,
                    ::core::result::Result::Err(#stopped) => break #stopped,
                }
            }
        };
        self.limited.then(|| {
            quote_spanned! {plumbing=>
                ::core::result::Result::Err(#private::Failed::Cut(#cut)) => { #decided }
            }
        })
    }
}
