//! The names that a pattern binds, and their types as far as the pattern shows them.

use proc_macro2::Ident;
use syn::{Attribute, FieldPat, Pat, Path, Type};

use super::types::{Indirection, indirection};
use crate::conditions;
use crate::item::{Function, mentions_lifetime};
use crate::paths::{peel_type, type_arguments};

/// What the argument's type shows of a part of its pattern.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    /// Its type, as written.
    Type(&'a Type),
    /// Bound by value: a field of a struct that the pattern takes apart.
    Owned,
    /// Bound as a `&mut`: a part of what a `&mut` argument refers to.
    Mutable,
    Nothing,
}

impl<'a> Known<'a> {
    pub(super) fn ty(self) -> Option<&'a Type> {
        match self {
            Self::Type(ty) => Some(ty),
            Self::Owned | Self::Mutable | Self::Nothing => None,
        }
    }

    pub(super) fn indirection(self) -> Option<Indirection> {
        match self {
            Self::Type(ty) => indirection(ty),
            Self::Mutable => Some(Indirection::Mutable),
            Self::Owned | Self::Nothing => None,
        }
    }

    /// Whether an attempt can capture the name by unique reference: its binding can be made `mut`, and
    /// the result does not borrow through it.
    pub(super) fn may_borrow_uniquely(self, function: &Function) -> bool {
        match self {
            Self::Type(_) => true,
            Self::Owned => !mentions_lifetime(&function.output),
            Self::Mutable | Self::Nothing => false,
        }
    }

    /// The field of a pattern. It is owned if the pattern names the type of the argument, and it is a `T` if that is the one
    /// argument of the type, as in `Json(body): Json<T>`.
    fn field(self, path: &Path, field: &Pat) -> Self {
        let Some(Type::Path(ty)) = self.ty().map(peel_type) else {
            return Self::Nothing;
        };
        match (ty.path.segments.last(), path.segments.last(), field) {
            (Some(ty), Some(named), Pat::Ident(_)) if ty.ident == named.ident => {
                match type_arguments(ty).as_slice() {
                    [extracted] => Self::Type(extracted),
                    _ => Self::Owned,
                }
            }
            _ => Self::Nothing,
        }
    }
}

/// A name that was found in a pattern.
pub(super) struct Name<'p, 'a> {
    pub(super) ident: &'p Ident,
    pub(super) mutability: &'p mut Option<syn::Token![mut]>,
    pub(super) by_ref: bool,
    /// The attributes of the argument, and of the fields of the pattern around the name.
    pub(super) attributes: &'p [Attribute],
    pub(super) known: Known<'a>,
}

/// Calls `found` for each name that a pattern binds, and says whether each attempt binds one of them again, as `found`
/// says. `attributes` are those around the pattern.
pub(super) fn collect<'a>(
    pattern: &mut Pat,
    known: Known<'a>,
    attributes: &[Attribute],
    found: &mut dyn FnMut(Name<'_, 'a>) -> bool,
) -> bool {
    let ty = known.ty().map(peel_type);
    // Rust looks through the reference, and binds each part as a reference.
    let parts = (known.indirection() == Some(Indirection::Mutable)).then_some(Known::Mutable);
    let mut rebinds = false;
    match pattern {
        Pat::Ident(pattern) => {
            let known = match known {
                _ if pattern.subpat.is_some() => Known::Nothing,
                // In older editions, such a `mut` binds the part itself.
                Known::Mutable if pattern.mutability.is_some() => Known::Nothing,
                known => known,
            };
            rebinds |= found(Name {
                ident: &pattern.ident,
                mutability: &mut pattern.mutability,
                by_ref: pattern.by_ref.is_some(),
                attributes,
                known,
            });
            if let Some((_, inner)) = &mut pattern.subpat {
                rebinds |= collect(inner, Known::Nothing, attributes, found);
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
                let ty = types.filter(|_| !has_rest);
                let ty = ty.and_then(|types| types.get(at));
                let known = ty.map_or(Known::Nothing, Known::Type);
                rebinds |= collect(inner, parts.unwrap_or(known), attributes, found);
            }
        }
        Pat::TupleStruct(tuple) => {
            for inner in &mut tuple.elems {
                let known = parts.unwrap_or_else(|| known.field(&tuple.path, inner));
                rebinds |= collect(inner, known, attributes, found);
            }
        }
        Pat::Struct(pattern) => {
            for FieldPat { attrs, pat, .. } in &mut pattern.fields {
                let known = parts.unwrap_or_else(|| known.field(&pattern.path, pat));
                let around = [attributes, attrs].concat();
                if collect(pat, known, &around, found) {
                    *attrs = without_expect(attrs);
                    rebinds = true;
                }
            }
        }
        Pat::Slice(slice) => {
            for inner in &mut slice.elems {
                rebinds |= collect(inner, parts.unwrap_or(Known::Nothing), attributes, found);
            }
        }
        Pat::Reference(reference) => {
            rebinds |= collect(&mut reference.pat, Known::Nothing, attributes, found);
        }
        Pat::Paren(paren) => rebinds |= collect(&mut paren.pat, known, attributes, found),
        Pat::Type(typed) => rebinds |= collect(&mut typed.pat, known, attributes, found),
        Pat::Or(or) => {
            // The alternatives bind the same names.
            if let Some(first) = or.cases.first_mut() {
                rebinds |= collect(first, Known::Nothing, attributes, found);
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
