//! How each attempt gets `self`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, Receiver, ReceiverKind};

use super::binding::Seen;
use super::plan::Plan;
use super::seen::type_of_self;
use super::types::{Indirection, indirection};
use crate::conditions;
use crate::errors::{self, Errors};
use crate::model::{Model, Spanned};
use crate::tokens::located;
use crate::usage::{self, Usage};

/// Plans how each attempt gets `self`.
pub(super) fn plan_self(seen: &Seen<'_>, model: &Model, plan: &mut Plan, errors: &mut Errors) {
    let Some(receiver) = seen.function.signature.receiver() else {
        return;
    };
    let plumbing = located(receiver.self_token.span);
    // The user's own token: rustc resolves `self` by its hygiene, as any local name.
    let this = receiver.self_token;
    check_hooks(receiver, model, errors);
    let uses = seen.body.of_self();
    let ty = type_of_self(receiver);
    let indirection = indirection(&ty);
    if uses.usage == Usage::Unmentioned || indirection == Some(Indirection::Shared) {
        return;
    }
    let is_mutable = indirection == Some(Indirection::Mutable);
    let pinned = matches!(indirection, Some(Indirection::Within(_)));
    // Two attempts side by side share what they borrow, as a call does that holds a reference.
    if model.hedges() && (is_mutable || pinned) {
        let help = "take `&self`, and a lock or an atomic for what changes";
        errors.push(this.span, errors::item::hedged_mutably("self", help));
        return;
    }
    let is_held = seen.held.of_self().usage != Usage::Unmentioned;
    let shares = is_held || model.hedges() || model.blocking.is_some();
    let may_borrow = || seen.function.output_may_borrow_from(Some(&ty), true);
    let is_moved = uses.usage == Usage::Moved;
    let cfg = conditions::only(&receiver.attrs, conditions::is_cfg);
    let mutability = &receiver.mutability;
    let captured = |place: TokenStream| {
        if shares {
            return TokenStream::new();
        }
        quote_spanned!(plumbing=> #(#cfg)* let _ = &mut #place;)
    };
    let own = |method, at| {
        let own = Ident::new(method, located(at));
        quote_spanned!(plumbing=> __retry::Argument::new(&#this).#own())
    };
    let rebound = |value| quote_spanned!(plumbing=> #(#cfg)* let #mutability __self = #value;);
    if is_mutable {
        // `let this = self;` would move the reference out of the call.
        if uses.in_move_block || uses.is_reborrowed() && !may_borrow() {
            plan.rename_self = true;
            plan.within
                .extend(rebound(quote_spanned!(plumbing=> &mut *#this)));
        } else if !may_borrow() {
            plan.never
                .extend(captured(quote_spanned!(plumbing=> *#this)));
        }
        return;
    }
    if pinned {
        plan.mutable_self = true;
        plan.rename_self = true;
        plan.within
            .extend(rebound(quote_spanned!(plumbing=> #this.as_mut())));
        return;
    }
    let value = match (mutability, uses.handed_over.or(uses.moved_in)) {
        // Each attempt starts from the caller's value, as with any `mut` argument.
        (Some(mutability), _) => {
            plan.mutable_self = !shares;
            plan.rebinds_self = true;
            plan.rename_self = true;
            plan.never
                .extend(captured(quote_spanned!(plumbing=> #this)));
            let value = own("own_mut_self", mutability.span());
            plan.within.extend(rebound(value));
            return;
        }
        (None, Some(at)) => Some(own("own_self", at)),
        (None, None) if is_moved && shares => {
            Some(quote_spanned!(plumbing=> __retry::Argument::new(&#this).for_each_attempt()))
        }
        // A field that is moved out of a `self` that is not `Clone` is refused by rustc.
        (None, None) if is_moved => {
            plan.mutable_self = true;
            plan.each
                .extend(quote_spanned!(plumbing=> #(#cfg)* let mut __parts = __retry::Parts::new(&mut #this);));
            Some(quote_spanned!(plumbing=> __parts.for_each_attempt()))
        }
        (None, None) => None,
    };
    let Some(value) = value else {
        plan.mutable_self |= !shares;
        plan.never
            .extend(captured(quote_spanned!(plumbing=> #this)));
        return;
    };
    plan.rename_self = true;
    if model.hedges() {
        let value = plan.hand(&Ident::new("__self", plumbing), &cfg, &value);
        plan.within.extend(rebound(value));
    } else {
        plan.each
            .extend(quote_spanned!(plumbing=> #(#cfg)* let mut __self = #value;));
        plan.never
            .extend(captured(quote_spanned!(plumbing=> __self)));
    }
}

/// Refuses an assignment to `self` in a hook that cannot change it.
fn check_hooks(receiver: &Receiver, model: &Model, errors: &mut Errors) {
    let is_shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    let assigned = |hook: &Option<Spanned<Expr>>| {
        let hook = hook.as_ref()?.value.to_token_stream();
        usage::read(["self".to_owned()], &hook).of_self().assigned
    };
    if let Some(at) = assigned(&model.on_retry).filter(|_| is_shared) {
        errors.push(at, errors::item::on_retry_changes_self());
    }
    if let Some(at) = assigned(&model.on_end) {
        errors.push(at, errors::item::on_end_changes_self());
    }
}
