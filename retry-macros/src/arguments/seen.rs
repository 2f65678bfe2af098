//! The arguments as the body sees them: those of the signature, or the rebindings of a handmade future.

use std::collections::{HashMap, HashSet};

use syn::{Attribute, Pat, Receiver, ReceiverKind, Type};

use crate::future::{name_of, typed_arguments};
use crate::item::Function;

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
    let named: HashMap<_, _> = typed_arguments(signature)
        .filter_map(|typed| Some((name_of(typed)?, typed)))
        .collect();
    let hidden: HashSet<_> = rebindings.iter().map(|it| &it.argument).collect();
    let arguments = typed_arguments(signature).map(|typed| SeenArgument {
        seen: !name_of(typed).is_some_and(|name| hidden.contains(name)),
        attributes: &typed.attrs,
        pattern: (*typed.pat).clone(),
        ty: Some((*typed.ty).clone()),
        is_self: false,
    });
    let rebound = rebindings.iter().map(|rebinding| {
        let is_self = rebinding.argument == "self";
        let argument = named.get(&rebinding.argument);
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
