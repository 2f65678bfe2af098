//! Turns the item as typed into a model, and reports every mistake.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields};

use super::errors as wording;
use super::keys::{Id, Target};
use super::marks::{AfterSource, Mark, Marks};
use super::members::Members;
use super::model::{Case, ErrorType, HintSource, VerdictSource};
use crate::errors::{At, Errors};

/// Reads the item. If it pushes to `errors`, the model is only good enough for a stand-in.
pub(crate) fn lower<'a>(input: &'a DeriveInput, errors: &mut Errors) -> ErrorType<'a> {
    let target = match &input.data {
        Data::Struct(_) => Target::Struct,
        Data::Enum(_) | Data::Union(_) => Target::Enum,
    };
    let position = &mut 0;
    let mut container = Marks::read(&input.attrs, target, position, errors);
    let root = container.root.take();
    let root = root.map_or_else(|| quote!(::reattempt), ToTokens::into_token_stream);
    let mut cases = Vec::new();
    match &input.data {
        Data::Struct(data) => {
            let name = &input.ident;
            let (fields, none) = (&data.fields, Marks::default());
            let case = Typed::case(None, name, fields, container, &none, position, errors);
            cases.push(case);
        }
        Data::Enum(data) => {
            container.check_for_enum(errors);
            for variant in &data.variants {
                let own = Marks::read(&variant.attrs, Target::Variant, position, errors);
                let name = &variant.ident;
                let (variant, fields) = (Some(name), &variant.fields);
                let case = Typed::case(variant, name, fields, own, &container, position, errors);
                cases.push(case);
            }
        }
        Data::Union(data) => errors.push(data.union_token.span, wording::union()),
    }
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
    fields: Members<'a>,
    own: Marks,
}

impl<'a> Typed<'a> {
    /// Makes a case from its own marks. The marks of the container are the defaults.
    fn case(
        variant: Option<&'a Ident>,
        name: &Ident,
        fields: &'a Fields,
        own: Marks,
        container: &Marks,
        position: &mut usize,
        errors: &mut Errors,
    ) -> Case<'a> {
        let name = At::from(name.span()).within(*position);
        *position += 1;
        let typed = Self {
            variant,
            name,
            fields: Members::of(fields, position, errors),
            own,
        };
        let verdict = typed.verdict(container, errors);
        let hint = typed.hint(&verdict, container, errors);
        Case {
            variant,
            verdict,
            hint,
        }
    }

    fn verdict(&self, container: &Marks, errors: &mut Errors) -> VerdictSource<'a> {
        let own = self.own_mark(errors);
        let Some(mark) = own.or(container.verdict.as_ref()) else {
            // If a word is wrong, it was perhaps meant as the verdict.
            if !(self.own.faulty || self.fields.faulty || container.faulty) {
                let message = self
                    .variant
                    .map_or_else(wording::silent_struct, wording::silent_variant);
                errors.push(self.name, message);
            }
            return word(Id::Unknown);
        };
        if let Some(function) = &mark.function {
            let above_type = own.is_none() || self.variant.is_none();
            let fields = (!above_type).then(|| self.fields.all.clone());
            return VerdictSource::With(function.clone(), fields);
        }
        if mark.word != Id::Forward {
            return word(mark.word);
        }
        match self.fields.inner() {
            Some(field) => VerdictSource::Forward(field),
            None => {
                let at = own.map_or(self.name, |mark| mark.at);
                let message = wording::no_inner(self.fields.all.len());
                errors.push(at, message);
                word(Id::Unknown)
            }
        }
    }

    /// The verdict that stands above the case itself, or the `forward` above a field of it.
    fn own_mark(&self, errors: &mut Errors) -> Option<&Mark> {
        let field = self.fields.forward.as_ref().map(|(_, mark)| mark);
        if let (Some(field), Some(own)) = (field, &self.own.verdict) {
            if own.word != Id::Forward {
                let target = self.variant.map_or(Target::Struct, |_| Target::Variant);
                let message = wording::two_verdicts(own.word, Id::Forward, target);
                errors.push(field.at, message);
            }
        }
        self.own.verdict.as_ref().or(field)
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
        match after {
            AfterSource::Method(path) => HintSource::Method(path.clone()),
            AfterSource::Field(name) => match self.fields.named(name) {
                Some(field) => HintSource::Field(field, at.start),
                None => {
                    let names = self.fields.all.iter().map(|field| &*field.name);
                    let names: Vec<_> = names.collect();
                    errors.push(*at, wording::unknown_field(name, &names));
                    HintSource::None
                }
            },
        }
    }
}

/// A variant of the runtime's `Verdict`.
fn word<'a>(word: Id) -> VerdictSource<'a> {
    VerdictSource::Word(Ident::new(&format!("{word:?}"), Span::mixed_site()))
}
