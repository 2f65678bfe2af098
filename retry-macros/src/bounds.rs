//! What bounds a call from outside: its budget, the calls around it, and a `cancel` future.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::model::{Budget, Model, Word};

/// What comes after `Site::new(…)`.
///
/// ```text
/// Output: .with_budget(&PAYMENTS).with_nested(Nested::Outermost)
/// ```
pub(crate) fn setters(model: &Model, root: &TokenStream) -> TokenStream {
    let plumbing = Span::mixed_site();
    let budget = match model.budget.as_ref().map(|budget| &budget.value) {
        None => TokenStream::new(),
        Some(Budget::None) => quote_spanned!(plumbing=> .without_budget()),
        Some(Budget::Path(path)) => quote_spanned!(plumbing=> .with_budget(&#path)),
    };
    let nested = model.nested.as_ref().map(|nested| {
        let value = match &nested.value {
            Word::Variant(variant) => quote_spanned!(plumbing=> #root::Nested::#variant),
            Word::Expr(expr) => expr.to_token_stream(),
        };
        quote_spanned!(plumbing=> .with_nested(#value))
    });
    quote_spanned!(plumbing=> #budget #nested)
}

/// How a part of a call is awaited: as it is, or unless the `cancel` future completes first.
pub(crate) struct Cancel {
    name: Ident,
    future: Option<TokenStream>,
    private: TokenStream,
}

impl Cancel {
    pub(crate) fn new(model: &Model, private: &TokenStream) -> Self {
        let future = model
            .cancel
            .as_ref()
            .map(|cancel| cancel.value.to_token_stream());
        // What is no future is blamed on the user's expression.
        let blamed = future.as_ref().map(syn::spanned::Spanned::span);
        let span = Span::mixed_site();
        Self {
            name: Ident::new(
                "__retry_cancel",
                blamed.map_or(span, |blamed| span.located_at(blamed)),
            ),
            future,
            private: private.clone(),
        }
    }

    /// ```text
    /// Output: match EXPR {
    ///             cancel => { let mut cancel = pin!(cancel.into_future()); loop { … } }
    ///         }
    /// ```
    ///
    /// The expression runs once and at once: in an `async` block it would borrow all that it names,
    /// and a method by `&mut self` could not use that. In a `match`, so that what the expression makes
    /// on its way lives as long as the call.
    pub(crate) fn around(&self, turns: TokenStream) -> TokenStream {
        let Self { name, future, .. } = self;
        let Some(future) = future else { return turns };
        let made = quote_spanned!(name.span()=> ::core::future::IntoFuture::into_future(#name));
        quote_spanned! {Span::mixed_site()=>
            match #future {
                #name => {
                    let mut #name = ::core::pin::pin!(#made);
                    #turns
                }
            }
        }
    }

    /// The output of a part of a call. Where it is cancelled, the loop ends.
    ///
    /// ```text
    /// Output: match unless(cancel.as_mut(), FUTURE).await {
    ///             Some(output) => output,
    ///             None => break call.cancelled(),
    ///         }
    /// ```
    pub(crate) fn run(&self, future: &TokenStream, call: &Ident) -> TokenStream {
        let Self { name, private, .. } = self;
        let plumbing = Span::mixed_site();
        if self.future.is_none() {
            return quote_spanned!(plumbing=> #future.await);
        }
        let output = Ident::new("__retry_output", plumbing);
        let cut = quote_spanned! {name.span()=>
            #private::unless(#name.as_mut(), #future).await
        };
        quote_spanned! {plumbing=>
            match #cut {
                ::core::option::Option::Some(#output) => #output,
                ::core::option::Option::None => break #call.cancelled(),
            }
        }
    }
}
