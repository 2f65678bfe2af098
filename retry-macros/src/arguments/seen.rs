//! The arguments as the body sees them: those of the signature, or the rebindings of a handmade future.

use syn::{Attribute, Pat, Receiver, ReceiverKind, Type};

use super::pattern::{Known, collect};
use crate::errors::{self, Errors};
use crate::future::{argument_named, is_named, typed_arguments};
use crate::item::Function;
use crate::model::Model;

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
    let signature = &function.signature;
    let block = function.block();
    let rebindings = block.map_or(&[][..], |block| &block.rebindings);
    let arguments = typed_arguments(signature).map(|typed| SeenArgument {
        seen: !rebindings
            .iter()
            .any(|rebinding| is_named(typed, &rebinding.argument)),
        attributes: &typed.attrs,
        pattern: (*typed.pat).clone(),
        ty: Some((*typed.ty).clone()),
        is_self: false,
    });
    let rebound = rebindings.iter().map(|rebinding| {
        let is_self = rebinding.argument == "self";
        let argument = argument_named(signature, &rebinding.argument);
        SeenArgument {
            seen: true,
            attributes: &rebinding.attributes,
            pattern: rebinding.pattern.clone(),
            ty: match argument {
                _ if is_self => signature.receiver().map(type_of_self),
                argument => argument.map(|typed| (*typed.ty).clone()),
            },
            is_self,
        }
    });
    arguments.chain(rebound).collect()
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
        let mut pattern = argument.pattern.clone();
        collect(&mut pattern, Known::Nothing, &[], &mut |name| {
            names.push(name.ident.clone());
            false
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
