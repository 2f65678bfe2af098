//! The loop of attempts and waits.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned as _;

use super::begin::begin;
use super::body;
use crate::arguments::Plan;
use crate::classifier::{self, ask};
use crate::item::{self, Function};
use crate::model::Model;
use crate::operand::operand;
use crate::site::site;
use crate::tokens::{generated, has_word, located};

/// The loop, and the code before it. Every end of a call is a `return`.
pub(super) fn call(
    function: &Function,
    model: &Model,
    plan: &Plan,
    body: &TokenStream,
) -> TokenStream {
    let site = site(model, &function.signature);
    let cancel = model.cancels().map(|cancel| &cancel.value);
    let limited = site.limited != Some(false);
    let turns = Turns {
        function,
        model,
        limited,
        wraps: function.closure.is_some() && (limited || model.hedges()),
        blamed: function.blamed(),
        cancel,
        // With this span, rustc points at the user's expression if it is not a future.
        cancelled: cancel.map_or_else(Span::mixed_site, |future| located(future.span())),
    };
    let begin = begin(function, model, site);
    let turns = turns.around(turns.turns(plan, body));
    generated!(#begin #turns)
}

/// What the parts of the loop need.
struct Turns<'a> {
    function: &'a Function,
    model: &'a Model,
    /// Whether a timer, `cancel` or `until` may cut an attempt, as far as the attribute shows.
    limited: bool,
    /// Whether rustc chooses with which error the call of a closure ends.
    wraps: bool,
    /// Where rustc reports that the result, or its error, is not what a retry needs. With one span for all uses, rustc reports
    /// a mistake once.
    blamed: Span,
    /// The future that stops the call.
    cancel: Option<&'a Expr>,
    /// The span of its name.
    cancelled: Span,
}

