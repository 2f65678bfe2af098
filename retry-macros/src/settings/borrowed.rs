//! `delays` and `budget`, which a call may borrow, and `idempotent`.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;

use super::{Sorted, duration, put};
use crate::constant::{is_letter, is_static};
use crate::model::{Spanned, Written};
use crate::operand::operand;
use crate::tokens::{generated, located};

/// The setter of the site, and the setter of a call.
type Setters = (Option<TokenStream>, Option<TokenStream>);

impl Sorted {
    pub(super) fn delays(&mut self, delays: Option<&Spanned<Written<Vec<Written<Duration>>>>>) {
        let Some(delays) = delays else { return };
        let (constant, list) = match &delays.value {
            Written::Fixed(elements) => {
                let list = elements.iter().map(|element| match element {
                    Written::Fixed(length) => duration(length),
                    Written::Expr(expr) => expr.to_token_stream(),
                });
                let mut expressions = elements.iter().filter_map(Written::expr);
                let constant = expressions.all(|expr| self.is_constant(expr));
                (constant, generated!([#(#list),*]))
            }
            Written::Expr(expr) => (false, operand(expr)),
        };
        if constant {
            self.constant
                .extend(generated!(.with_delays(const { &#list })));
            return;
        }
        let name = self.borrow("__delays", delays.span, delays.position, &list);
        let slice = quote_spanned!(name.span()=> __retry::DelaysOf::delays(#name));
        self.delays = Some(generated!(.with_delays(#slice)));
    }

    pub(super) fn budget(&mut self, budget: Option<&Spanned<Written<()>>>) -> Setters {
        let Some(budget) = budget else {
            return (None, None);
        };
        match &budget.value {
            Written::Fixed(()) => (Some(generated!(.with_budget(__retry::None))), None),
            Written::Expr(expr)
                if (is_static(expr) || is_letter(expr)) && !self.names_a_parameter(expr) =>
            {
                (Some(generated!(.with_budget(__retry::Some(&#expr)))), None)
            }
            Written::Expr(expr) => {
                let name = self.borrow("__budget", expr.span(), budget.position, &operand(expr));
                let of = quote_spanned!(name.span()=> __retry::BudgetOf::budget(#name));
                (None, Some(generated!(.with_budget(#of))))
            }
        }
    }

    /// Binds a reference to a value that the call borrows. Returns its name.
    fn borrow(&mut self, name: &str, at: Span, position: usize, value: &TokenStream) -> Ident {
        let name = Ident::new(name, located(at));
        let binding = generated!(let #name = &#value;);
        put(&mut self.borrowed, position, binding);
        name
    }
}

pub(super) fn idempotent(idempotent: Option<&Spanned<Written<bool>>>) -> Setters {
    match idempotent.map(|idempotent| &idempotent.value) {
        None => (None, None),
        Some(Written::Fixed(fixed)) => (Some(generated!(.with_idempotent(#fixed))), None),
        Some(Written::Expr(expr)) => {
            let setter = Ident::new("with_idempotent", located(expr.span()));
            (None, Some(generated!(.#setter(#expr))))
        }
    }
}
