//! The names that a pattern binds, and their types as far as the pattern shows them.

use proc_macro2::Ident;
use syn::{FieldPat, Pat, Path, Type};

use crate::item::Function;

/// What the argument's type shows of a part of its pattern.
#[derive(Clone, Copy)]
pub(super) enum Known<'a> {
    /// Its type, as written.
    Type(&'a Type),
    /// Bound by value: a field of a struct that the pattern takes apart.
    Owned,
    Nothing,
}

impl<'a> Known<'a> {
    pub(super) fn ty(self) -> Option<&'a Type> {
        match self {
            Self::Type(ty) => Some(ty),
            Self::Owned | Self::Nothing => None,
        }
    }

    /// Whether an attempt can capture the name by unique reference: its binding can be made `mut`, and
    /// the result does not borrow through it.
    pub(super) fn may_borrow_uniquely(self, function: &Function) -> bool {
        match self {
            Self::Type(_) => true,
            Self::Owned => !function.output_may_borrow(),
            Self::Nothing => false,
        }
    }

    /// The same, with the type taken out of parentheses and invisible groups.
    fn bare(self) -> Self {
        match self {
            Self::Type(Type::Group(group)) => Self::Type(&group.elem).bare(),
            Self::Type(Type::Paren(paren)) => Self::Type(&paren.elem).bare(),
            other => other,
        }
    }

    /// The field of a pattern. It is owned if the pattern names the type of the argument.
    fn field(self, path: &Path, field: &Pat) -> Self {
        let named = |ty: &Path| match (ty.segments.last(), path.segments.last()) {
            (Some(ty), Some(pattern)) => ty.ident == pattern.ident,
            _ => false,
        };
        match (self.bare(), field) {
            (Self::Type(Type::Path(ty)), Pat::Ident(_)) if named(&ty.path) => Self::Owned,
            _ => Self::Nothing,
        }
    }
}

/// A name that was found in a pattern.
pub(super) struct Name<'p, 'a> {
    pub(super) ident: &'p Ident,
    pub(super) mutability: &'p mut Option<syn::Token![mut]>,
    pub(super) by_ref: bool,
    pub(super) known: Known<'a>,
}

/// Calls `found` for each name that a pattern binds.
pub(super) fn collect<'a>(
    pattern: &mut Pat,
    known: Known<'a>,
    found: &mut dyn FnMut(Name<'_, 'a>),
) {
    match pattern {
        Pat::Ident(pattern) => {
            found(Name {
                ident: &pattern.ident,
                mutability: &mut pattern.mutability,
                by_ref: pattern.by_ref.is_some(),
                known: match pattern.subpat {
                    Some(_) => Known::Nothing,
                    None => known,
                },
            });
            if let Some((_, inner)) = &mut pattern.subpat {
                collect(inner, Known::Nothing, found);
            }
        }
        Pat::Tuple(tuple) => {
            let types = match known.bare() {
                Known::Type(Type::Tuple(types)) if types.elems.len() == tuple.elems.len() => {
                    Some(&types.elems)
                }
                _ => None,
            };
            let rest = tuple
                .elems
                .iter()
                .any(|inner| matches!(inner, Pat::Rest(_)));
            for (at, inner) in tuple.elems.iter_mut().enumerate() {
                let ty = types.filter(|_| !rest).and_then(|types| types.get(at));
                collect(inner, ty.map_or(Known::Nothing, Known::Type), found);
            }
        }
        Pat::TupleStruct(tuple) => {
            for inner in &mut tuple.elems {
                let known = known.field(&tuple.path, inner);
                collect(inner, known, found);
            }
        }
        Pat::Struct(pattern) => {
            for FieldPat { pat, .. } in &mut pattern.fields {
                let known = known.field(&pattern.path, pat);
                collect(pat, known, found);
            }
        }
        Pat::Slice(slice) => {
            let known = match known.bare() {
                Known::Type(Type::Array(array)) => Known::Type(&array.elem),
                _ => Known::Nothing,
            };
            for inner in &mut slice.elems {
                collect(inner, known, found);
            }
        }
        Pat::Reference(reference) => {
            let known = match known.bare() {
                Known::Type(Type::Reference(ty)) => Known::Type(&ty.elem),
                _ => Known::Nothing,
            };
            collect(&mut reference.pat, known, found);
        }
        Pat::Paren(paren) => collect(&mut paren.pat, known, found),
        Pat::Type(typed) => collect(&mut typed.pat, known, found),
        Pat::Or(or) => {
            // The alternatives bind the same names.
            if let Some(first) = or.cases.first_mut() {
                collect(first, Known::Nothing, found);
            }
        }
        _ => {}
    }
}
