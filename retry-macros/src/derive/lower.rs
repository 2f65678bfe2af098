//! Turns the item as typed into a model, one case for a struct and one for each variant of an enum, and reports every mistake.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields, Generics, Index, Path, Type};

use super::errors as wording;
use super::keys::{Id, Target};
use super::marks::{AfterSource, Marks};
use crate::errors::{At, Errors};
use crate::tokens::unraw;

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

/// Reads the item. If it pushes to `errors`, the model is only good enough for a stand-in.
pub(crate) fn lower<'a>(input: &'a DeriveInput, errors: &mut Errors) -> ErrorType<'a> {
    let target = match &input.data {
        Data::Struct(_) => Target::Struct,
        Data::Enum(_) | Data::Union(_) => Target::Enum,
    };
    let mut container = Marks::read(&input.attrs, target, errors);
    let root = container.root.take();
    let root = root.map_or_else(|| quote!(::reattempt), ToTokens::into_token_stream);
    let cases = match &input.data {
        Data::Struct(data) => {
            let typed = Typed::read(None, &input.ident, &data.fields, container, errors);
            vec![typed.case(&Marks::default(), errors)]
        }
        Data::Enum(data) => {
            container.check_for_enum(errors);
            let variants = data.variants.iter().map(|variant| {
                let own = Marks::read(&variant.attrs, Target::Variant, errors);
                let name = &variant.ident;
                let typed = Typed::read(Some(name), name, &variant.fields, own, errors);
                typed.case(&container, errors)
            });
            variants.collect()
        }
        Data::Union(data) => {
            errors.push(data.union_token.span, wording::union());
            Vec::new()
        }
    };
    ErrorType {
        root,
        ident: &input.ident,
        generics: &input.generics,
        cases,
    }
}

/// A struct or a variant as typed.
struct Typed<'a> {
    /// `None` for a struct.
    variant: Option<&'a Ident>,
    /// Where an error about the whole struct or variant points.
    name: At,
    /// Its own marks, and the `forward` above a field of it.
    own: Marks,
    fields: Vec<ErrorField<'a>>,
    /// The place of the field that `forward` means.
    inner: Option<usize>,
}

impl<'a> Typed<'a> {
    fn read(
        variant: Option<&'a Ident>,
        name: &Ident,
        fields: &'a Fields,
        mut own: Marks,
        errors: &mut Errors,
    ) -> Self {
        let name = At::from(name.span()).within(errors.next_position());
        let target = variant.map_or(Target::Struct, |_| Target::Variant);
        let mut all = Vec::new();
        // The field that is marked with `#[retryable(forward)]`, and the one that is marked with `#[from]` or `#[source]`, or
        // named `source`.
        let (mut forwarded, mut cause) = (None, None);
        for (index, field) in fields.iter().enumerate() {
            let (name, member) = match &field.ident {
                Some(ident) => (unraw(ident), ident.to_token_stream()),
                None => (index.to_string(), Index::from(index).to_token_stream()),
            };
            let marks = Marks::read(&field.attrs, Target::Field, errors);
            own.faulty |= marks.faulty;
            if let Some(mark) = marks.verdict {
                match &own.verdict {
                    _ if forwarded.is_some() => errors.push(mark.at, wording::two_forwards()),
                    Some(own) if own.word != Id::Forward => {
                        errors.push(mark.at, wording::two_verdicts(own.word, mark.word, target));
                    }
                    Some(_) => {}
                    None => own.verdict = Some(mark),
                }
                forwarded = forwarded.or(Some(index));
            }
            let marked = |name| field.attrs.iter().any(|it| it.path().is_ident(name));
            if marked("from") || marked("source") || name == "source" {
                cause = cause.or(Some(index));
            }
            all.push(ErrorField {
                member,
                name,
                index,
                ty: &field.ty,
            });
        }
        let only = (all.len() == 1).then_some(0);
        Self {
            variant,
            name,
            own,
            fields: all,
            inner: forwarded.or(cause).or(only),
        }
    }

    /// Makes a case. The marks of the container are the defaults.
    fn case(self, container: &Marks, errors: &mut Errors) -> Case<'a> {
        let verdict = self.verdict(container, errors);
        Case {
            variant: self.variant,
            hint: self.hint(&verdict, container, errors),
            verdict,
        }
    }

    fn verdict(&self, container: &Marks, errors: &mut Errors) -> VerdictSource<'a> {
        let own = self.own.verdict.as_ref();
        let Some(mark) = own.or(container.verdict.as_ref()) else {
            // If a word is wrong, it was perhaps meant as the verdict.
            if !(self.own.faulty || container.faulty) {
                let message = self
                    .variant
                    .map_or_else(wording::silent_struct, wording::silent_variant);
                errors.push(self.name, message);
            }
            return word(Id::Unknown);
        };
        if let Some(function) = &mark.function {
            let above_type = own.is_none() || self.variant.is_none();
            let fields = (!above_type).then(|| self.fields.clone());
            return VerdictSource::With(function.clone(), fields);
        }
        if mark.word != Id::Forward {
            return word(mark.word);
        }
        match self.inner.and_then(|inner| self.fields.get(inner)) {
            Some(field) => VerdictSource::Forward(field.clone()),
            None => {
                let at = own.map_or(self.name, |mark| mark.at);
                errors.push(at, wording::no_inner(self.fields.len()));
                word(Id::Unknown)
            }
        }
    }

    fn hint(
        &self,
        verdict: &VerdictSource<'a>,
        container: &Marks,
        errors: &mut Errors,
    ) -> HintSource<'a> {
        let permanent = matches!(verdict, VerdictSource::Word(word) if word == "Permanent");
        let Some((after, at)) = &self.own.after else {
            return match (verdict, &container.after) {
                // The field that gives the verdict also gives the hint.
                (VerdictSource::Forward(field), _) => HintSource::Forward(field.clone()),
                (_, Some((AfterSource::Method(path), _))) if !permanent => {
                    HintSource::Method(path.clone())
                }
                _ => HintSource::None,
            };
        };
        let name = match after {
            AfterSource::Method(path) => return HintSource::Method(path.clone()),
            AfterSource::Field(name) => name,
        };
        match self.fields.iter().find(|field| field.name == *name) {
            Some(field) => HintSource::Field(field.clone(), at.start),
            None => {
                let names: Vec<_> = self.fields.iter().map(|field| &*field.name).collect();
                errors.push(*at, wording::unknown_field(name, &names));
                HintSource::None
            }
        }
    }
}

/// A variant of the runtime's `Verdict`.
fn word<'a>(word: Id) -> VerdictSource<'a> {
    VerdictSource::Word(Ident::new(&format!("{word:?}"), Span::mixed_site()))
}
