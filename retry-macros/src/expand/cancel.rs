//! The code by which a `cancel` future stops a call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned as _;

use super::blame::Blame;
use crate::model::Model;
use crate::operand::operand;
use crate::tokens::{generated, located};

/// How a call runs a part of it, such as an attempt or a wait. It awaits the part until the `cancel` future
/// completes, if there is such a future. With `blocking` it calls the part.
pub(super) struct Cancel<'a> {
    model: &'a Model,
    name: Ident,
    future: Option<&'a Expr>,
}

impl<'a> Cancel<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let future = model.cancels().map(|cancel| &cancel.value);
        // With this span, rustc points at the user's expression if it is not a future.
        let span = future.map_or_else(Span::mixed_site, |future| located(future.span()));
        Self {
            model,
            name: Ident::new("__cancel", span),
            future,
        }
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
    pub(super) fn around(&self, turns: TokenStream) -> TokenStream {
        let Self { name, future, .. } = self;
        let Some(future) = future else { return turns };
        let future = operand(future);
        let mut made = quote_spanned!(name.span()=> __retry::Cancels::into_future(#name));
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
    pub(super) fn later(&self, block: &TokenStream, at: Span) -> TokenStream {
        if self.model.blocking.is_some() {
            quote_spanned!(at=> || #block)
        } else {
            quote_spanned!(at=> async #block)
        }
    }

    /// Runs a part of a call, such as an attempt, and gives its output. If the `cancel` future completes
    /// first, the call ends.
    ///
    /// ```text
    /// Output: call.attempt(async BODY).await
    ///         call.attempt_blocking(|| BODY)
    ///         match unless(cancel.as_mut(), call.attempt(async BODY)).await {
    ///             Some(output) => output,
    ///             None => return call.cut_between(Cut::Cancelled),
    ///         }
    /// ```
    pub(super) fn run(&self, part: &str, of: impl ToTokens, blame: Blame) -> TokenStream {
        if self.model.blocking.is_some() {
            let part = Ident::new(&format!("{part}_blocking"), Span::mixed_site());
            return generated!(__call.#part(#of));
        }
        let unless = match part {
            // An attempt that runs ends by itself.
            "attempt" | "race" if self.model.cancel_waits.is_some() => "unless_begun",
            _ => "unless",
        };
        let part = Ident::new(part, Span::mixed_site());
        self.awaited(unless, &generated!(__call.#part(#of)), blame)
    }

    /// Waits for the next attempt.
    pub(super) fn wait(&self, blame: Blame) -> TokenStream {
        if self.model.blocking.is_some() {
            return generated!(__call.wait_blocking(__at));
        }
        self.awaited("unless", &generated!(__at.wait()), blame)
    }

    /// Gives what is `known`, unless the `cancel` future has completed: then the call ends as cancelled.
    pub(super) fn before(&self, known: TokenStream, blame: Blame) -> TokenStream {
        if self.future.is_none() {
            return known;
        }
        self.awaited("unless", &generated!(::core::future::ready(#known)), blame)
    }

    fn awaited(&self, unless: &str, part: &TokenStream, blame: Blame) -> TokenStream {
        if self.future.is_none() {
            return generated!(#part.await);
        }
        let name = &self.name;
        let unless = Ident::new(unless, name.span());
        let cut = quote_spanned!(name.span()=> __retry::#unless(#name.as_mut(), #part).await);
        let stopped = blame.call("cut_between", generated!(__retry::Cut::Cancelled));
        generated! {
            match #cut {
                __retry::Some(__output) => __output,
                __retry::None => return #stopped,
            }
        }
    }
}
