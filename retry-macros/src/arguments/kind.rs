//! What the type of an argument shows of it: whether it is a reference, and whether a reference can stand for it.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::{Type, TypeParamBound, TypeReference, WherePredicate};

use crate::item::{Function, Lifetimes, looks_generic, mentions_lifetime};
use crate::paths::{boxed_bounds, ends_in, inside, peel_type, traits, type_arguments};
use crate::tokens::{has_word, words};

/// What the type of an argument shows of it.
pub(super) enum ArgumentKind {
    /// `&T`.
    Shared,
    /// `&mut T`, and whether the result borrows from it.
    Mutable(Loan),
    /// `Option<&mut T>`, `Pin<&mut T>`: reborrowed by this method.
    Within(&'static str),
    /// `impl Into<X>`, or an `Option` of it, which the body can only convert into `X`.
    Into(TokenStream),
    /// `self` by value, `self: Box<Self>`, `self: Arc<Self>`.
    OfSelf,
    /// `F: FnMut()`, `Box<dyn FnMut()>`: a `&mut` can replace the value, unless it is closed too and handed over.
    Calls { is_closed: bool },
    /// `F: FnOnce()`: a call uses it up.
    CalledOnce,
    /// An iterator, a future, a request of `tonic`: it ends when it is used, and can only be made again. Or a generic type of which nothing is known, as
    /// with `guard: impl Send`. Who waits until a guard is dropped would wait for the end of the call, if each attempt had a
    /// reference to it.
    Owned,
    /// Any other generic type. A reference can stand for it.
    Open,
    /// A type that a reference cannot stand for: it is not generic, or its bounds are hardly those of a reference. One is
    /// `'static`, names a lifetime, or is on another type.
    Closed,
    /// The type of a name in a pattern, which may be a reference.
    Unknown,
}

/// Whether the result borrows from an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loan {
    No,
    Perhaps,
    /// It is, or contains, a `&mut` with the lifetime of this one.
    Surely,
}

/// Traits without methods, which say nothing of a value.
const OF_EVERY_VALUE: &str = "Send Sync Unpin Sized UnwindSafe RefUnwindSafe";
/// Traits of a closure, which a reference to it has too.
const OF_REFERENCES: &str = "AsyncFn AsyncFnMut Fn FnMut";
/// Traits that any guard may have, and conversions, which no reference has.
const OF_GUARDS: &str = "Send Sync Unpin Sized UnwindSafe RefUnwindSafe Any Deref Into TryInto";
const ENDS: &str = "DoubleEndedIterator ExactSizeIterator Future IntoFuture IntoIterator IntoRequest \
                    IntoStreamingRequest Iterator Stream";

/// What a function shows of the types of its arguments. It is read once for all of them.
pub(super) struct Types<'f> {
    words: HashMap<String, Parameter<'f>>,
    output: Lifetimes,
    /// The lifetimes of each `&mut` in the result: `None` is one that it elides.
    lent: HashSet<Option<&'f Ident>>,
    /// Whether a lifetime that the result elides is that of `self`.
    of_self: bool,
    /// Whether a lifetime may outlive another: `'a: 'b` lets a result for `'b` borrow from what lives for `'a`.
    related: bool,
}

/// What a function shows of a type parameter, or of any other word.
#[derive(Clone, Default)]
struct Parameter<'f> {
    bounds: Vec<&'f TypeParamBound>,
    /// Whether the function shows all of its bounds. A parameter of the `impl` around it may have others.
    shown: bool,
    /// How often declarations and bounds name it, apart from its own: in the bound of another type, as in `Config: From<S>`.
    elsewhere: i32,
    /// How often it is in the types and in the body.
    count: usize,
}

