//! The code that the arguments need around and within an attempt.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, FnArg, Pat};

use super::pattern::without_expect;
use crate::future::typed_arguments;
use crate::item::Function;
use crate::tokens::located;

/// The code that the arguments need around and within an attempt.
#[derive(Default)]
pub(crate) struct Plan {
    /// The arguments of the signature, or the rebindings of a handmade future; and whether each attempt has its own
    /// binding, with the `mut` and the lint levels.
    pub(super) patterns: Vec<(Pat, bool)>,
    /// Whether `self` needs `mut` in the signature.
    pub(crate) mutable_self: bool,
    /// Whether the `mut` of `self` moves to the binding of each attempt.
    pub(crate) rebinds_self: bool,
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
    /// Gives each of two attempts side by side a value of its own. An attempt is no `move` block, so it takes only a value that
    /// is not `Copy` with it: the attempt moves it out of a cell. Returns the code that does.
    ///
    /// ```text
    /// Output: let x = Cell::new(VALUE);       // before the attempt
    ///         x.into_inner()                  // in it
    /// ```
    pub(super) fn hand(
        &mut self,
        name: &Ident,
        cfg: &[Attribute],
        value: &TokenStream,
    ) -> TokenStream {
        let at = located(name.span());
        self.each
            .extend(quote_spanned!(at=> #(#cfg)* let #name = ::core::cell::Cell::new(#value);));
        quote_spanned!(at=> #name.into_inner())
    }

    /// The signature's arguments with the patterns of the plan.
    pub(crate) fn apply(&self, function: &Function) -> syn::Signature {
        let mut signature = function.signature.clone();
        let mut patterns = self.patterns.iter();
        for input in &mut signature.inputs {
            match input {
                FnArg::Typed(typed) => {
                    if let Some((pattern, rebinds)) = patterns.next() {
                        *typed.pat = pattern.clone();
                        if *rebinds {
                            typed.attrs = without_expect(&typed.attrs);
                        }
                    }
                }
                FnArg::Receiver(receiver) => {
                    if self.mutable_self {
                        let span = located(receiver.self_token.span);
                        receiver.mutability = Some(syn::Token![mut](span));
                    } else if self.rebinds_self {
                        receiver.mutability = None;
                    }
                }
            }
        }
        signature
    }

    /// The patterns of a handmade future's rebindings.
    pub(crate) fn rebound<'a>(&'a self, function: &Function) -> impl Iterator<Item = &'a Pat> {
        let arguments = typed_arguments(&function.signature);
        let rebound = self.patterns.iter().skip(arguments.count());
        rebound.map(|(pattern, _)| pattern)
    }
}
