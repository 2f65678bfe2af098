//! What becomes of each argument: every attempt starts from what the caller passed.
//!
//! ```text
//! never handed over whole     borrowed: the attempt captures it by unique reference
//! handed over                 cloned for each attempt if its type is `Clone`, else borrowed
//! `mut x: T`                  cloned, or refused
//! `x: &T`                     as it is: a copy of the reference
//! `x: &mut T`                 reborrowed
//! `clone(x)`                  cloned;  every other argument is then borrowed
//! ```
//!
//! A captured argument is captured by *unique* reference, through a borrow in a branch that is never
//! taken: `&mut T` may cross threads if `T` may, while `&T` asks `T: Sync`, which the plain function
//! does not.

mod binding;
mod receiver;
mod seen;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{FnArg, Pat};

use self::binding::{Binding, Treatment, treatment};
use self::receiver::plan_self;
use self::seen::{Argument, arguments_of, body_of, check_clone_list, collect};
use crate::errors::Errors;
use crate::item::Function;
use crate::model::Model;
use crate::usage;

/// The tokens that the arguments need around and within an attempt.
#[derive(Default)]
pub(crate) struct Plan {
    /// The arguments of the signature, or the rebindings of a handmade future.
    pub(crate) patterns: Vec<Pat>,
    /// Whether `self` needs `mut` in the signature.
    pub(crate) mutable_self: bool,
    /// In the loop, before each attempt.
    pub(crate) each: TokenStream,
    /// In the attempt, before the body.
    pub(crate) within: TokenStream,
    /// Whether `self` in the body is to be written `__self`.
    pub(crate) rename_self: bool,
}

pub(crate) fn plan(
    function: &Function,
    model: &Model,
    root: &TokenStream,
    errors: &mut Errors,
) -> Plan {
    let mut plan = Plan::default();
    let body = body_of(function);
    if function.handmade.is_none() {
        plan_self(function, model, body, &mut plan, errors);
    }
    let arguments = arguments_of(function);
    check_clone_list(&arguments, function, model, errors);
    for Argument {
        seen,
        attributes,
        mut pattern,
        ty,
        is_self,
    } in arguments
    {
        if !seen {
            plan.patterns.push(pattern);
            continue;
        }
        let whole = matches!(pattern, Pat::Ident(_));
        let known = if whole { ty.as_ref() } else { None };
        let mut bindings = Vec::new();
        collect(&mut pattern, &mut |ident, mutability, by_ref| {
            if by_ref {
                return;
            }
            let usage = usage::of(&ident.to_string(), body);
            let binding = Binding {
                ident: ident.clone(),
                mutable: mutability.as_ref().map(|token| token.span),
                ty: known,
                is_self,
                attributes: attributes
                    .iter()
                    .filter(|attribute| attribute.path().is_ident("cfg"))
                    .collect(),
                usage,
                held: binding::is_held(&ident.to_string(), model),
            };
            let treatment = treatment(&binding, function, model);
            // The binding in the attempt has the user's `mut`, which may be unused there.
            match treatment {
                Treatment::Clone | Treatment::Choose if binding.held => *mutability = None,
                Treatment::Clone | Treatment::Choose if mutability.is_some() => {
                    let plumbing = Span::mixed_site().located_at(ident.span());
                    *mutability = Some(syn::Token![mut](plumbing));
                }
                Treatment::Reborrow { rebind: true } => *mutability = None,
                _ => {}
            }
            bindings.push((binding, treatment));
        });
        for (binding, treatment) in &bindings {
            emit(binding, treatment, &mut pattern, whole, root, &mut plan);
        }
        plan.patterns.push(pattern);
    }
    plan
}

fn emit(
    binding: &Binding<'_>,
    treatment: &Treatment,
    pattern: &mut Pat,
    whole: bool,
    root: &TokenStream,
    plan: &mut Plan,
) {
    let name = &binding.ident;
    let cfg = &binding.attributes;
    let plumbing = Span::mixed_site().located_at(name.span());
    let mutability = binding.mutable.map(|span| quote_spanned!(span=> mut));
    // Under its own name: a second one would be a second copy in the future.
    let rebind = |value: TokenStream| {
        quote_spanned! {plumbing=>
            // These fire on a binding that has the user's name, and it has to have that name.
            #(#cfg)* #[allow(clippy::shadow_reuse, clippy::shadow_same)]
            let #mutability #name = #value;
        }
    };
    match treatment {
        Treatment::Leave => {}
        Treatment::Borrow => {
            if whole {
                if let Pat::Ident(pattern) = pattern {
                    if pattern.mutability.is_none() {
                        pattern.mutability = Some(syn::Token![mut](plumbing));
                    }
                }
            }
            plan.within.extend(quote_spanned! {plumbing=>
                #(#cfg)* if false { let _ = &mut #name; }
            });
        }
        Treatment::Reborrow { rebind: false } => plan.within.extend(quote_spanned! {plumbing=>
            #(#cfg)* if false { let _ = &mut *#name; }
        }),
        Treatment::Reborrow { rebind: true } => plan
            .within
            .extend(rebind(quote_spanned!(plumbing=> &mut *#name))),
        Treatment::Choose | Treatment::Clone => {
            let value = if matches!(treatment, Treatment::Choose) {
                quote_spanned!(plumbing=> #root::__private::Argument::new(&#name).for_each_attempt())
            } else {
                quote_spanned!(plumbing=> #root::__private::cloned(&#name))
            };
            if mutability.is_some() && !binding.held {
                // In the attempt, where rustc sees that a value is assigned and never read; captured
                // uniquely, since a shared reference would ask for `Sync`.
                plan.within.extend(quote_spanned! {plumbing=>
                    #(#cfg)* if false { let _ = &mut #name; }
                });
                plan.within.extend(rebind(value));
            } else {
                plan.each.extend(rebind(value));
            }
        }
    }
}

impl Plan {
    /// The signature's arguments with the patterns of the plan.
    pub(crate) fn apply(&self, function: &Function) -> syn::Signature {
        let mut signature = function.signature.clone();
        let mut patterns = self.patterns.iter();
        for input in &mut signature.inputs {
            match input {
                FnArg::Typed(typed) => {
                    if let Some(pattern) = patterns.next() {
                        *typed.pat = pattern.clone();
                    }
                }
                FnArg::Receiver(receiver) => {
                    if self.mutable_self {
                        let span = Span::mixed_site().located_at(receiver.self_token.span);
                        receiver.mutability = Some(syn::Token![mut](span));
                    }
                }
            }
        }
        signature
    }

    /// The patterns of a handmade future's rebindings.
    pub(crate) fn rebound<'a>(&'a self, function: &Function) -> impl Iterator<Item = &'a Pat> {
        let typed = function
            .signature
            .inputs
            .iter()
            .filter(|input| matches!(input, FnArg::Typed(_)));
        self.patterns.iter().skip(typed.count())
    }
}
