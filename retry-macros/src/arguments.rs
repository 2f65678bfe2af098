//! How each attempt gets the arguments: every attempt starts from what the caller passed.
//!
//! `give` decides it from three things: what the type shows of an argument (`kind`), what the body does with it (`usage`), and
//! what the attempts are. It is the table of the page.
//!
//! An attempt captures a borrowed argument by *unique* reference, because of a `&mut` in a branch that is
//! never taken. `&mut T` is `Send` if `T` is. `&T` would need `T: Sync`, which the plain function does not.

mod give;
mod kind;
mod pattern;
mod plan;

use std::collections::HashMap;

use proc_macro2::Ident;
use quote::{ToTokens as _, quote};
use syn::{Expr, FnArg, Receiver, ReceiverKind, Type};

use self::give::{AttemptKind, Give, give};
use self::kind::Types;
use self::pattern::{Found, collect, without_expect};
pub(crate) use self::plan::Plan;
use crate::conditions::only;
use crate::errors::{At, Errors, item};
use crate::future::{self, name_of};
use crate::item::Function;
use crate::model::{Model, Spanned};
use crate::tokens::words;
use crate::usage::{self, assignment_to_self};

/// Plans the code for the arguments, and moves the `mut` of an argument to where it is needed.
pub(crate) fn plan(function: &mut Function, model: &Model, errors: &mut Errors) -> Plan {
    let mut signature = function.signature.clone();
    let block = function.block();
    let mut rebindings = block.map_or_else(Vec::new, |block| block.rebindings.clone());
    // The variables that a function binds before its handmade future exist once in a call, and the future may hand them over
    // like arguments.
    let mut locals = block.map_or_else(Vec::new, |block| block.locals.clone());
    let inputs = &signature.inputs;
    let names = quote!(#inputs #(#rebindings)* #(#locals)*);
    let body = block.map_or(&function.body, |block| &block.body);
    let budget = model.budget.as_ref().and_then(|budget| budget.value.expr());
    let delays = model.delays.as_ref().and_then(|delays| delays.value.expr());
    let others = model.cancels().into_iter().chain(&model.on_end);
    let held = others.map(|other| &other.value).chain(budget).chain(delays);
    let mentions = usage::read(words(&names), body, &quote!(#(#held)*));
    let attempts = match &model.blocking {
        Some(_) => AttemptKind::Closures,
        None if model.hedges() => AttemptKind::Pair,
        None => AttemptKind::Futures,
    };
    let bounds = Types::of(function);
    let mut plan = Plan::default();
    check_hooks(signature.receiver(), model, errors);
    let mut bind = |mut found: Found<'_, '_>, is_self: bool| {
        let mention = mentions.of(found.ident);
        let kind = bounds.kind(found.ty, is_self);
        let given = give(kind, mention, found.mutability.is_some(), attempts);
        let (name, at) = (found.ident.to_string(), found.ident.span());
        match given {
            Give::Hedged if is_self => errors.push(at, item::hedged_mutably("self", "&self")),
            Give::Hedged => errors.push(at, item::hedged_mutably(&name, "&T")),
            Give::Dropped => errors.push(mention.at.unwrap_or(at), item::dropped(&name)),
            Give::Returned => errors.push(At::of(&function.output), item::returns_a_loan(&name)),
            _ => {}
        }
        let again = plan.write(given, &mut found, mention, attempts);
        plan.rename_self |= again && name == "self";
        again
    };
    // A rebinding hides the argument that it names.
    let names = rebindings.iter().filter_map(future::rebound);
    let mut hidden: HashMap<_, _> = names.map(|name| (name.to_string(), None)).collect();
    for input in &mut signature.inputs {
        let (name, ty) = match &*input {
            FnArg::Receiver(this) => (Some("self".to_owned()), type_of_self(this)),
            FnArg::Typed(it) => (name_of(it).map(Ident::to_string), (*it.ty).clone()),
        };
        match (name.and_then(|name| hidden.get_mut(&name)), input) {
            (Some(place), _) => *place = Some(ty),
            (None, FnArg::Receiver(this)) => {
                let found = Found {
                    ident: &Ident::new("self", this.self_token.span),
                    attributes: &only(&this.attrs, KEPT),
                    ty: Some(&ty),
                    mutability: &mut this.mutability,
                };
                bind(found, true);
            }
            (None, FnArg::Typed(typed)) => {
                let attributes = &only(&typed.attrs, KEPT);
                let mut bind = |found: Found<'_, '_>| bind(found, false);
                if collect(&mut typed.pat, Some(&ty), attributes, &mut bind) {
                    without_expect(&mut typed.attrs);
                }
            }
        }
    }
    for binding in rebindings.iter_mut().chain(&mut locals) {
        let name = future::rebound(binding).map(Ident::to_string);
        let name = name.unwrap_or_default();
        let ty = hidden.get(&name).and_then(Option::as_ref);
        let attributes = &only(&binding.attrs, KEPT);
        let mut bind = |found: Found<'_, '_>| bind(found, name == "self");
        collect(&mut binding.pat, ty, attributes, &mut bind);
    }
    function.signature = signature;
    if let Some(block) = function.handmade.as_mut().and_then(|it| it.block.as_mut()) {
        block.rebindings = rebindings;
    }
    plan
}

/// The attributes of the argument that the binding of an attempt needs too: a `cfg` or the level of a lint.
const KEPT: &str = "cfg allow expect warn deny";

/// The type of `self`, written in full.
fn type_of_self(receiver: &Receiver) -> Type {
    match &receiver.kind {
        ReceiverKind::Reference(and, lifetime, mutability) => {
            syn::parse_quote!(#and #lifetime #mutability Self)
        }
        ReceiverKind::Typed(_, ty) => (**ty).clone(),
        _ => syn::parse_quote!(Self),
    }
}

/// Refuses an assignment to `self` in a hook that cannot change it.
fn check_hooks(receiver: Option<&Receiver>, model: &Model, errors: &mut Errors) {
    let is_shared = receiver.is_some_and(|it| matches!(it.kind, ReceiverKind::Reference(.., None)));
    let assigned =
        |hook: &Option<Spanned<Expr>>| assignment_to_self(hook.as_ref()?.value.to_token_stream());
    if let Some(at) = assigned(&model.on_retry).filter(|_| is_shared) {
        errors.push(at, item::on_retry_changes_self());
    }
    if let Some(at) = assigned(&model.on_end) {
        errors.push(at, item::on_end_changes_self());
    }
}
