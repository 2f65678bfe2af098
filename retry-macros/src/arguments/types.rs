//! How an attempt can lend or use up an argument, as far as its type shows.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Path, TraitBound, Type, TypeParamBound};

use super::bounds::{
    OF_EVERY_VALUE, bounds_of, has_bound, is_bound_elsewhere, shows_bounds, traits_of,
};
use crate::item::{Function, mentions_lifetime};
use crate::paths::{boxed_bounds, ends_in, peel_type, type_arguments};
use crate::tokens::{self, is_among, is_punct};

/// A reference, or a type around a `&mut`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Indirection {
    /// `&T`.
    Shared,
    /// `&mut T`.
    Mutable,
    /// `Option<&mut T>`.
    MutableOption,
    /// `Pin<&mut T>`.
    MutablePin,
}

pub(super) fn indirection(ty: &Type) -> Option<Indirection> {
    match peel_type(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => Some(Indirection::Mutable),
        Type::Reference(_) => Some(Indirection::Shared),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            match (type_arguments(last).first(), name.as_str()) {
                (Some(Type::Reference(inner)), _) if inner.mutability.is_none() => None,
                (Some(Type::Reference(_)), "Option") => Some(Indirection::MutableOption),
                (Some(Type::Reference(_)), "Pin") => Some(Indirection::MutablePin),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The type to write at the binding that reborrows an argument of this type. rustc shortens the lifetime of a
/// trait object only if the type is written. `None` if no type is needed.
pub(super) fn annotation(ty: &Type) -> Option<TokenStream> {
    fn inferred(tokens: TokenStream) -> TokenStream {
        let mut lifetime = false;
        let tokens = tokens.into_iter().map(|token| match token {
            TokenTree::Ident(name) if lifetime && name != "static" => {
                lifetime = false;
                Ident::new("_", name.span()).into()
            }
            TokenTree::Group(group) => {
                proc_macro2::Group::new(group.delimiter(), inferred(group.stream())).into()
            }
            other => {
                lifetime = matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '\'');
                other
            }
        });
        tokens.collect()
    }
    let written = tokens::has_word(ty, "dyn") && !tokens::has_word(ty, "impl for");
    written.then(|| inferred(ty.to_token_stream()))
}

/// Whether a type is a path in which nothing depends on the caller. If it is not `Clone`, it never is.
pub(super) fn is_concrete(ty: &Type, function: &Function) -> bool {
    let open = |word: &Ident| function.is_generic(word) || is_among(word, "Self impl dyn");
    matches!(ty, Type::Path(path) if path.qself.is_none()) && !tokens::any_word(ty, &open)
}

/// Whether the type of `self` is that of a `self` by value: `Self` or `Box<Self>`.
pub(super) fn is_self_by_value(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if ends_in(&path.path, "Self Box"))
}

/// Whether a type is an `Arc` or `Rc`, as in `self: Arc<Self>`.
pub(super) fn is_counted(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if ends_in(&path.path, "Arc Rc"))
}

/// Whether a call uses up the value: `F: FnOnce()`, `Box<dyn FnOnce()>`.
pub(super) fn is_called_once(ty: &Type, function: &Function) -> bool {
    has_bound(ty, function, "FnOnce AsyncFnOnce")
}

/// Whether a `&mut` can replace the value, and a clone cannot: `F: FnMut()`, `Box<dyn FnMut()>`. Any other trait may
/// need the value itself, or may be one of `Clone` types only.
pub(super) fn is_called_mutably(ty: &Type, function: &Function) -> bool {
    const CALLS: &str = "FnMut AsyncFnMut";
    const OF_MUTABLE_REFERENCES: &str = "AsyncFnMut FnMut Send Sized Sync Unpin";
    let mut bounds = traits_of(ty, function).into_iter();
    shows_bounds(ty, function)
        && has_bound(ty, function, CALLS)
        && bounds.all(|bound| ends_in(&bound.path, OF_MUTABLE_REFERENCES))
}

/// Whether a type is bounded by `'static`, which no reference to an argument is.
pub(super) fn is_static(ty: &Type, function: &Function) -> bool {
    let mut bounds = bounds_of(ty, function).into_iter();
    bounds.any(|bound| matches!(bound, TypeParamBound::Lifetime(bound) if bound.ident == "static"))
}

/// Whether a reference cannot replace the value: it is an iterator, a future, a type with a `&mut` in it, or one of
/// which nothing is known.
pub(super) fn gives_itself_up(ty: &Type, function: &Function) -> bool {
    has_bound(ty, function, SOURCES)
        || has_bound(ty, function, "Into TryInto")
        || holds_mutable_reference(ty)
        || is_opaque(ty, function)
}

