//! The bounds of an argument's type, as far as the function shows them.

use proc_macro2::Ident;
use quote::{ToTokens, quote};
use syn::{Signature, TraitBound, Type, TypeParamBound, WherePredicate};

use crate::item::Function;
use crate::paths::{boxed_bounds, ends_in, peel_type, type_arguments};
use crate::tokens::{self, is_word};

/// Traits without methods, which say nothing of a value.
pub(super) const OF_EVERY_VALUE: &str = "Send Sync Unpin Sized UnwindSafe RefUnwindSafe";

/// The type `X` of an argument that the body can only convert into it: `impl Into<X>`, or `T: Into<X>` if nothing else
/// names `T`, or an `Option` of these.
pub(super) fn converts_to<'a>(ty: &'a Type, function: &'a Function) -> Option<&'a Type> {
    only_bound(in_option(ty).unwrap_or(ty), function, "Into")
}

/// The `T` of an `Option<T>`.
fn in_option(ty: &Type) -> Option<&Type> {
    match peel_type(ty) {
        Type::Path(path) if ends_in(&path.path, "Option") => {
            type_arguments(path.path.segments.last()?).first().copied()
        }
        _ => None,
    }
}

/// The type `U` of an argument that the body can only see as a `&U`: `impl AsRef<U>`, or `T: AsRef<U>` if nothing else
/// names `T`.
pub(super) fn seen_as<'a>(ty: &'a Type, function: &'a Function) -> Option<&'a Type> {
    only_bound(ty, function, "AsRef")
}

/// Whether the function shows all bounds of a type. A parameter of the `impl` around it may have others.
pub(super) fn shows_bounds(ty: &Type, function: &Function) -> bool {
    let parameter = match peel_type(ty) {
        Type::Path(path) => path.path.get_ident(),
        _ => None,
    };
    let mut declared = function.signature.generics.type_params();
    parameter.is_none_or(|name| declared.any(|it| it.ident == *name))
}

/// Whether one of these traits is among the written bounds of a type.
pub(super) fn has_bound(ty: &Type, function: &Function, traits: &str) -> bool {
    let mut bounds = traits_of(ty, function).into_iter();
    bounds.any(|bound| ends_in(&bound.path, traits))
}

/// The traits among the bounds of a type.
pub(super) fn traits_of<'a>(ty: &'a Type, function: &'a Function) -> Vec<&'a TraitBound> {
    let bounds = bounds_of(ty, function).into_iter();
    let traits = bounds.filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(bound),
        _ => None,
    });
    traits.collect()
}

/// The bounds of `impl Trait`, of `Box<dyn Trait>`, or of a type parameter of the function.
pub(super) fn bounds_of<'a>(ty: &'a Type, function: &'a Function) -> Vec<&'a TypeParamBound> {
    match peel_type(ty) {
        Type::ImplTrait(found) => found.bounds.iter().collect(),
        Type::TraitObject(found) => found.bounds.iter().collect(),
        Type::Path(path) => {
            let Some(name) = path.path.get_ident() else {
                return boxed_bounds(&path.path).map_or_else(Vec::new, Vec::from_iter);
            };
            let mut parameters = function.signature.generics.type_params();
            let parameter = parameters.find(|it| it.ident == *name);
            let mut bounds = parameter.map_or_else(Vec::new, |it| Vec::from_iter(&it.bounds));
            for clause in where_clauses(function) {
                match clause {
                    WherePredicate::Type(clause) if is_parameter(&clause.bounded_ty, name) => {
                        bounds.extend(&clause.bounds);
                    }
                    _ => {}
                }
            }
            bounds
        }
        _ => Vec::new(),
    }
}

/// Whether a bound on another type names a type parameter of the function, as `Config: From<S>` does.
pub(super) fn is_bound_elsewhere(name: &Ident, function: &Function) -> bool {
    let names = |bound: &dyn ToTokens| tokens::any_word(bound, &|word| word == name);
    let mut parameters = function.signature.generics.type_params();
    let mut clauses = where_clauses(function).into_iter();
    parameters.any(|it| it.ident != *name && names(it))
        || clauses.any(|clause| match clause {
            WherePredicate::Type(clause) if is_parameter(&clause.bounded_ty, name) => false,
            clause => names(clause),
        })
}

fn where_clauses(function: &Function) -> Vec<&WherePredicate> {
    let clause = function.signature.generics.where_clause.as_ref();
    clause.map_or_else(Vec::new, |clause| Vec::from_iter(&clause.predicates))
}

/// The `X` of a generic type whose bounds are `name<X>`, and traits without methods.
fn only_bound<'a>(ty: &'a Type, function: &'a Function, name: &str) -> Option<&'a Type> {
    let is_alone = match peel_type(ty) {
        Type::ImplTrait(_) => true,
        Type::Path(path) => {
            let name = path.path.get_ident()?;
            is_named_once(name, function)
        }
        _ => false,
    };
    let bounds = traits_of(ty, function).into_iter();
    let mut bounds = bounds.filter(|bound| !ends_in(&bound.path, OF_EVERY_VALUE));
    let bound = bounds.next().filter(|bound| ends_in(&bound.path, name))?;
    if !is_alone
        || !shows_bounds(ty, function)
        || bound.lifetimes.is_some()
        || bounds.next().is_some()
    {
        return None;
    }
    let target = *type_arguments(bound.path.segments.last()?).first()?;
    (!tokens::has_word(target, "impl")).then_some(target)
}

/// Whether only the type of one argument, and its bounds, name a type parameter of the function.
fn is_named_once(name: &Ident, function: &Function) -> bool {
    let Signature { inputs, output, .. } = &function.signature;
    let body = &function.body;
    let code = quote!(#inputs #output #body);
    let mentions = tokens::deep(&code).filter(|token| is_word(Some(token), &name.to_string()));
    mentions.count() == 1 && !is_bound_elsewhere(name, function)
}

fn is_parameter(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}
