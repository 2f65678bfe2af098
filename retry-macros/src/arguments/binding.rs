//! What is done with one name that an argument binds.

use proc_macro2::{Ident, Span};
use quote::ToTokens as _;
use syn::{Attribute, Type};

use crate::item::Function;
use crate::model::Model;
use crate::usage::{self, Usage};

/// A name that an argument binds.
pub(super) struct Binding<'a> {
    pub(super) ident: Ident,
    /// Bound with `mut`.
    pub(super) mutable: Option<Span>,
    /// The type, where the name is the whole pattern.
    pub(super) ty: Option<&'a Type>,
    pub(super) is_self: bool,
    pub(super) attributes: Vec<&'a Attribute>,
    pub(super) usage: Usage,
    /// Whether the `cancel` future may hold a reference to it, all the time that attempts run.
    pub(super) held: bool,
}

/// What is done with one binding.
pub(super) enum Treatment {
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

pub(super) fn treatment(binding: &Binding<'_>, function: &Function, model: &Model) -> Treatment {
    if binding.usage == Usage::Unmentioned {
        return Treatment::Leave;
    }
    if let Some(list) = &model.clone {
        return match (list.value.contains(&binding.ident), reference(binding.ty)) {
            (true, _) => Treatment::Clone,
            (false, Some(_)) => Treatment::Leave,
            (false, None) if binding.mutable.is_some() || binding.ty.is_none() => Treatment::Leave,
            (false, None) => Treatment::Borrow.unless_held(binding),
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
        None if binding.is_self => Treatment::Borrow.unless_held(binding),
        _ if binding.mutable.is_some() => Treatment::Clone,
        Some(false) => Treatment::Leave,
        None if binding.usage == Usage::HandedOver && is_concrete(binding.ty, function) => {
            Treatment::Clone
        }
        None if binding.usage >= Usage::Moved => Treatment::Choose,
        // Whether a name out of a pattern holds a reference, nobody can see.
        None if binding.ty.is_none() => Treatment::Leave,
        None => Treatment::Borrow.unless_held(binding),
    }
}

impl Treatment {
    /// What is held by reference cannot be captured uniquely.
    fn unless_held(self, binding: &Binding<'_>) -> Self {
        if binding.held { Self::Leave } else { self }
    }
}

/// Whether the `cancel` future may hold a reference to the argument of this name.
pub(super) fn is_held(name: &str, model: &Model) -> bool {
    model.cancel.as_ref().is_some_and(|cancel| {
        let cancel = cancel.value.to_token_stream();
        usage::of(name, &cancel) != Usage::Unmentioned
    })
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
