//! The code that the arguments need around and within an attempt.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Token;

use super::give::{AttemptKind, Give};
use super::pattern::Found;
use crate::conditions::only;
use crate::tokens::located;
use crate::usage::Mention;

/// The code that the arguments need around and within an attempt.
#[derive(Default)]
pub(crate) struct Plan {
    /// The levels of lints that an attempt needs.
    pub(crate) allowed: TokenStream,
    /// Before the call begins.
    pub(crate) before: TokenStream,
    /// In the loop, before each attempt.
    pub(crate) each: TokenStream,
    /// In a branch of the attempt that is never taken: unique captures.
    pub(crate) never: TokenStream,
    /// In the attempt, before the body.
    pub(crate) within: TokenStream,
    /// Whether `self` in the body is to be written `__self`.
    pub(crate) rename_self: bool,
}

impl Plan {
    /// Writes what gives each attempt its own value or reference. Returns whether each attempt binds the name again. The `mut`
    /// and the lint levels of the argument then belong to that binding.
    pub(super) fn write(
        &mut self,
        give: Give,
        found: &mut Found<'_, '_>,
        mention: Mention,
        attempts: AttemptKind,
    ) -> bool {
        let (ident, attributes, mutable) = (found.ident, found.attributes, *found.mutability);
        let at = located(ident.span());
        let unique = Some(mutable.unwrap_or(Token![mut](at)));
        let renamed = (ident == "self").then(|| Ident::new("__self", at));
        let own = renamed.as_ref().unwrap_or(ident);
        let cfg = only(attributes, "cfg");
        // These lints fire on a binding that has the user's name.
        let shadows = quote_spanned!(at=> #[allow(clippy::shadow_reuse, clippy::shadow_same)]);
        let shadows = renamed.is_none().then_some(shadows);
        let captured = |place: TokenStream| quote_spanned!(at=> #(#cfg)* let _ = &mut #place;);
        let bind = |mutable: Option<Token![mut]>, value| quote_spanned!(at=> #(#attributes)* #shadows let #mutable #own = #value;);
        let mut rebound = |outer, inner, value| {
            self.within.extend(bind(inner, value));
            *found.mutability = outer;
            true
        };
        let method = match give {
            Give::AsIs | Give::Hedged | Give::Dropped | Give::Returned => return false,
            Give::Borrow => {
                self.never.extend(captured(quote!(#ident)));
                *found.mutability = unique;
                return false;
            }
            Give::BorrowTarget => {
                self.never.extend(captured(quote!(*#ident)));
                return false;
            }
            Give::Reborrow => return rebound(None, mutable, quote_spanned!(at=> &mut *#ident)),
            Give::ReborrowBy(method) => {
                let method = Ident::new(method, at);
                return rebound(unique, mutable, quote_spanned!(at=> #ident.#method()));
            }
            Give::Lend => {
                // The body can call a `&mut F` in a variable without `mut`, so rustc would warn of each `mut` that the plain
                // function needs: `let mut f = f;`.
                self.allowed = quote_spanned!(at=> #[allow(unused_mut)]);
                return rebound(unique, None, quote_spanned!(at=> &mut #ident));
            }
            Give::Convert(target) => {
                self.before.extend(quote_spanned! {at=>
                    #(#cfg)* #shadows let #ident = __retry::Convert::<#target, _>::of(&#ident).once(#ident);
                });
                Ident::new("own", at)
            }
            Give::Made(method) => Ident::new(method, at),
            Give::MadeOfSelf(method) => {
                let moved = mention.at.unwrap_or(at);
                Ident::new(method, located(mutable.map_or(moved, |it| it.span)))
            }
        };
        let value = quote_spanned!(at=> __retry::Argument::new(&#ident).#method());
        match (attempts, mutable) {
            // An attempt is no `move` block, so it takes only a value that is not `Copy` with it. It moves it out of a cell.
            (AttemptKind::Pair, _) => {
                let cell = quote_spanned!(at=> ::core::cell::Cell::new(#value));
                let cell = quote_spanned!(at=> #(#cfg)* #shadows let #own = #cell;);
                self.each.extend(cell);
                let value = quote_spanned!(at=> #own.into_inner());
                self.within.extend(bind(mutable, value));
            }
            (AttemptKind::Futures, None) => {
                // An attempt that does not move the value, because it is `Copy` or only borrowed, captures it uniquely.
                self.never.extend(captured(quote!(#own)));
                // With our own `mut`, clippy sees that the binding is generated.
                let made = quote_spanned!(at=> #(#attributes)* let mut #own = #value;);
                self.each.extend(made);
            }
            // The attempt binds a `mut` argument, so that rustc warns of a value that is assigned and never read. Any other
            // argument it captures: if it bound the name again, its future would hold two copies.
            (AttemptKind::Futures, Some(_)) if !mention.held => {
                self.never.extend(captured(quote!(#ident)));
                return rebound(unique, mutable, value);
            }
            _ => {
                let moved = quote_spanned!(at=> #(#cfg)* if false { __retry::handed_over(#ident) });
                self.each.extend((!mention.held).then_some(moved));
                self.each.extend(bind(mutable, value));
            }
        }
        *found.mutability = None;
        true
    }
}
