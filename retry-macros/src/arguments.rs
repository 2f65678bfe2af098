//! How each attempt gets the arguments: every attempt starts from what the caller passed.
//!
//! ```text
//! never handed over whole     borrowed: the attempt captures it by unique reference
//! handed over                 cloned for each attempt if its type is `Clone`, else borrowed
//! `x: impl Into<X>`           converted before the first attempt if `X` is `Clone`, then cloned; so is an `Option` of it
//! `x: impl AsRef<U>`          lent as a `&U`, which needs no `Sync` of its own type
//! `mut x: T`                  cloned, or refused
//! `x: &T`                     as it is: a copy of the reference
//! `x: &mut T`                 reborrowed; so are `Option<&mut T>` and `Pin<&mut T>`
//! `x: F` with `F: FnMut()`    lent by `&mut`, also if it is `mut x: F`
//! `self`, handed over         cloned, or refused
//! `clone(x)`                  cloned;  every other argument is then borrowed
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

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Path};

use self::binding::{Binding, Treatment, treatment};
use self::pattern::{Known, collect};
pub(crate) use self::plan::Plan;
use self::plan::again;
use self::receiver::plan_self;
use self::seen::{SeenArgument, arguments_of, check_clone_list};
use self::types::{Lending, annotation};
use crate::conditions;
use crate::errors::{self, Errors};
use crate::item::Function;
use crate::model::Model;
use crate::tokens::{is_among, located};

pub(crate) fn plan(function: &Function, model: &Model, errors: &mut Errors) -> Plan {
    let mut plan = Plan::default();
    let body = function.block().map_or(&function.body, |block| &block.body);
    if function.handmade.is_none() {
        plan_self(function, model, body, &mut plan, errors);
    }
    let arguments = arguments_of(function);
    check_clone_list(&arguments, function, model, errors);
    let (mut cloned, mut dropped) = (Vec::new(), Vec::new());
    for SeenArgument {
        seen,
        attributes,
        mut pattern,
        ty,
        is_self,
    } in arguments
    {
        if !seen {
            plan.patterns.push((pattern, false));
            continue;
        }
        let known = ty.as_ref().map_or(Known::Nothing, Known::Type);
        let mut bindings = Vec::new();
        let rebinds = collect(&mut pattern, known, attributes, &mut |name| {
            if name.by_ref {
                return false;
            }
            let binding = Binding {
                mutable: name.mutability.as_ref().map(|token| token.span),
                is_self,
                attributes: conditions::only(name.attributes, is_kept),
                ..Binding::of(name.ident, name.known, body, function, model)
            };
            let treatment = treatment(&binding, function, model);
            if treatment.rebinds() {
                *name.mutability = None;
            }
            let cloned_within = binding.mutable.is_some()
                && !binding.held
                && !binding.blocking
                && !binding.hedged
                && matches!(treatment, Treatment::Choose | Treatment::Clone);
            if (treatment.needs_mut_outside() || cloned_within) && name.mutability.is_none() {
                let plumbing = located(name.ident.span());
                *name.mutability = Some(syn::Token![mut](plumbing));
            }
            bindings.push((binding, treatment));
            treatment.rebinds()
        });
        for (binding, treatment) in &bindings {
            if let Some(help) = treatment.of_one_attempt().filter(|_| binding.hedged) {
                let name = binding.ident.to_string();
                let at = binding.ident.span();
                errors.push(at, errors::item::hedged_mutably(&name, help));
                continue;
            }
            if let Some(at) = binding.returned {
                let name = binding.ident.to_string();
                errors.push(at, errors::item::result_borrows(&name));
            }
            if treatment.clones() && model.clone.is_none() {
                cloned.push(binding.ident.to_string());
                // `clone` cannot name `self`.
                let at = binding.uses.dropped.filter(|_| !binding.is_self);
                dropped.extend(at.map(|at| (at, binding.ident.to_string())));
            }
            emit(binding, *treatment, &mut plan);
        }
        plan.patterns.push((pattern, rebinds));
    }
    for (at, name) in dropped {
        errors.push(at, errors::item::dropped(&name, &cloned));
    }
    plan_locals(function, model, &mut plan);
    plan
}

