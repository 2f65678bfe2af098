//! What the derive means: one case for a struct, one for each variant of an enum.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Generics, Path, Type};

/// A type that is an error.
pub(crate) struct ErrorType<'a> {
    /// Where the facade is; `None` is `::reattempt`.
    pub(crate) root: Option<Path>,
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
    /// What this field says.
    Forward(ErrorField<'a>),
    /// What a function says that is given these.
    With(Path, Called<'a>),
}

/// What a function of the user's is called with.
pub(crate) enum Called<'a> {
    /// The error as a whole.
    Itself,
    /// Its fields, in order.
    Fields(Vec<ErrorField<'a>>),
}

pub(crate) enum HintSource<'a> {
    None,
    /// The field that the verdict comes from is asked for the hint too.
    Forward(ErrorField<'a>),
    /// A field that holds it; the span is where the user named it.
    Field(ErrorField<'a>, Span),
    /// A function that is given the error.
    Method(Path),
}

#[derive(Clone)]
pub(crate) struct ErrorField<'a> {
    /// The name, or the place in a tuple, as a pattern in braces takes it.
    pub(crate) member: TokenStream,
    /// The place among the fields, from 0.
    pub(crate) index: usize,
    pub(crate) ty: &'a Type,
}
