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

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, Pat, Receiver, ReceiverKind, Type};

use crate::errors::{self, Errors};
use crate::future::Shape;
use crate::item::Function;
use crate::model::Model;
use crate::usage::{self, Usage};

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

/// A name that an argument binds.
struct Binding<'a> {
    ident: Ident,
    /// Bound with `mut`.
    mutable: Option<Span>,
    /// The type, where the name is the whole pattern.
    ty: Option<&'a Type>,
    is_self: bool,
    attributes: Vec<&'a Attribute>,
    usage: Usage,
}

/// What is done with one binding.
enum Treatment {
    Leave,
    /// Captured by unique reference.
    Borrow,
    /// `&mut T`: captured by reborrow.
    Reborrow {
        rebind: bool,
    },
    /// Cloned where possible.
    Choose,
    /// Cloned.
    Clone,
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
            };
            let treatment = treatment(&binding, function, model);
            let moves = matches!(treatment, Treatment::Clone | Treatment::Choose)
                || matches!(treatment, Treatment::Reborrow { rebind: true });
            if moves {
                // The binding in the attempt has the `mut`.
                *mutability = None;
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

fn body_of(function: &Function) -> &TokenStream {
    match function.handmade.as_ref().map(|handmade| &handmade.shape) {
        Some(Shape::Block { body, .. }) => body,
        _ => &function.body,
    }
}

struct Argument<'a> {
    /// Whether the body sees it under this name; an argument that is rebound it does not.
    seen: bool,
    attributes: &'a [Attribute],
    pattern: Pat,
    ty: Option<Type>,
    /// `self` under another name, which is never cloned.
    is_self: bool,
}

/// What the body sees as its arguments.
fn arguments_of(function: &Function) -> Vec<Argument<'_>> {
    let rebindings = match function.handmade.as_ref().map(|handmade| &handmade.shape) {
        Some(Shape::Block { rebindings, .. }) => rebindings.as_slice(),
        _ => &[],
    };
    let typed = function
        .signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        });
    let is_rebound = |pattern: &Pat| match pattern {
        Pat::Ident(pattern) => rebindings
            .iter()
            .any(|rebinding| rebinding.argument == pattern.ident),
        _ => false,
    };
    let mut arguments: Vec<_> = typed
        .map(|typed| Argument {
            seen: !is_rebound(&typed.pat),
            attributes: &typed.attrs,
            pattern: (*typed.pat).clone(),
            ty: Some((*typed.ty).clone()),
            is_self: false,
        })
        .collect();
    for rebinding in rebindings {
        let ty = function
            .signature
            .inputs
            .iter()
            .find_map(|input| match input {
                FnArg::Typed(typed) => match &*typed.pat {
                    Pat::Ident(pattern) if pattern.ident == rebinding.argument => {
                        Some((*typed.ty).clone())
                    }
                    _ => None,
                },
                FnArg::Receiver(receiver) if rebinding.argument == "self" => {
                    Some(type_of_self(receiver))
                }
                FnArg::Receiver(_) => None,
            });
        arguments.push(Argument {
            seen: true,
            attributes: &rebinding.attributes,
            pattern: rebinding.pattern.clone(),
            ty,
            is_self: rebinding.argument == "self",
        });
    }
    arguments
}

fn type_of_self(receiver: &Receiver) -> Type {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(_)) => syn::parse_quote!(&mut Self),
        ReceiverKind::Reference(..) => syn::parse_quote!(&Self),
        ReceiverKind::Typed(_, ty) => (**ty).clone(),
        _ => syn::parse_quote!(Self),
    }
}

fn treatment(binding: &Binding<'_>, function: &Function, model: &Model) -> Treatment {
    if binding.usage == Usage::Unmentioned {
        return Treatment::Leave;
    }
    if let Some(list) = &model.clone {
        return match (list.value.contains(&binding.ident), reference(binding.ty)) {
            (true, _) => Treatment::Clone,
            (false, Some(_)) => Treatment::Leave,
            (false, None) if binding.mutable.is_some() || binding.ty.is_none() => Treatment::Leave,
            (false, None) => Treatment::Borrow,
        };
    }
    match reference(binding.ty) {
        Some(true) => {
            let rebind = binding.mutable.is_some() || binding.usage >= Usage::Moved;
            if !rebind && function.output_may_borrow() {
                Treatment::Leave
            } else {
                Treatment::Reborrow { rebind }
            }
        }
        None if binding.is_self => Treatment::Borrow,
        Some(false) if binding.mutable.is_some() => Treatment::Clone,
        Some(false) => Treatment::Leave,
        None if binding.mutable.is_some() => Treatment::Clone,
        None if binding.usage == Usage::HandedOver && is_concrete(binding.ty, function) => {
            Treatment::Clone
        }
        None if binding.usage >= Usage::Moved => Treatment::Choose,
        // Whether a name out of a pattern holds a reference, nobody can see.
        None if binding.ty.is_none() => Treatment::Leave,
        None => Treatment::Borrow,
    }
}

/// Whether the type is written as a reference, and if so whether as `&mut`.
fn reference(ty: Option<&Type>) -> Option<bool> {
    match ty? {
        Type::Reference(reference) => Some(reference.mutability.is_some()),
        Type::Group(group) => reference(Some(&group.elem)),
        Type::Paren(paren) => reference(Some(&paren.elem)),
        _ => None,
    }
}