impl<'f> Types<'f> {
    pub(super) fn of(function: &'f Function) -> Self {
        let (signature, body) = (&function.signature, &function.body);
        let (generics, inputs) = (&signature.generics, &signature.inputs);
        let (clauses, declared) = (&generics.where_clause, &signature.output);
        let mut types = Self {
            words: HashMap::new(),
            output: Lifetimes::of(&function.output),
            lent: HashSet::new(),
            of_self: mentions_lifetime(&signature.receiver()),
            related: clauses.is_some() || generics.lifetimes().any(|it| !it.bounds.is_empty()),
        };
        lent(&function.output, &mut types.lent);
        for parameter in generics.type_params() {
            let word = types.word(parameter.ident.to_string());
            (word.shown, word.elsewhere) = (true, word.elsewhere - 1);
            word.bounds.extend(&parameter.bounds);
        }
        for clause in clauses.iter().flat_map(|clause| &clause.predicates) {
            if let WherePredicate::Type(clause) = clause {
                if let Some(name) = name_of(&clause.bounded_ty) {
                    let word = types.word(name.to_string());
                    word.elsewhere -= 1;
                    word.bounds.extend(&clause.bounds);
                }
            }
        }
        if !generics.params.is_empty() || clauses.is_some() {
            words(&quote!(#generics #clauses)).for_each(|word| types.word(word).elsewhere += 1);
            words(&quote!(#inputs #declared #body)).for_each(|word| types.word(word).count += 1);
        }
        types
    }

    fn word(&mut self, name: String) -> &mut Parameter<'f> {
        self.words.entry(name).or_default()
    }

    /// A type as a parameter: `impl Trait` is one that nothing else names, and `Box<dyn Trait>` has bounds too.
    fn parameter<'t>(&'t self, ty: &'t Type) -> Parameter<'t> {
        let (bounds, count) = match (ty, name_of(ty)) {
            (_, Some(name)) => {
                let word = self.words.get(&name.to_string());
                return word.cloned().unwrap_or_default();
            }
            (Type::ImplTrait(found), _) => (Some(&found.bounds), 1),
            _ => (boxed_bounds(ty), 0),
        };
        Parameter {
            bounds: bounds.into_iter().flatten().collect(),
            shown: true,
            elsewhere: 0,
            count,
        }
    }

    pub(super) fn kind(&self, ty: Option<&Type>, is_self: bool) -> ArgumentKind {
        let has_mutable = |ty, name| matches!(inside(ty, name), Some(Type::Reference(inner)) if inner.mutability.is_some());
        match ty.map(peel_type) {
            None => ArgumentKind::Unknown,
            Some(Type::Reference(ty)) if ty.mutability.is_none() => ArgumentKind::Shared,
            Some(Type::Reference(ty)) => ArgumentKind::Mutable(self.returned(ty, is_self)),
            Some(ty) if has_mutable(ty, "Option") => ArgumentKind::Within("as_deref_mut"),
            Some(ty) if has_mutable(ty, "Pin") => ArgumentKind::Within("as_mut"),
            Some(_) if is_self => ArgumentKind::OfSelf,
            Some(ty) => match self.target(inside(ty, "Option").unwrap_or(ty)) {
                Some(target) => ArgumentKind::Into(target),
                None => self.kind_of_value(ty),
            },
        }
    }

    fn kind_of_value(&self, ty: &Type) -> ArgumentKind {
        let parameter = self.parameter(ty);
        let (bounds, shown) = (&parameter.bounds, parameter.shown);
        let traits: Vec<_> = traits(bounds.iter().copied()).collect();
        let has = |names| traits.iter().any(|bound| ends_in(&bound.path, names));
        let all = |names| traits.iter().all(|bound| ends_in(&bound.path, names));
        let is_boxed = boxed_bounds(ty).is_some();
        let is_generic = match name_of(ty) {
            Some(name) => (looks_generic(name) || shown) && parameter.elsewhere == 0,
            None => matches!(ty, Type::ImplTrait(_)),
        };
        let outlives = bounds.iter().any(|bound| match bound {
            TypeParamBound::Lifetime(bound) => bound.ident == "static",
            TypeParamBound::Trait(bound) => {
                let is_named = bound.lifetimes.is_none() && mentions_lifetime(&bound.path);
                is_named && !ends_in(&bound.path, OF_REFERENCES)
            }
            _ => false,
        });
        let is_closed = outlives || !(is_generic || is_boxed && has(OF_REFERENCES));
        if shown && has("AsyncFnMut FnMut") && all("AsyncFnMut FnMut Send Sized Sync Unpin") {
            ArgumentKind::Calls { is_closed }
        } else if has("AsyncFnOnce FnOnce") {
            ArgumentKind::CalledOnce
        } else if has(ENDS) || shown && (is_generic || is_boxed) && all(OF_GUARDS) {
            ArgumentKind::Owned
        } else if is_closed {
            ArgumentKind::Closed
        } else {
            ArgumentKind::Open
        }
    }

    /// Whether the result borrows from a `&mut`: it names a lifetime of the argument's type, or elides one that is the argument's.
    fn returned(&self, ty: &TypeReference, is_self: bool) -> Loan {
        let (output, own) = (&self.output, Lifetimes::of(ty));
        let elides = output.elided && (is_self || !self.of_self);
        let shares = own.named.iter().any(|name| output.named.contains(name));
        let is_related = self.related && !output.named.is_empty() && !own.named.is_empty();
        let is_lent = |name| self.lent.contains(&Some(name));
        if elides && self.lent.contains(&None) || name(ty).is_some_and(is_lent) {
            Loan::Surely
        } else if elides || shares || is_related {
            Loan::Perhaps
        } else {
            Loan::No
        }
    }

    /// The `X` of an argument that the body can only convert into it: `impl Into<X>`, or `T: Into<X>` if nothing else names `T`.
    fn target(&self, ty: &Type) -> Option<TokenStream> {
        let parameter = self.parameter(peel_type(ty));
        let is_alone = parameter.shown && parameter.count == 1 && parameter.elsewhere == 0;
        let mut bounds = traits(parameter.bounds).filter(|it| !ends_in(&it.path, OF_EVERY_VALUE));
        let (bound, other) = (bounds.next()?, bounds.next());
        let is_only = other.is_none() && bound.lifetimes.is_none() && ends_in(&bound.path, "Into");
        let target = *type_arguments(bound.path.segments.last()?).first()?;
        (is_alone && is_only && !has_word(target, "impl")).then(|| target.to_token_stream())
    }
}

/// The lifetime that a reference names.
fn name(ty: &TypeReference) -> Option<&Ident> {
    let named = ty.lifetime.as_ref().map(|lifetime| &lifetime.ident);
    named.filter(|name| *name != "_")
}

/// Adds the lifetime of each `&mut` in the result.
fn lent<'t>(output: &'t Type, lifetimes: &mut HashSet<Option<&'t Ident>>) {
    match peel_type(output) {
        Type::Reference(ty) if ty.mutability.is_some() => {
            lifetimes.insert(name(ty));
        }
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| lent(ty, lifetimes)),
        Type::Path(path) => {
            let types = path.path.segments.iter().flat_map(type_arguments);
            types.for_each(|ty| lent(ty, lifetimes));
        }
        _ => {}
    }
}

/// The name of a type that is a single word.
fn name_of(ty: &Type) -> Option<&Ident> {
    match peel_type(ty) {
        Type::Path(path) => path.path.get_ident(),
        _ => None,
    }
}