/// Whether a body can do nothing with the value but hold it and drop it, as with `guard: impl Send`. Who waits until it
/// is dropped would wait for the end of the call, if each attempt had a reference to it.
fn is_opaque(ty: &Type, function: &Function) -> bool {
    let (is_generic, parameter) = match peel_type(ty) {
        Type::ImplTrait(_) | Type::TraitObject(_) => (true, None),
        Type::Path(path) if ends_in(&path.path, "Box") => {
            let inner = path.path.segments.last().map(type_arguments);
            return inner.is_some_and(|types| types.iter().any(|ty| is_opaque(ty, function)));
        }
        Type::Path(path) => (path.path.get_ident().is_some(), path.path.get_ident()),
        _ => (false, None),
    };
    is_generic
        && shows_bounds(ty, function)
        && says_nothing(&traits_of(ty, function))
        && !parameter.is_some_and(|name| is_bound_elsewhere(name, function))
}

/// Whether a guard may have these traits, and each reference has them too.
fn says_nothing(bounds: &[&TraitBound]) -> bool {
    let mut bounds = bounds.iter();
    bounds.all(|bound| ends_in(&bound.path, OF_EVERY_VALUE) || ends_in(&bound.path, "Any Deref"))
}

/// Traits of values that end, and that nobody can share.
const SOURCES: &str =
    "Iterator DoubleEndedIterator ExactSizeIterator IntoIterator Future IntoFuture Stream";

/// Whether a value ends when it is used, and can only be made anew: an iterator, a receiver, the body of a request.
pub(super) fn is_made_anew(ty: &Type, function: &Function) -> bool {
    const NAMES: &str =
        "Body BoxBody Incoming JoinHandle Receiver Request Response Streaming UnboundedReceiver";
    has_bound(ty, function, SOURCES)
        || matches!(peel_type(ty), Type::Path(path) if ends_in(&path.path, NAMES))
}

/// Whether a reference meets the bounds of an argument's type.
pub(super) enum Lending {
    /// It does: there are no bounds, or references usually meet them.
    Fits,
    /// Only rustc can tell, as with `S: ToSubject`.
    IfHeld(TokenStream),
    /// References rarely do: a bound names a type parameter or a lifetime, is `'static`, or is on another type, as in
    /// `Config: From<S>`; or the argument is a `Vec<T>`. Or each reference does, and is another thing: nothing is known of
    /// the type.
    Never,
}

pub(super) fn lending(ty: &Type, function: &Function) -> Lending {
    const OF_REFERENCES: &str = "AsRef AsyncFn Clone Copy Debug Deref Display Eq Error Executor Fn \
        Hash LowerHex Ord PartialEq PartialOrd Send Serialize Sized Sync ToOwned ToSocketAddrs \
        Unpin UnwindSafe UpperHex";
    let open = |word: &Ident| function.is_generic(word) || word == "Self";
    let path = match peel_type(ty) {
        Type::Path(path) => Some(&path.path),
        _ => None,
    };
    let parameter = path.and_then(Path::get_ident);
    if let (Some(path), None, None) = (path, parameter, path.and_then(boxed_bounds)) {
        // Only a function that is generic takes a `&Vec<T>` in place of a `Vec<T>`, but a `&Box<F>` is called like an `F`.
        let is_open = tokens::any_word(ty, &open) || tokens::has_word(ty, "dyn impl");
        return if is_open && !ends_in(path, "Box") {
            Lending::Never
        } else {
            Lending::Fits
        };
    }
    let elsewhere = parameter.is_some_and(|name| is_bound_elsewhere(name, function));
    if elsewhere || is_static(ty, function) {
        return Lending::Never;
    }
    let bounds = traits_of(ty, function);
    // A reference has an address of its own.
    let has_address = has_bound(ty, function, "Pointer");
    if has_address || shows_bounds(ty, function) && says_nothing(&bounds) {
        Lending::Never
    } else if bounds
        .iter()
        .all(|bound| ends_in(&bound.path, OF_REFERENCES))
    {
        Lending::Fits
    } else if bounds
        .iter()
        .any(|&bound| tokens::any_word(bound, &open) || mentions_lifetime(bound))
    {
        Lending::Never
    } else {
        Lending::IfHeld(quote!(#(#bounds)+*))
    }
}

/// Whether a type contains a `&mut`, other than among the arguments of a function.
fn holds_mutable_reference(ty: &Type) -> bool {
    fn within(tokens: TokenStream) -> bool {
        let mut borrowed = false;
        tokens.into_iter().any(|token| {
            match &token {
                TokenTree::Ident(word) if word == "mut" => return borrowed,
                TokenTree::Group(group)
                    if !matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Brace) =>
                {
                    return within(group.stream());
                }
                // A lifetime may stand between the two.
                TokenTree::Ident(_) => {}
                TokenTree::Punct(quote) if quote.as_char() == '\'' => {}
                other => borrowed = is_punct(Some(other), "&"),
            }
            false
        })
    }
    matches!(ty, Type::Path(_)) && within(ty.to_token_stream())
}
