//! How each attempt gets the arguments: every attempt starts from what the caller passed.
//!
//! ```text
//! only borrowed               borrowed: the attempt captures it by unique reference
//! handed over                 cloned for each attempt if its type is `Clone`, else borrowed or refused
//! `x: impl Into<X>`           converted before the first attempt if `X` is `Clone`, then cloned; so is an `Option` of it
//! `x: impl AsRef<U>`          lent as a `&U`, which needs no `Sync` of its own type
//! `mut x: T`                  cloned, or refused
//! `x: &T`                     as it is: a copy of the reference
//! `x: &mut T`                 reborrowed
//! `self`, handed over         cloned, or refused
//! ```
//!
//! An attempt captures a borrowed argument by *unique* reference, because of a `&mut` in a branch that is
//! never taken. `&mut T` is `Send` if `T` is. `&T` would need `T: Sync`, which the plain function does not.

mod binding;
mod bounds;
mod pattern;
mod plan;
mod receiver;
mod seen;
mod types;

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::Path;

use self::binding::{Binding, Seen, Treatment, treatment};
use self::pattern::collect;
pub(crate) use self::plan::Plan;
use self::receiver::plan_self;
use self::seen::{SeenArgument, arguments_of};
use crate::conditions;
use crate::errors::{self, Errors};
use crate::item::Function;
use crate::model::Model;
use crate::tokens::{is_among, located};

pub(crate) fn plan(function: &Function, model: &Model, errors: &mut Errors) -> Plan {
    let mut plan = Plan::default();
    let arguments = arguments_of(function);
    let names = names_of(&arguments, function);
    let seen = Seen::new(&names, function, model);
    if function.handmade.is_none() {
        plan_self(&seen, model, &mut plan, errors);
    }
    let mut dropped = Vec::new();
    for SeenArgument {
        seen: is_seen,
        attributes,
        mut pattern,
        ty,
        is_self,
    } in arguments
    {
        if !is_seen {
            plan.patterns.push((pattern, false));
            continue;
        }
        let mut bindings = Vec::new();
        let rebinds = collect(&mut pattern, ty.as_ref(), attributes, &mut |name| {
            if name.by_ref {
                return false;
            }
            let binding = Binding {
                mutable: name.mutability.as_ref().map(|token| token.span),
                is_self,
                attributes: conditions::only(name.attributes, is_kept),
                ..Binding::of(name.ident, name.ty, &seen, model)
            };
            let treatment = treatment(&binding, &seen);
            if treatment.rebinds() {
                *name.mutability = None;
            }
            let cloned_within = binding.mutable.is_some()
                && !(binding.held || binding.blocking || binding.hedged)
                && matches!(treatment, Treatment::Choose | Treatment::Own(_));
            let lent = matches!(
                treatment,
                Treatment::Borrow | Treatment::Lend | Treatment::ReborrowWithin(_)
            );
            if (lent || cloned_within) && name.mutability.is_none() {
                let plumbing = located(name.ident.span());
                *name.mutability = Some(syn::Token![mut](plumbing));
            }
            bindings.push((binding, treatment));
            treatment.rebinds()
        });
        for (binding, treatment) in &bindings {
            let is_mutable = matches!(
                treatment,
                Treatment::Reborrow { .. } | Treatment::ReborrowWithin(_) | Treatment::Lend
            );
            if binding.hedged && is_mutable {
                let help = "take `&T`, and a lock or an atomic for what changes";
                let message = errors::item::hedged_mutably(&binding.ident.to_string(), help);
                errors.push(binding.ident.span(), message);
                continue;
            }
            if treatment.clones() {
                let at = binding.uses.dropped.filter(|_| !binding.is_self);
                dropped.extend(at.map(|at| (at, binding.ident.to_string())));
            }
            emit(binding, *treatment, &mut plan);
        }
        plan.patterns.push((pattern, rebinds));
    }
    for (at, name) in dropped {
        errors.push(at, errors::item::dropped(&name));
    }
    plan_locals(&seen, model, &mut plan);
    plan
}

