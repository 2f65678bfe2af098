//! The meaning of the derive's attributes: one case for a struct, and one for each variant of an enum.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Generics, Path, Type};

pub(crate) struct ErrorType<'a> {
    /// The path of the facade.
    pub(crate) root: TokenStream,
    pub(crate) ident: &'a Ident,
    pub(crate) generics: &'a Generics,
    /// Empty for an enum without variants.
    pub(crate) cases: Vec<Case<'a>>,
}

pub(crate) struct Case<'a> {
    /// `None` for a struct.
    pub(crate) variant: Option<&'a Ident>,
    pub(crate) verdict: VerdictSource<'a>,
    pub(crate) hint: HintSource<'a>,
}

pub(crate) enum VerdictSource<'a> {
    /// A variant of the runtime's `Verdict`.
    Word(Ident),
    /// The verdict of this field.
    Forward(ErrorField<'a>),
    /// The verdict that a function gives for these fields, or for the error as a whole.
    With(Path, Option<Vec<ErrorField<'a>>>),
}

pub(crate) enum HintSource<'a> {
    None,
    /// The hint of the field that gives the verdict.
    Forward(ErrorField<'a>),
    /// A field that holds the hint. The span is where the user named the field.
    Field(ErrorField<'a>, Span),
    /// A function that takes the error.
    Method(Path),
}

#[derive(Clone)]
pub(crate) struct ErrorField<'a> {
    /// The name, or the place in a tuple, as a pattern in braces takes it.
    pub(crate) member: TokenStream,
    /// The name or the place, as `after` may name it.
    pub(crate) name: String,
    /// The place among the fields, from 0.
    pub(crate) index: usize,
    pub(crate) ty: &'a Type,
}