/// Whether the binding of an attempt needs this attribute of the argument too: a `cfg` or the level of a lint.
fn is_kept(attribute: &Path) -> bool {
    let name = attribute.get_ident();
    name.is_some_and(|name| is_among(name, "cfg allow expect warn deny"))
}

/// Plans the variables that a function binds before its handmade future. They exist once in a call, and the
/// future may hand them over like arguments.
fn plan_locals(function: &Function, model: &Model, plan: &mut Plan) {
    let Some(block) = function.block() else {
        return;
    };
    for (attributes, name) in &block.locals {
        let binding = Binding {
            attributes: conditions::only(attributes, conditions::is_cfg),
            ..Binding::of(name, Known::Nothing, &block.body, function, model)
        };
        let treatment = treatment(&binding, function, model);
        emit(&binding, treatment, plan);
    }
}

fn emit(binding: &Binding<'_>, treatment: Treatment, plan: &mut Plan) {
    let name = &binding.ident;
    let attributes = &binding.attributes;
    let cfg = cfg_of(binding);
    let plumbing = located(name.span());
    let mut mutability = binding.mutable.map(|span| quote_spanned!(span=> mut));
    // These lints fire on a binding that has the user's name. With a `mut` of ours, clippy sees that the binding is
    // generated.
    let shadows = quote_spanned!(plumbing=> #[allow(clippy::shadow_reuse, clippy::shadow_same)]);
    let rebind = |mutability: Option<TokenStream>, shadows: Option<&_>, value| -> TokenStream {
        quote_spanned!(plumbing=> #(#attributes)* #shadows let #mutability #name #value;)
    };
    let value = match treatment {
        Treatment::Leave => return,
        Treatment::Borrow => {
            let again = binding.is_self.then(|| again(&binding.uses.fields, None));
            plan.never
                .extend(quote_spanned!(plumbing=> #again #(#cfg)* let _ = &mut #name;));
            return;
        }
        Treatment::Reborrow { rebind: false } => {
            plan.never
                .extend(quote_spanned!(plumbing=> #(#cfg)* let _ = &mut *#name;));
            return;
        }
        Treatment::Reborrow { rebind: true } => quote_spanned!(plumbing=> = &mut *#name),
        Treatment::ReborrowOption => match binding.known.ty().and_then(annotation) {
            None => quote_spanned!(plumbing=> = #name.as_deref_mut()),
            Some(ty) => quote_spanned! {plumbing=>
                : #ty = match #name {
                    __retry::Some(ref mut #name) => __retry::Some(&mut **#name),
                    __retry::None => __retry::None,
                }
            },
        },
        Treatment::ReborrowPin => quote_spanned!(plumbing=> = #name.as_mut()),
        Treatment::Lend => {
            // The body can call a `&mut F` in a variable without `mut`, so rustc would warn of each `mut` that the plain
            // function needs: `let mut f = f;`. The `mut` of the argument has a generated span, which has no warnings.
            plan.allowed = quote_spanned!(plumbing=> #[allow(unused_mut)]);
            mutability = mutability.map(|_| quote_spanned!(plumbing=> mut));
            quote_spanned!(plumbing=> = &mut #name)
        }
        Treatment::Choose
        | Treatment::ChooseByBound
        | Treatment::ChooseParts
        | Treatment::Convert
        | Treatment::Clone => {
            if treatment == Treatment::Convert {
                let target = &binding.converts_to;
                plan.before.extend(quote_spanned! {plumbing=>
                    #(#cfg)* let #name = __retry::Convert::<#target, _>::of(&#name).once(#name);
                });
            }
            let owned = matches!(treatment, Treatment::Clone | Treatment::Convert);
            if !owned && !binding.uses.fields.is_empty() {
                let again = again(&binding.uses.fields, Some(name));
                plan.each
                    .extend(quote_spanned!(plumbing=> #(#cfg)* if false { #again }));
            }
            let value = value(binding, treatment, plan);
            if binding.hedged {
                let taken = plan.hand(name, &cfg, &value);
                let taken = quote_spanned!(plumbing=> = #taken);
                plan.within
                    .extend(rebind(mutability, Some(&shadows), taken));
                return;
            }
            let value = quote_spanned!(plumbing=> = #value);
            if binding.blocking {
                let moved =
                    quote_spanned!(plumbing=> #(#cfg)* if false { __retry::handed_over(#name) });
                plan.each.extend(Some(moved).filter(|_| !binding.held));
            } else if mutability.is_none() || !binding.held {
                // An attempt that does not move the value, because it is `Copy` or only borrowed, captures it uniquely.
                plan.never
                    .extend(quote_spanned!(plumbing=> #(#cfg)* let _ = &mut #name;));
            }
            // The attempt binds a `mut` argument, so that rustc warns of a value that is assigned and never read. An
            // attempt that captures the binding holds one copy. If the attempt bound the name again, its future would
            // hold two.
            if mutability.is_none() || binding.held {
                let shadows = (mutability.is_some() || binding.blocking).then_some(&shadows);
                let unique = (!binding.blocking).then(|| quote_spanned!(plumbing=> mut));
                plan.each
                    .extend(rebind(mutability.or(unique), shadows, value));
                return;
            }
            value
        }
    };
    plan.within
        .extend(rebind(mutability, Some(&shadows), value));
}

fn cfg_of(binding: &Binding<'_>) -> Vec<Attribute> {
    conditions::only(&binding.attributes, conditions::is_cfg)
}

/// The value that each attempt gets for an argument that the body hands over.
fn value(binding: &Binding<'_>, treatment: Treatment, plan: &mut Plan) -> TokenStream {
    let name = &binding.ident;
    let plumbing = located(name.span());
    match (treatment, &binding.lending) {
        (Treatment::ChooseParts, _) => {
            let parts = Ident::new("__parts", Span::mixed_site());
            let cfg = cfg_of(binding);
            plan.each.extend(quote_spanned! {plumbing=>
                #(#cfg)* let mut #parts = __retry::Parts::new(&mut #name);
            });
            quote_spanned!(plumbing=> #parts.for_each_attempt())
        }
        // rustc uses the first method that fits: that of `Argument`, which clones; that of `Lent` by this
        // trait, which lends; that of `Unshared`, which refuses the argument.
        (Treatment::ChooseByBound, Lending::IfHeld(bounds)) => {
            quote_spanned! {plumbing=> {
                trait __RetryLends<'retry, T> {
                    fn own_or_lent(&self) -> &'retry T;
                }
                impl<'retry, T> __RetryLends<'retry, T> for __retry::Lent<'retry, T>
                where
                    &'retry T: #bounds
                {
                    fn own_or_lent(&self) -> &'retry T {
                        self.lend()
                    }
                }
                __retry::Argument::new(&#name).own_or_lent()
            }}
        }
        (Treatment::Choose, _) if binding.blocking => {
            quote_spanned!(plumbing=> __retry::Argument::new(&#name).on_this_thread())
        }
        (Treatment::Choose, _) => match &binding.seen_as {
            Some(target) => quote_spanned! {plumbing=>
                __retry::ArgumentAs::<#target, _>::new(&#name).for_each_attempt()
            },
            None => quote_spanned! {plumbing=>
                __retry::Argument::new(&#name).for_each_attempt()
            },
        },
        _ => {
            let own = match binding.uses.whole {
                Some(at) if binding.is_self => Ident::new("own_self", located(at)),
                _ => binding.own.clone(),
            };
            quote_spanned!(plumbing=> __retry::Argument::new(&#name).#own())
        }
    }
}
