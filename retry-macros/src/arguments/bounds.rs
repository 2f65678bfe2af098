//! The bounds of an argument's type, as far as the function shows them.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenTree};
use quote::{ToTokens, quote};
use syn::{Signature, TraitBound, Type, TypeParamBound, WherePredicate};

use crate::item::{Function, looks_generic};
use crate::paths::{boxed_bounds, ends_in, peel_type, type_arguments};
use crate::tokens;

/// Traits without methods, which say nothing of a value.
pub(super) const OF_EVERY_VALUE: &str = "Send Sync Unpin Sized UnwindSafe RefUnwindSafe";

/// What a function shows of each word in it. It is read once for all arguments.
#[derive(Default)]
pub(super) struct Bounds<'f>(HashMap<String, Word<'f>>);

/// A word that may be a type parameter.
#[derive(Default)]
struct Word<'f> {
    bounds: Vec<&'f TypeParamBound>,
    /// Whether the function declares it.
    declared: bool,
    /// Whether it is in a bound on another type.
    elsewhere: bool,
    /// How often it is in the types and in the body.
    count: usize,
}

impl<'f> Bounds<'f> {
    pub(super) fn of(function: &'f Function) -> Self {
        let Signature {
            generics,
            inputs,
            output,
            ..
        } = &function.signature;
        let mut bounds = Self::default();
        for parameter in generics.type_params() {
            let name = parameter.ident.to_string();
            bounds.note_elsewhere(parameter, &name);
            let word = bounds.word(name);
            word.declared = true;
            word.bounds.extend(&parameter.bounds);
        }
        let clauses = generics.where_clause.iter();
        for clause in clauses.flat_map(|clause| &clause.predicates) {
            let bounded = match clause {
                WherePredicate::Type(clause) => name_of(&clause.bounded_ty).zip(Some(clause)),
                _ => None,
            };
            let name = bounded.map_or_else(String::new, |(name, _)| name.to_string());
            bounds.note_elsewhere(clause, &name);
            if let Some((_, clause)) = bounded {
                bounds.word(name).bounds.extend(&clause.bounds);
            }
        }
        let body = &function.body;
        for word in words(&quote!(#inputs #output #body)) {
            bounds.word(word).count += 1;
        }
        bounds
    }

    fn word(&mut self, name: String) -> &mut Word<'f> {
        self.0.entry(name).or_default()
    }

    fn note_elsewhere(&mut self, bound: &dyn ToTokens, name: &str) {
        for word in words(bound) {
            let is_other = word != name;
            self.word(word).elsewhere |= is_other;
        }
    }

    /// Whether this is known of a word.
    fn is(&self, name: &Ident, known: fn(&Word<'_>) -> bool) -> bool {
        self.0.get(&name.to_string()).is_some_and(known)
    }

    /// The bounds of `impl Trait`, of `Box<dyn Trait>`, or of a type parameter of the function.
    pub(super) fn of_type<'t>(&'t self, ty: &'t Type) -> Vec<&'t TypeParamBound> {
        match peel_type(ty) {
            Type::ImplTrait(found) => found.bounds.iter().collect(),
            Type::TraitObject(found) => found.bounds.iter().collect(),
            Type::Path(path) => match path.path.get_ident() {
                Some(name) => {
                    let word = self.0.get(&name.to_string());
                    word.map_or_else(Vec::new, |word| word.bounds.clone())
                }
                None => boxed_bounds(&path.path).map_or_else(Vec::new, Vec::from_iter),
            },
            _ => Vec::new(),
        }
    }

    pub(super) fn traits_of<'t>(&'t self, ty: &'t Type) -> Vec<&'t TraitBound> {
        let bounds = self.of_type(ty).into_iter();
        let traits = bounds.filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => Some(bound),
            _ => None,
        });
        traits.collect()
    }

    /// Whether one of these traits is among the written bounds of a type.
    pub(super) fn has(&self, ty: &Type, traits: &str) -> bool {
        let mut bounds = self.traits_of(ty).into_iter();
        bounds.any(|bound| ends_in(&bound.path, traits))
    }

    /// Whether the function shows all bounds of a type. A parameter of the `impl` around it may have others.
    pub(super) fn shows_all(&self, ty: &Type) -> bool {
        name_of(ty).is_none_or(|name| self.is(name, |word| word.declared))
    }

    /// Whether a word is a type parameter: one of the function, or by its look one of the `impl` around it.
    pub(super) fn is_generic(&self, word: &Ident) -> bool {
        looks_generic(word) || self.is(word, |word| word.declared)
    }

    /// Whether a bound on another type names a type parameter of the function, as `Config: From<S>` does.
    pub(super) fn is_bound_elsewhere(&self, name: &Ident) -> bool {
        self.is(name, |word| word.elsewhere)
    }

    /// Whether only the type of one argument, and its bounds, name a type parameter of the function.
    fn is_named_once(&self, name: &Ident) -> bool {
        self.is(name, |word| word.count == 1 && !word.elsewhere)
    }

    /// The type `X` of an argument that the body can only convert into it: `impl Into<X>`, or `T: Into<X>` if nothing else
    /// names `T`, or an `Option` of these.
    pub(super) fn converts_to(&self, ty: &Type) -> Option<Type> {
        self.only(in_option(ty).unwrap_or(ty), "Into")
    }

    /// The type `U` of an argument that the body can only see as a `&U`: `impl AsRef<U>`, or `T: AsRef<U>` if nothing else
    /// names `T`. An argument that is `Sync` can be lent itself.
    pub(super) fn seen_as(&self, ty: &Type) -> Option<Type> {
        self.only(ty, "AsRef").filter(|_| !self.has(ty, "Sync"))
    }

    /// The `X` of a generic type whose bounds are `name<X>`, and traits without methods.
    fn only(&self, ty: &Type, name: &str) -> Option<Type> {
        let is_alone = match peel_type(ty) {
            Type::ImplTrait(_) => true,
            ty => self.is_named_once(name_of(ty)?),
        };
        let bounds = self.traits_of(ty).into_iter();
        let mut bounds = bounds.filter(|bound| !ends_in(&bound.path, OF_EVERY_VALUE));
        let bound = bounds.next().filter(|bound| ends_in(&bound.path, name))?;
        if !is_alone || !self.shows_all(ty) || bound.lifetimes.is_some() || bounds.next().is_some()
        {
            return None;
        }
        let target = *type_arguments(bound.path.segments.last()?).first()?;
        (!tokens::has_word(target, "impl")).then(|| target.clone())
    }
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

/// The name of a type that is a single word.
fn name_of(ty: &Type) -> Option<&Ident> {
    match peel_type(ty) {
        Type::Path(path) => path.path.get_ident(),
        _ => None,
    }
}

/// The words among the tokens, at any depth.
fn words(tokens: &dyn ToTokens) -> impl Iterator<Item = String> {
    tokens::deep(tokens).filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    })
}
