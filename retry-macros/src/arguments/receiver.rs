//! How each attempt gets `self`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Receiver, ReceiverKind};

use super::binding;
use super::plan::{Plan, again};
use super::seen::type_of_self;
use super::types::{Indirection, indirection, is_counted, is_self_by_value};
use crate::conditions;
use crate::errors::{self, Errors};
use crate::item::Function;
use crate::model::{Model, Spanned};
use crate::tokens::{self, is_import, is_punct, located};
use crate::usage::{self, MovedField, Usage, Uses, is_formatting};

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
    check_hooks(receiver, model, errors);
    let uses = usage::read("self", body);
    if uses.usage == Usage::Unmentioned {
        return;
    }
    let ty = type_of_self(receiver);
    let by_value = is_self_by_value(&ty);
    let indirection = indirection(&ty);
    let is_mutable = indirection == Some(Indirection::Mutable);
    let is_pinned = indirection == Some(Indirection::MutablePin);
    let may_borrow = || function.output_may_borrow_from(Some(&ty), true);
    if let (true, Some(at)) = (is_mutable, uses.result_borrows()) {
        if may_borrow() {
            errors.push(at, errors::item::result_borrows("self"));
            return;
        }
    }
    // Two attempts side by side share what they borrow, as a call does that holds a reference.
    if model.hedges() && (is_mutable || is_pinned) {
        let help = "take `&self`, and a lock or an atomic for what changes";
        errors.push(this.span, errors::item::hedged_mutably("self", help));
        return;
    }
    let held = binding::is_held("self", model) || model.hedges();
    let cfg = conditions::only(&receiver.attrs, conditions::is_cfg);
    let mutability = &receiver.mutability;
    let is_counted = is_counted(&ty) && model.clone.is_none();
    let rebound =
        |value: TokenStream| quote_spanned!(plumbing=> #(#cfg)* let #mutability __self = #value;);
    let own = quote_spanned!(plumbing=> __retry::Argument::new(&#this).own());
    // An attempt of a blocking function is a closure, which needs no unique capture.
    let captured = |this: TokenStream| {
        let captured = quote_spanned!(plumbing=> #(#cfg)* let _ = &mut #this;);
        Some(captured).filter(|_| model.blocking.is_none())
    };
    let is_cloned = by_value && mutability.is_none() && model.clone.is_none() && !has_items(body);
    let whole = uses.whole.filter(|_| is_cloned);
    let mut lent = None;
    if is_pinned {
        plan.mutable_self = true;
        lent = Some(quote_spanned!(plumbing=> #this.as_mut()));
    } else if let (true, Some(mutability), None) = (by_value, mutability, &model.clone) {
        let own = Ident::new("own_mut_self", located(mutability.span()));
        plan.mutable_self = true;
        plan.rebinds_self = true;
        // An attempt cannot capture uniquely what the call holds by reference.
        let unique = captured(quote_spanned!(plumbing=> #this));
        plan.never.extend(unique.filter(|_| !held));
        lent = Some(quote_spanned!(plumbing=> __retry::Argument::new(&#this).#own()));
    } else if is_counted && mutability.is_some() {
        // Each attempt starts from the caller's value, as with any `mut` argument.
        plan.rebinds_self = true;
        lent = Some(own);
    } else if is_counted && uses.usage >= Usage::Moved {
        plan.rename_self = true;
        if model.hedges() {
            lent = Some(plan.hand(&Ident::new("__self", plumbing), &cfg, &own));
        } else {
            plan.each.extend(rebound(own));
        }
    } else if is_mutable {
        // `let this = self;` would move the reference out of the call.
        if uses.in_move_block || uses.usage >= Usage::Moved && !may_borrow() {
            lent = Some(quote_spanned!(plumbing=> &mut *#this));
        } else if !held && model.blocking.is_none() && !may_borrow() {
            plan.never
                .extend(quote_spanned!(plumbing=> #(#cfg)* let _ = &mut *#this;));
        }
    } else if let Some(whole) = whole {
        let own = Ident::new("own_self", located(whole));
        plan.rename_self = true;
        let own = quote_spanned!(plumbing=> __retry::Argument::new(&#this).#own());
        if model.hedges() {
            lent = Some(plan.hand(&Ident::new("__self", plumbing), &cfg, &own));
        } else {
            plan.each
                .extend(quote_spanned!(plumbing=> #(#cfg)* let mut __self = #own;));
            plan.never
                .extend(captured(quote_spanned!(plumbing=> __self)));
        }
    } else if by_value && !held && mutability.is_none() {
        lent = lent_in_parts(&uses, body, receiver, model, plan);
    }
    if let Some(value) = lent {
        plan.rename_self = true;
        plan.within.extend(rebound(value));
    }
}

/// Plans a `self` by value of which the body uses parts. Returns what the attempt binds to it, if it binds it anew.
fn lent_in_parts(
    uses: &Uses,
    body: &TokenStream,
    receiver: &Receiver,
    model: &Model,
    plan: &mut Plan,
) -> Option<TokenStream> {
    let this = receiver.self_token;
    let plumbing = located(this.span);
    let cfg = conditions::only(&receiver.attrs, conditions::is_cfg);
    let (usage, fields) = (uses.usage, &uses.fields);
    let only_members = usage < Usage::Moved && only_members(body);
    if only_members && !fields.is_empty() && model.clone.is_none() {
        plan.mutable_self = true;
        plan.rename_self = true;
        let this = Ident::new("self", this.span);
        plan.each.extend(parts(&this, fields, &cfg));
        let captured = quote_spanned!(plumbing=> #(#cfg)* let _ = &mut __self;);
        plan.never
            .extend(Some(captured).filter(|_| model.blocking.is_none()));
        return None;
    }
    // A `move` block that hands nothing over, such as that of `#[instrument]`, gets a reference. If a pattern or
    // a method moves a field out of that reference, rustc reports it at the field.
    let lends = uses.in_move_block && uses.apart_from_moves < Usage::Moved
        || usage < Usage::Moved && fields.is_empty() && (uses.taken_apart || only_members);
    plan.never.extend(again(fields, None));
    plan.mutable_self = lends || model.blocking.is_none();
    if plan.mutable_self {
        plan.never
            .extend(quote_spanned!(plumbing=> #(#cfg)* let _ = &mut #this;));
    }
    lends.then(|| quote_spanned!(plumbing=> &mut #this))
}

/// Refuses an assignment to `self` in a hook that cannot change it.
fn check_hooks(receiver: &Receiver, model: &Model, errors: &mut Errors) {
    let is_shared = matches!(receiver.kind, ReceiverKind::Reference(_, _, None));
    let assigned = |hook: &Option<Spanned<Expr>>| {
        let hook = hook.as_ref()?.value.to_token_stream();
        usage::read("self", &hook).assigned
    };
    if let Some(at) = assigned(&model.on_retry).filter(|_| is_shared) {
        errors.push(at, errors::item::on_retry_changes_self());
    }
    if let Some(at) = assigned(&model.on_end) {
        errors.push(at, errors::item::on_end_changes_self());
    }
}

/// The `self` of an attempt whose body uses fields by value. If the body can take all of them through a reference, it gets
/// a unique reference, else a clone. A field that is moved out of a `self` that is not `Clone` is refused.
///
/// ```text
/// Output: if false { Argument::new(&self).spares(&self.field).again(); }
///         let left = Intact;
///         let left = left.with(Field::new(&self.field).left());
///         let mut parts = left.parts(&mut self);
///         let mut __self = parts.for_each_attempt();
/// ```
fn parts(this: &Ident, fields: &[MovedField], cfg: &[Attribute]) -> TokenStream {
    let plumbing = located(this.span());
    let again = again(fields, Some(this));
    let left = fields.iter().map(|MovedField { cfg, field }| {
        quote_spanned!(plumbing=> #(#cfg)* let __left = __left.with(__retry::Field::new(&#field).left());)
    });
    quote_spanned! {plumbing=>
        #(#cfg)* if false { #again }
        #(#cfg)* let __left = __retry::Intact;
        #(#left)*
        #(#cfg)* let mut __parts = __left.parts(&mut #this);
        #(#cfg)* let mut __self = __parts.for_each_attempt();
    }
}

/// Whether a body may have a `self` other than that of the function.
fn has_items(body: &TokenStream) -> bool {
    tokens::has_word(body, "fn impl macro_rules")
}

/// Whether a body uses `self` only as `self.member`, so that a reference can replace it.
fn only_members(body: &TokenStream) -> bool {
    let tokens: Vec<_> = body.clone().into_iter().collect();
    tokens.iter().enumerate().all(|(at, token)| match token {
        // `self.member`, and the module in `self::page`.
        TokenTree::Ident(word) if word == "self" => is_punct(tokens.get(at + 1), ".:"),
        TokenTree::Group(group) if is_formatting(&tokens, at) => {
            // The text gets an argument that stands for `self`.
            let texts = |token: &TokenTree| !matches!(token, TokenTree::Literal(_));
            only_members(&group.stream().into_iter().filter(texts).collect())
        }
        TokenTree::Group(group) => is_import(&tokens, at) || only_members(&group.stream()),
        // `"{self}"`, `"{self:?}"`.
        TokenTree::Literal(literal) => !literal.to_string().contains("{self"),
        TokenTree::Ident(_) | TokenTree::Punct(_) => true,
    })
}
