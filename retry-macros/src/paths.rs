//! What paths and types show by their names.

use proc_macro2::Ident;
use syn::punctuated::Punctuated;
use syn::{
    GenericArgument, Path, PathArguments, PathSegment, Token, TraitBound, Type, TypeParamBound,
};

use crate::tokens::is_among;

/// Whether the last name of a path is one of these, which blanks separate.
pub(crate) fn ends_in(path: &Path, names: &str) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| is_among(&last.ident, names))
}

/// The last two names of a path: `Policy` and `new` of `reattempt::Policy::new`.
pub(crate) fn last_two(path: &Path) -> Option<[&Ident; 2]> {
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    let last = names.next()?;
    Some([names.next()?, last])
}

/// The type without parentheses and without the invisible groups of `macro_rules!`.
pub(crate) fn peel_type(ty: &Type) -> &Type {
    match ty {
        Type::Group(inner) => peel_type(&inner.elem),
        Type::Paren(inner) => peel_type(&inner.elem),
        _ => ty,
    }
}

/// The types between the angle brackets of a path, without lifetimes and constants.
pub(crate) fn type_arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// The `T` of an `Option<T>`, if this is the name.
pub(crate) fn inside<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    match ty {
        Type::Path(path) if ends_in(&path.path, name) => {
            type_arguments(path.path.segments.last()?).first().copied()
        }
        _ => None,
    }
}

/// The bounds of the trait object in `Box<dyn Trait>`.
pub(crate) fn boxed_bounds(ty: &Type) -> Option<&Punctuated<TypeParamBound, Token![+]>> {
    match inside(ty, "Box")? {
        Type::TraitObject(object) => Some(&object.bounds),
        _ => None,
    }
}

pub(crate) fn traits<'t>(
    bounds: impl IntoIterator<Item = &'t TypeParamBound>,
) -> impl Iterator<Item = &'t TraitBound> {
    bounds.into_iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(bound),
        _ => None,
    })
}
