//! How an attempt can lend or use up an argument, as far as its type shows.

use syn::{TraitBound, Type, TypeParamBound};

use super::bounds::{Bounds, OF_EVERY_VALUE};
use crate::item::mentions_lifetime;
use crate::paths::{boxed_bounds, ends_in, peel_type, type_arguments};

/// A reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indirection {
    /// `&T`.
    Shared,
    /// `&mut T`.
    Mutable,
    /// `Option<&mut T>`, `Pin<&mut T>`: reborrowed by this method.
    Within(&'static str),
}

pub(super) fn indirection(ty: &Type) -> Option<Indirection> {
    match peel_type(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => Some(Indirection::Mutable),
        Type::Reference(_) => Some(Indirection::Shared),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match (
                type_arguments(last).first()?,
                last.ident.to_string().as_str(),
            ) {
                (Type::Reference(inner), _) if inner.mutability.is_none() => None,
                (Type::Reference(_), "Option") => Some(Indirection::Within("as_deref_mut")),
                (Type::Reference(_), "Pin") => Some(Indirection::Within("as_mut")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the type of `self` is that of a `self` by value: `Self`, `Box<Self>` or `Arc<Self>`.
pub(super) fn is_self_by_value(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if ends_in(&path.path, "Self Box Arc Rc"))
}

/// Whether a `&mut` can replace the value, and a clone cannot: `F: FnMut()`, `Box<dyn FnMut()>`. Any other trait may need the
/// value itself.
pub(super) fn is_called_mutably(ty: &Type, bounds: &Bounds<'_>) -> bool {
    const OF_MUTABLE_REFERENCES: &str = "AsyncFnMut FnMut Send Sized Sync Unpin";
    let traits = bounds.traits_of(ty);
    bounds.shows_all(ty)
        && bounds.has(ty, "AsyncFnMut FnMut")
        && traits
            .iter()
            .all(|bound| ends_in(&bound.path, OF_MUTABLE_REFERENCES))
}

/// Whether a call uses up the value.
pub(super) fn is_called_once(ty: &Type, bounds: &Bounds<'_>) -> bool {
    bounds.has(ty, "AsyncFnOnce FnOnce")
}

/// Whether a value of a generic type ends when it is used, and can only be made again: an iterator, a future.
pub(super) fn ends_in_use(ty: &Type, bounds: &Bounds<'_>) -> bool {
    const TRAITS: &str = "DoubleEndedIterator ExactSizeIterator Future IntoFuture \
                          IntoIterator Iterator Stream";
    bounds.has(ty, TRAITS)
}

/// Whether a reference cannot stand for a value that the body hands over: its type is not generic, or its bounds are hardly
/// those of a reference: one is `'static`, names a lifetime, or is on another type, as in `Config: From<S>`.
pub(super) fn is_for_each_its_own(ty: &Type, bounds: &Bounds<'_>) -> bool {
    const OF_REFERENCES: &str = "AsyncFn AsyncFnMut Fn FnMut";
    let mut all = bounds.of_type(ty).into_iter();
    let is_bounded = all.any(|bound| match bound {
        TypeParamBound::Lifetime(bound) => bound.ident == "static",
        TypeParamBound::Trait(bound) => {
            let is_named = bound.lifetimes.is_none() && mentions_lifetime(&bound.path);
            is_named && !ends_in(&bound.path, OF_REFERENCES)
        }
        _ => false,
    });
    let is_closed = match peel_type(ty) {
        Type::Path(path) if boxed_bounds(&path.path).is_some() => !bounds.has(ty, OF_REFERENCES),
        Type::Path(path) if path.qself.is_none() => path
            .path
            .get_ident()
            .is_none_or(|name| !bounds.is_generic(name) || bounds.is_bound_elsewhere(name)),
        Type::ImplTrait(_) => false,
        _ => true,
    };
    is_bounded || is_closed
}

/// Whether nothing is known of a generic type, as with `guard: impl Send`. Who waits until a guard is dropped would wait for
/// the end of the call, if each attempt had a reference to it.
pub(super) fn is_opaque(ty: &Type, bounds: &Bounds<'_>) -> bool {
    let traits = bounds.traits_of(ty);
    let says_nothing = |bound: &&TraitBound| {
        ends_in(&bound.path, OF_EVERY_VALUE) || ends_in(&bound.path, "Any Deref")
    };
    let is_generic = match peel_type(ty) {
        Type::Path(path) => {
            let name = path.path.get_ident();
            name.is_some_and(|name| bounds.is_generic(name) && !bounds.is_bound_elsewhere(name))
                || boxed_bounds(&path.path).is_some()
        }
        Type::ImplTrait(_) => true,
        _ => false,
    };
    is_generic && bounds.shows_all(ty) && traits.iter().all(says_nothing)
}
