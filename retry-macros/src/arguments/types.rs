//! How an attempt can lend or use up an argument, as far as its type shows.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Path, Signature, TraitBound, Type, TypeParamBound, WherePredicate};

use crate::item::{Function, mentions_lifetime};
use crate::paths::{boxed_bounds, ends_in, peel_type, type_arguments};
use crate::tokens::{self, is_among, is_punct, is_word};

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
            match (type_arguments(last).next(), last.ident.to_string().as_str()) {
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
    let has = |word: &str| tokens::any_word(ty, |found| found == word);
    (has("dyn") && !has("impl") && !has("for")).then(|| inferred(ty.to_token_stream()))
}

/// Whether a type is a path in which nothing depends on the caller. If it is not `Clone`, it never is.
pub(super) fn is_concrete(ty: &Type, function: &Function) -> bool {
    let open = |word: &Ident| function.is_generic(word) || is_among(word, "Self impl dyn");
    matches!(ty, Type::Path(path) if path.qself.is_none()) && !tokens::any_word(ty, open)
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
/// need the value itself, or may be one of `Clone` types only. A parameter of the `impl` around the function may have
/// bounds that only the `impl` shows.
pub(super) fn is_called_mutably(ty: &Type, function: &Function) -> bool {
    const CALLS: &str = "FnMut AsyncFnMut";
    const OF_MUTABLE_REFERENCES: &str = "AsyncFnMut FnMut Send Sized Sync Unpin";
    let declared = |name: &Ident| {
        let mut parameters = function.signature.generics.type_params();
        parameters.any(|parameter| parameter.ident == *name)
    };
    let all_shown = match ty {
        Type::Path(path) => path.path.get_ident().is_none_or(declared),
        _ => true,
    };
    let mut bounds = traits_of(ty, function).into_iter();
    all_shown
        && has_bound(ty, function, CALLS)
        && bounds.all(|bound| ends_in(&bound.path, OF_MUTABLE_REFERENCES))
}

/// Whether a type is bounded by `'static`, which no reference to an argument is.
pub(super) fn is_static(ty: &Type, function: &Function) -> bool {
    let mut bounds = bounds_of(ty, function).into_iter();
    bounds.any(|bound| matches!(bound, TypeParamBound::Lifetime(bound) if bound.ident == "static"))
}

/// The type `X` of an argument that the body can only convert into it: `impl Into<X>`, or `T: Into<X>` if nothing else
/// names `T`.
pub(super) fn converts_to<'a>(ty: &'a Type, function: &'a Function) -> Option<&'a Type> {
    const OF_EVERY_VALUE: &str = "Send Sync Unpin Sized UnwindSafe RefUnwindSafe";
    let is_converted = match peel_type(ty) {
        Type::ImplTrait(_) => true,
        Type::Path(path) => {
            let name = path.path.get_ident()?;
            is_named_once(name, function)
        }
        _ => false,
    };
    let bounds = traits_of(ty, function).into_iter();
    let mut bounds = bounds.filter(|bound| !ends_in(&bound.path, OF_EVERY_VALUE));
    let into = bounds.next().filter(|bound| ends_in(&bound.path, "Into"))?;
    if !is_converted || bounds.next().is_some() {
        return None;
    }
    let target = type_arguments(into.path.segments.last()?).next()?;
    (!tokens::any_word(target, |word| word == "impl")).then_some(target)
}

/// Whether only the type of one argument, and its bounds, name a type parameter of the function.
fn is_named_once(name: &Ident, function: &Function) -> bool {
    let Signature { inputs, output, .. } = &function.signature;
    let body = &function.body;
    let code = quote!(#inputs #output #body);
    let mentions = tokens::deep(&code).filter(|token| is_word(Some(token), &name.to_string()));
    mentions.count() == 1 && bounds_elsewhere(name, function).next().is_none()
}

/// The bounds on other types that name a type parameter of the function, such as `Config: From<S>`.
fn bounds_elsewhere(name: &Ident, function: &Function) -> impl Iterator<Item = TokenStream> {
    let generics = &function.signature.generics;
    let parameters = generics.type_params().filter(move |it| it.ident != *name);
    let clauses = generics.where_clause.iter();
    let clauses = clauses.flat_map(|clause| &clause.predicates);
    let clauses = clauses.filter(move |clause| match clause {
        WherePredicate::Type(clause) => !is_parameter(&clause.bounded_ty, name),
        _ => true,
    });
    let parameters = parameters.map(ToTokens::to_token_stream);
    let bounds = parameters.chain(clauses.map(ToTokens::to_token_stream));
    bounds.filter(move |bound| tokens::any_word(bound, |word| word == name))
}

fn is_parameter(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

/// Whether a reference cannot replace the value: it is an iterator, a future, or a type with a `&mut` in it.
pub(super) fn gives_itself_up(ty: &Type, function: &Function) -> bool {
    has_bound(ty, function, SOURCES)
        || has_bound(ty, function, "Into TryInto")
        || holds_mutable_reference(ty)
}

/// Traits of values that end, and that nobody can share.
const SOURCES: &str =
    "Iterator DoubleEndedIterator ExactSizeIterator IntoIterator Future IntoFuture Stream";

/// Whether a value ends when it is used, and can only be made anew: an iterator, a receiver, the body of a request.
pub(super) fn is_made_anew(ty: &Type, function: &Function) -> bool {
    const NAMES: &str = "Body BoxBody Incoming JoinHandle Receiver Request Response Streaming";
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
    /// `Config: From<S>`; or the argument is a `Vec<T>`.
    Never,
}

pub(super) fn lending(ty: &Type, function: &Function) -> Lending {
    const OF_REFERENCES: &str = "AsRef AsyncFn Clone Copy Debug Deref Display Eq Error Executor Fn \
        Hash LowerHex Ord PartialEq PartialOrd Pointer Send Serialize Sized Sync ToOwned ToSocketAddrs \
        Unpin UnwindSafe UpperHex";
    let open = |word: &Ident| function.is_generic(word) || word == "Self";
    let path = match peel_type(ty) {
        Type::Path(path) => Some(&path.path),
        _ => None,
    };
    let parameter = path.and_then(Path::get_ident);
    if let (Some(path), None) = (path, parameter) {
        // Only a function that is generic takes a `&Vec<T>` in place of a `Vec<T>`, but a `&Box<F>` is called like an `F`.
        let mut arguments = path.segments.last().into_iter().flat_map(type_arguments);
        let is_open = arguments.any(|ty| tokens::any_word(ty, |word| open(word) || word == "impl"));
        return if is_open && !ends_in(path, "Box") {
            Lending::Never
        } else {
            Lending::Fits
        };
    }
    let is_bound_elsewhere =
        parameter.is_some_and(|name| bounds_elsewhere(name, function).next().is_some());
    if is_bound_elsewhere || is_static(ty, function) {
        return Lending::Never;
    }
    let bounds = traits_of(ty, function);
    if bounds
        .iter()
        .all(|bound| ends_in(&bound.path, OF_REFERENCES))
    {
        Lending::Fits
    } else if bounds
        .iter()
        .any(|&bound| tokens::any_word(bound, open) || mentions_lifetime(bound))
    {
        Lending::Never
    } else {
        Lending::IfHeld(quote!(#(#bounds)+*))
    }
}

/// Whether one of these traits is among the written bounds of a type.
fn has_bound(ty: &Type, function: &Function, traits: &str) -> bool {
    let mut bounds = traits_of(ty, function).into_iter();
    bounds.any(|bound| ends_in(&bound.path, traits))
}

/// The traits among the bounds of a type.
fn traits_of<'a>(ty: &'a Type, function: &'a Function) -> Vec<&'a TraitBound> {
    let bounds = bounds_of(ty, function).into_iter();
    let traits = bounds.filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(bound),
        _ => None,
    });
    traits.collect()
}

/// The bounds of `impl Trait`, of `Box<dyn Trait>`, or of a type parameter of the function.
fn bounds_of<'a>(ty: &'a Type, function: &'a Function) -> Vec<&'a TypeParamBound> {
    match peel_type(ty) {
        Type::ImplTrait(found) => found.bounds.iter().collect(),
        Type::TraitObject(found) => found.bounds.iter().collect(),
        Type::Path(path) => {
            let Some(name) = path.path.get_ident() else {
                return boxed_bounds(&path.path).into_iter().flatten().collect();
            };
            let generics = &function.signature.generics;
            let parameters = generics.type_params().filter(|it| it.ident == *name);
            let clauses = generics.where_clause.iter();
            let clauses = clauses.flat_map(|clause| &clause.predicates);
            let clauses = clauses.filter_map(|clause| match clause {
                WherePredicate::Type(clause) => Some(clause),
                _ => None,
            });
            let clauses = clauses.filter(|clause| is_parameter(&clause.bounded_ty, name));
            let bounds = parameters.map(|it| &it.bounds);
            let bounds = bounds.chain(clauses.map(|clause| &clause.bounds));
            bounds.flatten().collect()
        }
        _ => Vec::new(),
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
