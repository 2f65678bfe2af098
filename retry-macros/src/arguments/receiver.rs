//! How each attempt gets `self`.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote_spanned;
use syn::spanned::Spanned as _;
use syn::{ReceiverKind, Type};

use super::binding;
use super::binding::moved_fields;
use super::plan::{Plan, again};
use super::seen::type_of_self;
use super::types::{Indirection, indirection, is_counted};
use crate::conditions;
use crate::errors::{self, Errors};
use crate::item::Function;
use crate::model::Model;
use crate::paths::ends_in;
use crate::tokens::{is_punct, located};
use crate::usage::{self, Usage};

/// Plans how each attempt gets `self`.
pub(super) fn plan_self(
    function: &Function,
    model: &Model,
    body: &TokenStream,
    plan: &mut Plan,
    errors: &mut Errors,
) {
    let Some(receiver) = function.signature.receiver() else {
        return;
    };
    let plumbing = located(receiver.self_token.span);
    // The user's own token: rustc resolves `self` by its hygiene, as any local name.
    let this = receiver.self_token;
    let by_value = match &receiver.kind {
        ReceiverKind::Value => true,
        ReceiverKind::Typed(_, ty) => {
            matches!(&**ty, Type::Path(path) if path.path.is_ident("Self")
                || ends_in(&path.path, "Box"))
        }
        _ => false,
    };
    if let (true, Some(mutability), None) = (by_value, &receiver.mutability, &model.clone) {
        errors.push(mutability.span(), errors::item::mutable_self());
        return;
    }
    let uses = usage::read("self", body);
    if uses.usage == Usage::Unmentioned {
        return;
    }
    let held = binding::is_held("self", model);
    let cfg = conditions::only(&receiver.attrs, conditions::is_cfg);
    let ty = type_of_self(receiver);
    let mutability = &receiver.mutability;
    let is_counted = is_counted(&ty) && model.clone.is_none();
    let rebound =
        |value: TokenStream| quote_spanned!(plumbing=> #(#cfg)* let #mutability __self = #value;);
    let own = quote_spanned!(plumbing=> __retry::Argument::new(&#this).own());
    let mut lent = None;
    if indirection(&ty) == Some(Indirection::MutablePin) {
        plan.mutable_self = true;
        lent = Some(quote_spanned!(plumbing=> #this.as_mut()));
    } else if is_counted && mutability.is_some() {
        // Each attempt starts from the caller's value, as with any `mut` argument.
        plan.rebinds_self = true;
        lent = Some(own);
    } else if is_counted && uses.usage >= Usage::Moved {
        plan.rename_self = true;
        plan.each.extend(rebound(own));
    } else if function.takes_mutable_self() {
        if uses.in_move_block {
            lent = Some(quote_spanned!(plumbing=> &mut *#this));
        } else if !held
            && model.blocking.is_none()
            && !function.output_may_borrow_from(Some(&ty), true)
        {
            plan.never
                .extend(quote_spanned!(plumbing=> #(#cfg)* let _ = &mut *#this;));
        }
    } else if by_value && !held && mutability.is_none() {
        // A `move` block that hands nothing over, such as that of `#[instrument]`, gets a reference. If a pattern or
        // a method moves a field out of that reference, rustc reports it at the field.
        let lends = uses.in_move_block && uses.apart_from_moves < Usage::Moved
            || uses.usage < Usage::Moved
                && uses.fields.is_empty()
                && (uses.taken_apart || only_members(body));
        plan.never
            .extend(again(&moved_fields(uses, "self", body), None));
        plan.mutable_self = lends || model.blocking.is_none();
        if plan.mutable_self {
            plan.never
                .extend(quote_spanned!(plumbing=> #(#cfg)* let _ = &mut #this;));
        }
        lent = lends.then(|| quote_spanned!(plumbing=> &mut #this));
    }
    if let Some(value) = lent {
        plan.rename_self = true;
        plan.within.extend(rebound(value));
    }
}

/// Whether a body uses `self` only as `self.member`, so that a reference can replace it.
fn only_members(body: &TokenStream) -> bool {
    let mut tokens = body.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let fits = match token {
            TokenTree::Ident(word) if word == "self" => is_punct(tokens.peek(), "."),
            TokenTree::Group(group) => only_members(&group.stream()),
            // `"{self}"`, `"{self:?}"`.
            TokenTree::Literal(literal) => !literal.to_string().contains("{self"),
            TokenTree::Ident(_) | TokenTree::Punct(_) => true,
        };
        if !fits {
            return false;
        }
    }
    true
}
