//! The arguments as the body sees them: those of the signature, or the rebindings of a handmade future.

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, Pat, Receiver, ReceiverKind, Type};

use super::pattern::{Known, collect};
use crate::errors::{self, Errors};
use crate::future::Shape;
use crate::item::Function;
use crate::model::Model;

pub(super) fn body_of(function: &Function) -> &TokenStream {
    match function.shape() {
        Some(Shape::Block { body, .. }) => body,
        _ => &function.body,
    }
}

pub(super) struct SeenArgument<'a> {
    /// Whether the body sees it under this name. A rebinding hides the argument that it names.
    pub(super) seen: bool,
    pub(super) attributes: &'a [Attribute],
    pub(super) pattern: Pat,
    pub(super) ty: Option<Type>,
    /// Whether it is `self` under another name.
    pub(super) is_self: bool,
}

/// The arguments as the body sees them.
pub(super) fn arguments_of(function: &Function) -> Vec<SeenArgument<'_>> {
    let rebindings = match function.shape() {
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
        .map(|typed| SeenArgument {
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
        arguments.push(SeenArgument {
            seen: true,
            attributes: &rebinding.attributes,
            pattern: rebinding.pattern.clone(),
            ty,
            is_self: rebinding.argument == "self",
        });
    }
    arguments
}

/// The type of `self`, written in full. A `&self` gives `&Self`, without the name of its lifetime.
pub(super) fn type_of_self(receiver: &Receiver) -> Type {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(_)) => syn::parse_quote!(&mut Self),
        ReceiverKind::Reference(..) => syn::parse_quote!(&Self),
        ReceiverKind::Typed(_, ty) => (**ty).clone(),
        _ => syn::parse_quote!(Self),
    }
}

/// Refuses each name in `clone(…)` that is not an argument.
pub(super) fn check_clone_list(
    arguments: &[SeenArgument<'_>],
    function: &Function,
    model: &Model,
    errors: &mut Errors,
) {
    let Some(list) = &model.clone else { return };
    let mut names = Vec::new();
    for argument in arguments {
        collect(&mut argument.pattern.clone(), Known::Nothing, &mut |name| {
            names.push(name.ident.clone());
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
