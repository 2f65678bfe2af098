//! What a `cancel` future stops.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::names::Names;
use crate::model::Model;

/// How a part of a call is awaited: as it is, or unless the `cancel` future completes first.
pub(super) struct Cancel<'a> {
    name: Ident,
    future: Option<&'a Expr>,
}

impl<'a> Cancel<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let future = model.cancel.as_ref().map(|cancel| &cancel.value);
        // What is no future is blamed on the user's expression.
        let span = match future {
            Some(future) => Span::mixed_site().located_at(future.span()),
            None => Span::mixed_site(),
        };
        Self {
            name: Ident::new("__retry_cancel", span),
            future,
        }
    }

    /// ```text
    /// Output: match EXPR {
    ///             cancel => { let mut cancel = pin!(Cancels::into_future(cancel)); loop { … } }
    ///         }
    /// ```
    ///
    /// The expression runs once and at once: in an `async` block it would borrow all that it names,
    /// and a method by `&mut self` could not use that. In a `match`, so that what the expression makes
    /// on its way lives as long as the call.
    pub(super) fn around(&self, turns: TokenStream) -> TokenStream {
        let Self { name, future } = self;
        let Some(future) = future else { return turns };
        let made = quote_spanned!(name.span()=> __retry::Cancels::into_future(#name));
        quote_spanned! {Span::mixed_site()=>
            match #future {
                #name => {
                    let mut #name = ::core::pin::pin!(#made);
                    #turns
                }
            }
        }
    }

    /// The output of a part of a call. Where it is cancelled, the call ends.
    ///
    /// ```text
    /// Output: match unless(cancel.as_mut(), FUTURE).await {
    ///             Some(output) => output,
    ///             None => return call.stopped(&mut kept, call.cancelled()),
    ///         }
    /// ```
    pub(super) fn run(&self, future: &TokenStream, names: &Names) -> TokenStream {
        let name = &self.name;
        let plumbing = Span::mixed_site();
        if self.future.is_none() {
            return quote_spanned!(plumbing=> #future.await);
        }
        let output = Ident::new("__retry_output", plumbing);
        let cut = quote_spanned!(name.span()=> __retry::unless(#name.as_mut(), #future).await);
        let call = &names.call;
        let stopped = names.stopped(&quote_spanned!(plumbing=> #call.cancelled()));
        quote_spanned! {plumbing=>
            match #cut {
                __retry::Some(#output) => #output,
                __retry::None => return #stopped,
            }
        }
    }
}
