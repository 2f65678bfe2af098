//! The names that a pattern binds, and their types as far as the pattern shows them.

use proc_macro2::Ident;
use syn::{Attribute, FieldPat, Pat, Path, Type};

use super::types::{Indirection, indirection};
use crate::conditions;
use crate::paths::{peel_type, type_arguments};

/// The type that stands for a field of a pattern, if the pattern names the type of the argument: a `T` if that is the one
/// argument of the type, as in `Json(body): Json<T>`, else the type of the argument itself.
fn of_field<'a>(ty: Option<&'a Type>, path: &Path, field: &Pat) -> Option<&'a Type> {
    let Some(Type::Path(path_of_type)) = ty else {
        return None;
    };
    match (
        path_of_type.path.segments.last()?,
        path.segments.last()?,
        field,
    ) {
        (own, named, Pat::Ident(_)) if own.ident == named.ident => {
            match type_arguments(own).as_slice() {
                [extracted] => Some(extracted),
                _ => ty,
            }
        }
        _ => None,
    }
}

/// A name that was found in a pattern.
pub(super) struct Name<'p, 'a> {
    pub(super) ident: &'p Ident,
    pub(super) mutability: &'p mut Option<syn::Token![mut]>,
    pub(super) by_ref: bool,
    /// The attributes of the argument, and of the fields of the pattern around the name.
    pub(super) attributes: &'p [Attribute],
    /// Its type, as far as the argument shows it.
    pub(super) ty: Option<&'a Type>,
}

/// Calls `found` for each name that a pattern binds, and says whether each attempt binds one of them again, as `found`
/// says. `attributes` are those around the pattern.
pub(super) fn collect<'a>(
    pattern: &mut Pat,
    ty: Option<&'a Type>,
    attributes: &[Attribute],
    found: &mut dyn FnMut(Name<'_, 'a>) -> bool,
) -> bool {
    let ty = ty.map(peel_type);
    // Rust looks through the reference, and binds each part as a reference. In older editions, a `mut` binds the part itself.
    let is_lent = ty.and_then(indirection) == Some(Indirection::Mutable);
    let part = |inner: &Pat, known| match inner {
        Pat::Ident(inner) if is_lent && inner.mutability.is_some() => None,
        _ if is_lent => ty,
        _ => known,
    };
    let mut rebinds = false;
    match pattern {
        Pat::Ident(pattern) => {
            rebinds |= found(Name {
                ident: &pattern.ident,
                mutability: &mut pattern.mutability,
                by_ref: pattern.by_ref.is_some(),
                attributes,
                ty: ty.filter(|_| pattern.subpat.is_none()),
            });
            if let Some((_, inner)) = &mut pattern.subpat {
                rebinds |= collect(inner, None, attributes, found);
            }
        }
        Pat::Tuple(tuple) => {
            let types = match ty {
                Some(Type::Tuple(types)) if types.elems.len() == tuple.elems.len() => {
                    Some(&types.elems)
                }
                _ => None,
            };
            let has_rest = tuple.elems.iter().any(|it| matches!(it, Pat::Rest(_)));
            for (at, inner) in tuple.elems.iter_mut().enumerate() {
                let types = types.filter(|_| !has_rest);
                let known = part(inner, types.and_then(|types| types.get(at)));
                rebinds |= collect(inner, known, attributes, found);
            }
        }
        Pat::TupleStruct(tuple) => {
            for inner in &mut tuple.elems {
                let known = part(inner, of_field(ty, &tuple.path, inner));
                rebinds |= collect(inner, known, attributes, found);
            }
        }
        Pat::Struct(pattern) => {
            for FieldPat { attrs, pat, .. } in &mut pattern.fields {
                let known = part(pat, of_field(ty, &pattern.path, pat));
                let around = [attributes, attrs].concat();
                if collect(pat, known, &around, found) {
                    *attrs = without_expect(attrs);
                    rebinds = true;
                }
            }
        }
        Pat::Slice(slice) => {
            for inner in &mut slice.elems {
                let known = part(inner, None);
                rebinds |= collect(inner, known, attributes, found);
            }
        }
        Pat::Reference(reference) => {
            rebinds |= collect(&mut reference.pat, None, attributes, found);
        }
        Pat::Paren(paren) => rebinds |= collect(&mut paren.pat, ty, attributes, found),
        Pat::Type(typed) => rebinds |= collect(&mut typed.pat, ty, attributes, found),
        Pat::Or(or) => {
            // The alternatives bind the same names.
            if let Some(first) = or.cases.first_mut() {
                rebinds |= collect(first, None, attributes, found);
            }
        }
        _ => {}
    }
    rebinds
}

/// The attributes of an argument or a field that each attempt binds again. The binding of the attempt has the
/// `#[expect]`, because lints fire there.
pub(super) fn without_expect(attributes: &[Attribute]) -> Vec<Attribute> {
    conditions::only(attributes, |path| !path.is_ident("expect"))
}
