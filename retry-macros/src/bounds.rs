//! What bounds a call from outside: its budget, the calls around it, and a `cancel` future.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::model::{Budget, Model, Word};

/// The items that the site refers to, and how it does.
pub(crate) struct Bounds {
    pub(crate) items: TokenStream,
    /// What comes after `Site::new(…, &NOTED)`.
    pub(crate) setters: TokenStream,
}

/// ```text
/// Output: static NOTED: Once = Once::new();
///         static BUDGET: Budget = Budget::new();          // unless the attribute names one
///         … Site::new(…, &NOTED).with_budget(&BUDGET).with_nested(Nested::Outermost)
/// ```
pub(crate) fn bounds(model: &Model, root: &TokenStream) -> Bounds {
    let plumbing = Span::mixed_site();
    let own =
        quote_spanned!(plumbing=> static __RETRY_BUDGET: #root::Budget = #root::Budget::new(););
    let (budget_item, budget) = match model.budget.as_ref().map(|budget| &budget.value) {
        None => (
            own,
            quote_spanned!(plumbing=> .with_budget(&__RETRY_BUDGET)),
        ),
        Some(Budget::None) => (TokenStream::new(), TokenStream::new()),
        Some(Budget::Path(path)) => (
            TokenStream::new(),
            quote_spanned!(plumbing=> .with_budget(&#path)),
        ),
    };
    let nested = model.nested.as_ref().map(|nested| {
        let value = match &nested.value {
            Word::Variant(variant) => quote_spanned!(plumbing=> #root::Nested::#variant),
            Word::Expr(expr) => expr.to_token_stream(),
        };
        quote_spanned!(plumbing=> .with_nested(#value))
    });
    Bounds {
        items: quote_spanned! {plumbing=>
            static __RETRY_NOTED: ::std::sync::Once = ::std::sync::Once::new();
            #budget_item
        },
        setters: quote_spanned!(plumbing=> #budget #nested),
    }
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

    /// The output of a future that can be cut.
    pub(crate) fn run(&self, future: &TokenStream) -> TokenStream {
        let Self { name, private, .. } = self;
        match &self.future {
            None => quote_spanned!(Span::mixed_site()=> #future.await),
            Some(_) => quote_spanned! {name.span()=>
                #private::unless(#name.as_mut(), #future).await
            },
        }
    }

    /// The wait.
    ///
    /// ```text
    /// Output: match unless(cancel.as_mut(), wait.pause_to_cut()).await {
    ///             Ok(waited) => waited,
    ///             Err(cut) => return call.cut_short(cut, &mut memory),
    ///         }
    /// ```
    ///
    /// An error type that cannot be made from `Stopped` is told of once: with the span that `settle` has.
    pub(crate) fn pause(
        &self,
        wait: &Ident,
        call: &Ident,
        memory: &Ident,
        blamed: Span,
    ) -> TokenStream {
        let plumbing = Span::mixed_site();
        if self.future.is_none() {
            return quote_spanned!(plumbing=> #wait.pause().await);
        }
        let waiting = self.run(&quote_spanned!(plumbing=> #wait.pause_to_cut()));
        let cut_short = Ident::new("cut_short", blamed);
        let (waited, cut) = (
            Ident::new("__retry_waited", plumbing),
            Ident::new("__retry_cut", plumbing),
        );
        quote_spanned! {plumbing=>
            match #waiting {
                ::core::result::Result::Ok(#waited) => #waited,
                ::core::result::Result::Err(#cut) => return #call.#cut_short(#cut, &mut #memory),
            }
        }
    }
}