/// Whether a type has a name and no part that only the caller knows, so that "not `Clone`" is final.
fn is_concrete(ty: Option<&Type>, function: &Function) -> bool {
    let Some(Type::Path(path)) = ty else {
        return false;
    };
    let Some(first) = path.path.segments.first() else {
        return false;
    };
    let short = first.ident.to_string();
    let looks_generic = short.len() <= 2
        && short
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    path.qself.is_none()
        && !looks_generic
        && short != "Self"
        && !function.is_type_parameter(&first.ident)
        && path
            .path
            .segments
            .iter()
            .all(|segment| segment.arguments.is_none())
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
        Treatment::Reborrow { rebind: true } => plan.within.extend(quote_spanned! {plumbing=>
            #(#cfg)* let #mutability #name = &mut *#name;
        }),
        // Under its own name: a second one would be a second copy in the future.
        Treatment::Choose => plan.each.extend(quote_spanned! {plumbing=>
            #(#cfg)* let #mutability #name = #root::__private::Argument::new(&#name).for_each_attempt();
        }),
        Treatment::Clone => plan.each.extend(quote_spanned! {plumbing=>
            #(#cfg)* let #mutability #name = #root::__private::cloned(&#name);
        }),
    }
}

/// What becomes of `self`.
fn plan_self(
    function: &Function,
    model: &Model,
    body: &TokenStream,
    plan: &mut Plan,
    errors: &mut Errors,
) {
    let Some(FnArg::Receiver(receiver)) = function.signature.inputs.first() else {
        return;
    };
    let plumbing = Span::mixed_site().located_at(receiver.self_token.span);
    // As typed: `self` is found by its hygiene, as any local name is.
    let this = receiver.self_token;
    let by_value = match &receiver.kind {
        ReceiverKind::Value => true,
        ReceiverKind::Typed(_, ty) => {
            matches!(&**ty, Type::Path(path) if path.path.is_ident("Self")
                || path.path.segments.last().is_some_and(|last| last.ident == "Box"))
        }
        _ => false,
    };
    if let (true, Some(mutability), None) = (by_value, &receiver.mutability, &model.clone) {
        errors.push(mutability.span(), errors::item::mutable_self());
        return;
    }
    if usage::of("self", body) == Usage::Unmentioned {
        return;
    }
    if function.takes_mutable_self() {
        let renamed = Ident::new("__self", plumbing);
        if usage::in_move_block("self", body) {
            plan.rename_self = true;
            plan.within
                .extend(quote_spanned!(plumbing=> let #renamed = &mut *#this;));
        } else if !function.output_may_borrow() {
            plan.within
                .extend(quote_spanned!(plumbing=> if false { let _ = &mut *#this; }));
        }
    } else if by_value && receiver.mutability.is_none() {
        plan.mutable_self = true;
        plan.within
            .extend(quote_spanned!(plumbing=> if false { let _ = &mut #this; }));
    }
}

/// Refuses names in `clone(…)` that are no argument.
fn check_clone_list(
    arguments: &[Argument<'_>],
    function: &Function,
    model: &Model,
    errors: &mut Errors,
) {
    let Some(list) = &model.clone else { return };
    let mut names = Vec::new();
    for argument in arguments {
        collect(&mut argument.pattern.clone(), &mut |ident, _, _| {
            names.push(ident.clone())
        });
    }
    for wanted in &list.value {
        if wanted == "self" {
            errors.push(wanted.span(), errors::item::clone_of_self());
        } else if !names.contains(wanted) {
            let known: Vec<_> = names.iter().map(ToString::to_string).collect();
            errors.push(
                wanted.span(),
                errors::item::clone_of_unknown(wanted, &known, &function.signature.ident),
            );
        }
    }
}

/// Calls `found` for each name that a pattern binds, with its `mut` and whether it is bound by `ref`.
fn collect(pattern: &mut Pat, found: &mut dyn FnMut(&Ident, &mut Option<syn::Token![mut]>, bool)) {
    match pattern {
        Pat::Ident(pattern) => {
            found(
                &pattern.ident,
                &mut pattern.mutability,
                pattern.by_ref.is_some(),
            );
            if let Some((_, inner)) = &mut pattern.subpat {
                collect(inner, found);
            }
        }
        Pat::Tuple(tuple) => tuple
            .elems
            .iter_mut()
            .for_each(|inner| collect(inner, found)),
        Pat::TupleStruct(tuple) => tuple
            .elems
            .iter_mut()
            .for_each(|inner| collect(inner, found)),
        Pat::Struct(pattern) => {
            for field in &mut pattern.fields {
                collect(&mut field.pat, found);
            }
        }
        Pat::Slice(slice) => slice
            .elems
            .iter_mut()
            .for_each(|inner| collect(inner, found)),
        Pat::Reference(reference) => collect(&mut reference.pat, found),
        Pat::Paren(paren) => collect(&mut paren.pat, found),
        Pat::Type(typed) => collect(&mut typed.pat, found),
        Pat::Or(or) => {
            // The alternatives bind the same names.
            if let Some(first) = or.cases.first_mut() {
                collect(first, found);
            }
        }
        _ => {}
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
