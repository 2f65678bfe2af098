//! The names that a pattern binds, and their types as far as the pattern shows them.

use proc_macro2::Ident;
use syn::{Attribute, Pat, Path, Token, Type};

use crate::paths::{peel_type, type_arguments};
use crate::tokens::has_word;

/// A name that was found in a pattern.
pub(super) struct Found<'p, 'a> {
    pub(super) ident: &'p Ident,
    pub(super) mutability: &'p mut Option<Token![mut]>,
    /// The attributes of the argument, and of the fields of the pattern around the name.
    pub(super) attributes: &'p [Attribute],
    /// Its type, as far as the argument shows it.
    pub(super) ty: Option<&'a Type>,
}

/// Calls `found` for each name that a pattern binds, except by `ref`, and says whether each attempt binds one of them again, as
/// `found` says. `attributes` are those around the pattern.
pub(super) fn collect<'a>(
    pattern: &mut Pat,
    ty: Option<&'a Type>,
    attributes: &[Attribute],
    found: &mut dyn FnMut(Found<'_, 'a>) -> bool,
) -> bool {
    let ty = ty.map(peel_type);
    // Rust looks through the reference, and binds each part as a reference. In older editions, a `mut` binds the part itself.
    let is_lent = matches!(ty, Some(Type::Reference(ty)) if ty.mutability.is_some());
    let known = |inner: &Pat, part| match inner {
        Pat::Ident(inner) if is_lent && inner.mutability.is_some() => None,
        _ if is_lent => ty,
        _ => part,
    };
    let mut rebinds = false;
    let mut parts: Vec<(&mut Pat, Option<&Type>)> = Vec::new();
    match pattern {
        Pat::Ident(name) => {
            rebinds = name.by_ref.is_none()
                && found(Found {
                    ident: &name.ident,
                    mutability: &mut name.mutability,
                    attributes,
                    ty: ty.filter(|_| name.subpat.is_none()),
                });
            parts.extend(name.subpat.as_mut().map(|(_, inner)| (&mut **inner, None)));
        }
        Pat::Tuple(tuple) => {
            let has_rest = tuple.elems.iter().any(|it| matches!(it, Pat::Rest(_)));
            let types = match ty {
                Some(Type::Tuple(types)) if !has_rest => Some(&types.elems),
                _ => None,
            };
            let part = |(at, inner)| (inner, types.and_then(|types| types.get(at)));
            parts.extend(tuple.elems.iter_mut().enumerate().map(part));
        }
        Pat::TupleStruct(tuple) => parts.extend(tuple.elems.iter_mut().map(|inner| {
            let ty = of_field(ty, &tuple.path, inner);
            (inner, ty)
        })),
        Pat::Struct(pattern) => {
            for field in &mut pattern.fields {
                let ty = known(&field.pat, of_field(ty, &pattern.path, &field.pat));
                let around = [attributes, &field.attrs].concat();
                if collect(&mut field.pat, ty, &around, found) {
                    without_expect(&mut field.attrs);
                    rebinds = true;
                }
            }
        }
        Pat::Slice(slice) => parts.extend(slice.elems.iter_mut().map(|inner| (inner, None))),
        Pat::Reference(reference) => {
            rebinds = collect(&mut reference.pat, None, attributes, found);
        }
        Pat::Paren(paren) => parts.push((&mut paren.pat, ty)),
        Pat::Type(typed) => parts.push((&mut typed.pat, ty)),
        // The alternatives bind the same names.
        Pat::Or(or) => parts.extend(or.cases.first_mut().map(|first| (first, None))),
        _ => {}
    }
    for (inner, part) in parts {
        let ty = known(inner, part);
        rebinds |= collect(inner, ty, attributes, found);
    }
    rebinds
}

/// The type that stands for a field of a pattern, if the pattern names the type of the argument: a `T` if that is the one
/// argument of the type, as in `Json(body): Json<T>`, else the type of the argument itself.
fn of_field<'a>(ty: Option<&'a Type>, path: &Path, field: &Pat) -> Option<&'a Type> {
    let (Some(Type::Path(named)), Pat::Ident(_)) = (ty, field) else {
        return None;
    };
    let own = named.path.segments.last()?;
    match type_arguments(own).as_slice() {
        _ if own.ident != path.segments.last()?.ident => None,
        [extracted] => Some(extracted),
        _ => ty,
    }
}

/// The attributes of an argument or a field that each attempt binds again. The binding of the attempt has the
/// `#[expect]`, because lints fire there.
pub(super) fn without_expect(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| !has_word(&attribute.meta, "expect"));
}