/// The names that the body may mention.
fn names_of(arguments: &[SeenArgument<'_>], function: &Function) -> Vec<String> {
    let mut names = vec!["self".to_owned()];
    for argument in arguments {
        let mut pattern = argument.pattern.clone();
        collect(&mut pattern, None, &[], &mut |name| {
            names.push(name.ident.to_string());
            false
        });
    }
    let block = function.block();
    let locals = block.into_iter().flat_map(|block| &block.locals);
    names.extend(locals.map(|(_, name)| name.to_string()));
    names
}

/// Whether the binding of an attempt needs this attribute of the argument too: a `cfg` or the level of a lint.
fn is_kept(attribute: &Path) -> bool {
    let name = attribute.get_ident();
    name.is_some_and(|name| is_among(name, "cfg allow expect warn deny"))
}

/// Plans the variables that a function binds before its handmade future. They exist once in a call, and the
/// future may hand them over like arguments.
fn plan_locals(seen: &Seen<'_>, model: &Model, plan: &mut Plan) {
    let Some(block) = seen.function.block() else {
        return;
    };
    for (attributes, name) in &block.locals {
        let binding = Binding {
            attributes: conditions::only(attributes, conditions::is_cfg),
            ..Binding::of(name, None, seen, model)
        };
        let treatment = treatment(&binding, seen);
        emit(&binding, treatment, plan);
    }
}

fn emit(binding: &Binding<'_>, treatment: Treatment, plan: &mut Plan) {
    let name = &binding.ident;
    let attributes = &binding.attributes;
    let cfg = conditions::only(attributes, conditions::is_cfg);
    let plumbing = located(name.span());
    let mutability = binding.mutable.map(|span| quote_spanned!(span=> mut));
    let captured = |place: TokenStream| quote_spanned!(plumbing=> #(#cfg)* let _ = &mut #place;);
    // These lints fire on a binding that has the user's name. With our own `mut`, clippy sees that the binding is
    // generated.
    let shadows = quote_spanned!(plumbing=> #[allow(clippy::shadow_reuse, clippy::shadow_same)]);
    let rebind = |mutability: Option<TokenStream>, shadows: Option<&_>, value| -> TokenStream {
        quote_spanned!(plumbing=> #(#attributes)* #shadows let #mutability #name = #value;)
    };
    let argument = quote_spanned!(plumbing=> __retry::Argument::new(&#name));
    let value = match treatment {
        Treatment::Leave => return,
        Treatment::Borrow => {
            return plan
                .never
                .extend(captured(quote_spanned!(plumbing=> #name)));
        }
        Treatment::Reborrow { rebind: false } => {
            return plan
                .never
                .extend(captured(quote_spanned!(plumbing=> *#name)));
        }
        Treatment::Reborrow { rebind: true } => {
            let value = quote_spanned!(plumbing=> &mut *#name);
            return plan
                .within
                .extend(rebind(mutability, Some(&shadows), value));
        }
        Treatment::ReborrowWithin(method) => {
            let method = Ident::new(method, plumbing);
            let value = quote_spanned!(plumbing=> #name.#method());
            return plan
                .within
                .extend(rebind(mutability, Some(&shadows), value));
        }
        Treatment::Lend => {
            // The body can call a `&mut F` in a variable without `mut`, so rustc would warn of each `mut` that the plain
            // function needs: `let mut f = f;`.
            plan.allowed = quote_spanned!(plumbing=> #[allow(unused_mut)]);
            let value = quote_spanned!(plumbing=> &mut #name);
            return plan.within.extend(rebind(None, Some(&shadows), value));
        }
        Treatment::Choose if binding.seen_as.is_some() => {
            let target = &binding.seen_as;
            quote_spanned!(plumbing=> __retry::LentAs::<#target>::new(&#name))
        }
        Treatment::Choose if binding.blocking => {
            quote_spanned!(plumbing=> #argument.on_this_thread())
        }
        Treatment::Choose => quote_spanned!(plumbing=> #argument.for_each_attempt()),
        Treatment::Convert => {
            let target = &binding.converts_to;
            plan.before.extend(quote_spanned! {plumbing=>
                #(#cfg)* let #name = __retry::Convert::<#target, _>::of(&#name).once(#name);
            });
            let own = binding.own("own");
            quote_spanned!(plumbing=> #argument.#own())
        }
        Treatment::Own(method) => {
            let own = binding.own(method);
            quote_spanned!(plumbing=> #argument.#own())
        }
    };
    if binding.hedged {
        let taken = plan.hand(name, &cfg, &value);
        return plan
            .within
            .extend(rebind(mutability, Some(&shadows), taken));
    }
    if binding.blocking {
        let moved = quote_spanned!(plumbing=> #(#cfg)* if false { __retry::handed_over(#name) });
        if !binding.held {
            plan.each.extend(moved);
        }
    } else if mutability.is_none() || !binding.held {
        // An attempt that does not move the value, because it is `Copy` or only borrowed, captures it uniquely.
        plan.never
            .extend(captured(quote_spanned!(plumbing=> #name)));
    }
    // The attempt binds a `mut` argument, so that rustc warns of a value that is assigned and never read. An
    // attempt that captures the binding holds one copy. If the attempt bound the name again, its future would
    // hold two.
    if mutability.is_none() || binding.held {
        let shadows = (mutability.is_some() || binding.blocking).then_some(&shadows);
        let unique = (!binding.blocking).then(|| quote_spanned!(plumbing=> mut));
        plan.each
            .extend(rebind(mutability.or(unique), shadows, value));
    } else {
        plan.within
            .extend(rebind(mutability, Some(&shadows), value));
    }
}