impl Turns<'_> {
    /// With `hedge`, the body may run a second time beside the first, and each that ends is settled:
    ///
    /// ```text
    /// Output: loop {
    ///             let settled = call.race(
    ///                 || { EACH async BODY },
    ///                 |call, ended| { CHECKS; call.settle(ended, JUDGE) },
    ///             ).await;
    ///             let at = match settled { … };
    ///             at.await;
    ///         }
    /// ```
    fn turns(&self, plan: &Plan, body: &TokenStream) -> TokenStream {
        // The span of the whole body. A smaller span would show better where a value is used up, but clippy would take
        // the body for generated code and not check it (`implicit_return`).
        let at = self.function.braces;
        let (hedges, said) = (self.model.hedges(), self.model.idempotent.is_some());
        let twice = (hedges && !said, said || self.model.never_retries());
        let fault = self.fault();
        let block = body::attempt(self.function, plan, fault.as_ref(), body, at, twice);
        let body = self.later(&block, at);
        let Plan { allowed, each, .. } = plan;
        // The block hides its bindings from the rules and from `before_retry`, which see the caller's arguments.
        let (ended, checked, settled) = (self.blame("__ended"), self.checked(), self.settled());
        let attempt = if hedges {
            // Each attempt, and a hedge beside it, gets arguments of its own.
            let lent = quote_spanned!(self.blamed=> &__make);
            // One question for both, which names the closure if it cannot run twice at once.
            let of_both = self.ends("ends_of_both", &generated!(#lent, &__call));
            let ends = self.wraps.then(|| generated!(let __ends = #of_both;));
            let of_closure = self.of_closure(&generated!(__ends));
            let race = generated!(__make, |mut __call, #ended| { #of_closure #checked #settled });
            let (settled, race) = (self.blame("__settled"), self.run("race", race));
            generated! {
                #allowed let __make = || { #each #body };
                #ends
                let #settled = #race;
                let __at = match #settled
            }
        } else {
            let mut attempt = self.run("attempt", body);
            if !each.is_empty() {
                attempt = generated!({ #each #attempt });
            }
            let of_closure = self.of_closure(&self.ends("ends", &generated!(&#ended)));
            generated! {
                #allowed let #ended = #attempt;
                #of_closure #checked
                let __at = match #settled
            }
        };
        let wait = self.run("wait", generated!(__at));
        let pause = self.pause();
        let before_retry = self.before_retry();
        // It must not begin in a pause either.
        let pause_before = before_retry.as_ref().and(pause.as_ref());
        generated! {
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
        }
    }

    /// Asks with which error the call of a closure ends: `ends(&ended)`.
    fn ends(&self, asks: &str, of: &TokenStream) -> TokenStream {
        let asks = self.blame(asks);
        quote_spanned!(self.blamed=> __retry::#asks(#of))
    }

    /// Gives the result of a closure the error of its call: `let ended = ends(&ended).of_closure(ended);`.
    fn of_closure(&self, ends: &TokenStream) -> Option<TokenStream> {
        let ended = self.blame("__ended");
        self.wraps
            .then(|| quote_spanned!(self.blamed=> let #ended = #ends.of_closure(#ended);))
    }

    /// In a test scope, a fault may end the attempt. Only an error that is `'static` can be one; that of a closure without its type
    /// may be a type parameter of the function around it.
    fn fault(&self) -> Option<TokenStream> {
        let inferred = has_word(&self.function.output, "_");
        let fault = match self.model.blocking {
            None => generated!(fault().await),
            Some(_) => generated!(fault_blocking()),
        };
        let has_faults = !inferred && item::may_be_kept(self.function);
        has_faults.then(|| generated!(__retry::faulty!(#fault);))
    }

    /// Asks what comes before the ruling: `until`, `when_ok`, `unless`.
    fn checked(&self) -> TokenStream {
        let (function, model, ended) = (self.function, self.model, self.blame("__ended"));
        let (error, result) = (&generated!(__error), &generated!(__result));
        let of_ok = |said, asks: &Option<_>| {
            let asked = ask(function, "ask_ok", result, asks.as_ref()?);
            let said = Ident::new(said, Span::mixed_site());
            let about = generated!(&#ended, __retry::Said::#said, |#result| #asked);
            Some(self.call("ask_about", about))
        };
        let asks = model.until.is_some() || model.when_ok.is_some();
        let bare = (!asks && has_word(&function.output, "Response")).then(|| {
            let failing = generated!(__retry::OkValue::of(#result).failing(#result));
            let about = generated!(&#ended, __retry::Said::FailedValue, |#result| #failing);
            self.call("ask_about", about)
        });
        let of_error = |key, asked| self.call(key, generated!(&#ended, |#error| #asked));
        let checks = [
            of_ok("NotReady", &model.until),
            of_ok("FailedValue", &model.when_ok),
            bare,
            classifier::veto(function, model).map(|veto| of_error("unless", veto)),
        ];
        let checks = checks.into_iter().flatten();
        generated!(#(#checks;)*)
    }

    /// Ends the call with its result, or gives the instant of the next attempt.
    fn settled(&self) -> TokenStream {
        let (function, model, ended) = (self.function, self.model, self.blame("__ended"));
        let has_chain = item::may_be_kept(function);
        let ruling = classifier::ruling(function, model, has_chain);
        let keeps = match has_chain {
            // As a source of a `Stopped` too, if it can be one.
            true if model.prepares_with_error() && self.limited => generated!(__error.held()),
            _ if model.prepares_with_error() => generated!(__error.lent()),
            true if self.limited => generated!(__error.kept()),
            true if model.before_retry.is_some() => generated!(__error.last()),
            _ => generated!(__error.dropped()),
        };
        let judgement = generated! {
            __retry::Judgement { ruling: #ruling, words: __error.words(), keeps: #keeps }
        };
        let judge = generated!(|__error| #judgement);
        let hook = (model.on_retry.as_ref()).map(|hook| classifier::lent(function, hook));
        let asks = if let Some(delays) = &model.owned_delays {
            let of = operand(&delays.value);
            // This span puts "is not an iterator" on the value.
            let next =
                quote_spanned!(located(delays.span)=> ::core::iter::Iterator::next(&mut #of));
            Some(generated!((__retry::AsksDelay::NextDelay, |_| #next)))
        } else {
            model.retry_after.as_ref().map(|delay| {
                let asked = ask(function, "ask_delay", &generated!(__error), delay);
                let asked = generated!(|__error| __error.and_then(|__error| #asked));
                generated!((__retry::AsksDelay::RetryAfter, #asked))
            })
        };
        if hook.is_none() && asks.is_none() && classifier::captures_nothing(function, model) {
            // It takes only a judge that captures nothing, because functions can share the code behind it.
            return self.call("settle", generated!(#ended, #judge));
        }
        let nothing = || generated!((__retry::AsksDelay::Nothing, |_| __retry::None));
        let asks = asks.unwrap_or_else(nothing);
        let hook = hook.unwrap_or_else(|| generated!(|_| ()));
        self.call("settle_with", generated!(#ended, #judge, #asks, #hook))
    }

    /// Waits while the budget is in a pause: before each attempt, and before `before_retry`. Only a function whose attribute
    /// names a budget can have one with a pause. A call that is cancelled is so also if the pause does not fit its deadline.
    ///
    /// ```text
    /// Output: match call.pass_pause().await {
    ///             Ok(()) => (),
    ///             Err(cut) => return call.cut_between(cut),    // with limits
    ///         }
    /// ```
    fn pause(&self) -> Option<TokenStream> {
        self.model.budget.as_ref()?.value.expr()?;
        let (cut, passed) = (self.cut(), self.run("pass_pause", TokenStream::new()));
        Some(generated! {
            match #passed {
                __retry::Ok(()) => (),
                #cut
            }
        })
    }

    /// Runs `before_retry`, after the wait and before the attempt.
    ///
    /// ```text
    /// Output: let (before, _) = call.split();
    ///         match before.prepare(async { (CLOSURE)().await }).await {   // or before.prepare_blocking(|| { (CLOSURE)() })
    ///                   // or let (before, failed) = call.split(); before.prepare(async { async { let ERROR = failed; BODY }.await })
    ///             Ok(prepared) => {
    ///                 if let Some(result) = call.end_preparation(Prepared::into_error(prepared)) { return result; }
    ///             }
    ///             Err(cut) => return call.cut_between(cut),    // with limits
    ///         }
    /// ```
    fn before_retry(&self) -> Option<TokenStream> {
        let before_retry = self.model.before_retry.as_ref()?;
        let at = located(before_retry.span);
        let with_error = self.model.prepares_with_error();
        let mut work = match &before_retry.value {
            // The closure is taken apart. A function that calls an `AsyncFnOnce` with an argument has a future that cannot be spawned.
            Expr::Closure(closure) if with_error => {
                let (error, body) = (closure.inputs.first(), &closure.body);
                let typed = match &closure.output {
                    syn::ReturnType::Type(_, ty) => Some(body::typed_return(ty)),
                    syn::ReturnType::Default => None,
                };
                let typed = typed.map(|typed| generated!(if false { #typed }));
                let block = generated!({ #typed let #error = __failed; #body });
                match closure.asyncness {
                    Some(_) => generated!((async #block)),
                    None => generated!((|| #block)()),
                }
            }
            closure @ Expr::Closure(_) => generated!((#closure)()),
            future => operand(future),
        };
        if self.model.blocking.is_none() {
            work = generated!(#work.await);
        }
        // This span puts rustc's "gives …, expected `()` or a `Result`" on the value.
        let error = quote_spanned!(at=> __retry::Prepared::into_error(__prepared));
        let [before, work] = item::with_commits(work, false, true);
        let work = self.later(&generated!({ #before #work }), Span::mixed_site());
        let failed = with_error.then(|| generated!(__failed));
        let failed = failed.unwrap_or_else(|| generated!(_));
        let split = self.call("split", TokenStream::new());
        let preparation = self.run("prepare", work);
        let (cut, ended) = (self.cut(), self.call("end_preparation", error));
        Some(generated! {
            let (__before, #failed) = #split;
            match #preparation {
                __retry::Ok(__prepared) => {
                    if let __retry::Some(__result) = #ended {
                        return __result;
                    }
                }
                #cut
            }
        })
    }

    /// The end of a call that a limit has cut, if it has limits.
    fn cut(&self) -> Option<TokenStream> {
        let stopped = self.call("cut_between", generated!(__cut));
        let arm = generated!(__retry::Err(__cut) => return #stopped,);
        self.limited.then_some(arm)
    }

    /// ```text
    /// Output: match EXPR {
    ///             cancel => { let mut cancel = pin!(Cancels::into_future(cancel)); loop { … } }
    ///         }
    /// ```
    ///
    /// The expression runs once, before the first attempt. In an `async` block it would borrow all that it names,
    /// so that a method with `&mut self` could not use these. The `match` keeps the temporary values of the
    /// expression alive as long as the call.
    fn around(&self, turns: TokenStream) -> TokenStream {
        let Some(future) = self.cancel else {
            return turns;
        };
        let (name, future) = (self.cancel_name(), operand(future));
        let mut made = quote_spanned!(self.cancelled=> __retry::Cancels::into_future(#name));
        if self.model.cancel_waits.is_some() {
            // An attempt looks at it while it runs, and what follows looks at it again.
            made = generated!(__call.signal(#made));
        }
        generated! {
            match #future {
                #name => {
                    let mut #name = ::core::pin::pin!(#made);
                    #turns
                }
            }
        }
    }

    /// A block that runs when the call wants it: `async BLOCK`, or `|| BLOCK`.
    fn later(&self, block: &TokenStream, at: Span) -> TokenStream {
        if self.model.blocking.is_some() {
            quote_spanned!(at=> || #block)
        } else {
            quote_spanned!(at=> async #block)
        }
    }

    /// Runs a part of a call, such as an attempt or a wait, and gives its output. If the `cancel` future completes
    /// first, the call ends.
    ///
    /// ```text
    /// Output: call.attempt(async BODY).await
    ///         at.await                                      // the wait
    ///         call.attempt_blocking(|| BODY)
    ///         match unless(cancel.as_mut(), call.attempt(async BODY)).await {
    ///             Some(output) => output,
    ///             None => return call.cut_between(Cut::Cancelled),
    ///         }
    ///         match unless_blocking(cancel.as_mut(), || call.attempt_blocking(|| BODY)) { … }
    ///         match call.wait_blocking_unless(cancel.as_mut(), at) { … }
    /// ```
    fn run(&self, part: &str, of: impl ToTokens) -> TokenStream {
        let (owner, receiver) = match part {
            "prepare" => (generated!(__retry::Preparing), generated!(__before)),
            _ => (generated!(__retry::Call), generated!(&mut __call)),
        };
        let name = self.cancel_name();
        if self.model.blocking.is_some() {
            let method = |end| Ident::new(&format!("{part}_blocking{end}"), Span::mixed_site());
            let (plain, unless) = (method(""), method("_unless"));
            let run = generated!(#owner::#plain(#receiver, #of));
            return match part {
                _ if self.cancel.is_none() => run,
                // It ends a wait of the thread too.
                "pass_pause" | "wait" => self
                    .unless_cancelled(&generated!(#owner::#unless(#receiver, #name.as_mut(), #of))),
                _ => self.unless_cancelled(
                    &generated!(__retry::unless_blocking(#name.as_mut(), || #run)),
                ),
            };
        }
        let unless = match part {
            // An attempt that runs ends by itself.
            "attempt" | "race" if self.model.cancel_waits.is_some() => "unless_begun",
            _ => "unless",
        };
        let method = Ident::new(part, Span::mixed_site());
        let run = match part {
            "wait" => of.to_token_stream(),
            _ => generated!(#owner::#method(#receiver, #of)),
        };
        if self.cancel.is_none() {
            return generated!(#run.await);
        }
        let unless = Ident::new(unless, self.cancelled);
        self.unless_cancelled(
            &quote_spanned!(self.cancelled=> __retry::#unless(#name.as_mut(), #run).await),
        )
    }

    /// The output of a part, or the end of the call if that was cancelled before.
    fn unless_cancelled(&self, part: &TokenStream) -> TokenStream {
        let stopped = self.call("cut_between", generated!(__retry::Cut::Cancelled));
        generated! {
            match #part {
                __retry::Some(__output) => __output,
                __retry::None => return #stopped,
            }
        }
    }

    fn cancel_name(&self) -> Ident {
        Ident::new("__cancel", self.cancelled)
    }

    /// A name of generated code.
    fn blame(&self, text: &str) -> Ident {
        Ident::new(text, self.blamed)
    }

    /// Calls a method that makes, takes or reads the user's result, or a part of it.
    fn call(&self, method: &str, arguments: impl ToTokens) -> TokenStream {
        let method = self.blame(method);
        quote_spanned!(self.blamed=> __retry::Call::#method(&mut __call, #arguments))
    }
}
