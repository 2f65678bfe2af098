//! From what was typed to what it means, with every mistake reported on the way.

use proc_macro2::{Ident, Span};
use syn::{Data, DeriveInput};

use super::errors::{self as wording, Place};
use super::members::Members;
use super::model::{Case, Given, Hint, Model, Verdict};
use super::settings::{Ruling, Says, Settings, Source};
use super::syntax::Positions;
use crate::errors::Errors;

/// Reads the item; what is wrong goes to `errors`, and the model is then fit for a stand-in only.
pub(crate) fn lower<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Model<'a> {
    let place = match &input.data {
        Data::Struct(_) => Place::Struct,
        Data::Enum(_) | Data::Union(_) => Place::Enum,
    };
    let mut positions = Positions::default();
    let mut container = Settings::read(&input.attrs, place, &mut positions, errors);
    let root = container.root.take();
    let mut cases = Vec::new();
    match &input.data {
        Data::Struct(data) => {
            let position = positions.next();
            let typed = Typed {
                variant: None,
                name: &input.ident,
                position,
                fields: Members::of(&data.fields, &mut positions, errors),
                own: container,
            };
            cases.push(typed.lower(&Settings::default(), errors));
        }
        Data::Enum(data) => {
            container.check_for_enum(errors);
            for variant in &data.variants {
                let own = Settings::read(&variant.attrs, Place::Variant, &mut positions, errors);
                let position = positions.next();
                let typed = Typed {
                    variant: Some(&variant.ident),
                    name: &variant.ident,
                    position,
                    fields: Members::of(&variant.fields, &mut positions, errors),
                    own,
                };
                cases.push(typed.lower(&container, errors));
            }
        }
        Data::Union(data) => errors.push(data.union_token.span, wording::union()),
    }
    Model {
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
    /// What an error about the whole of it points at.
    name: &'a Ident,
    position: usize,
    fields: Members<'a>,
    own: Settings,
}

impl<'a> Typed<'a> {
    /// Makes a case out of its own settings and, where those are silent, the container's.
    fn lower(&self, container: &Settings, errors: &mut Errors) -> Case<'a> {
        let verdict = self.verdict(container, errors);
        let hint = self.hint(&verdict, container, errors);
        Case {
            variant: self.variant,
            verdict,
            hint,
        }
    }

    fn verdict(&self, container: &Settings, errors: &mut Errors) -> Verdict<'a> {
        let own = self.own_ruling(errors);
        let Some(ruling) = own.or(container.ruling.as_ref()) else {
            // A word that could not be read may have been the one that is missing.
            if !(self.own.faulty || self.fields.faulty || container.faulty) {
                errors.seek(self.position);
                errors.push(self.name.span(), wording::silent(self.variant));
            }
            return unknown();
        };
        match &ruling.says {
            Says::Word(word) => Verdict::Word(Ident::new(word, Span::mixed_site())),
            Says::With(path) => {
                let above_type = own.is_none() || self.variant.is_none();
                let given = if above_type {
                    Given::Itself
                } else {
                    Given::Fields(self.fields.all.clone())
                };
                Verdict::With(path.clone(), given)
            }
            Says::Forward => self.fields.inner().map_or_else(
                || {
                    let (at, position) = match own {
                        Some(ruling) => (ruling.span, ruling.position),
                        None => (self.name.span(), self.position),
                    };
                    errors.seek(position);
                    errors.push(at, wording::no_inner(self.variant, &self.fields.names));
                    unknown()
                },
                Verdict::Forward,
            ),
        }
    }

    /// Its own word; a mark on a field is one too.
    fn own_ruling(&self, errors: &mut Errors) -> Option<&Ruling> {
        let mark = self.fields.forward.as_ref().map(|(_, mark)| mark);
        if let (Some(mark), Some(own)) = (mark, &self.own.ruling) {
            if !matches!(own.says, Says::Forward) {
                let place = self.variant.map_or(Place::Struct, |_| Place::Variant);
                let first = own.says.typed();
                errors.seek(mark.position);
                errors.push(mark.span, wording::second_word(first, "forward", place));
            }
        }
        self.own.ruling.as_ref().or(mark)
    }

    fn hint(&self, verdict: &Verdict<'a>, container: &Settings, errors: &mut Errors) -> Hint<'a> {
        let permanent = matches!(verdict, Verdict::Word(word) if word == "Permanent");
        let Some(after) = &self.own.after else {
            return match (verdict, container.after.as_ref().map(|after| &after.source)) {
                // A field that is asked for its verdict knows its hint too.
                (Verdict::Forward(field), _) => Hint::Forward(field.clone()),
                (_, Some(Source::Method(path))) if !permanent => Hint::Method(path.clone()),
                _ => Hint::None,
            };
        };
        errors.seek(after.position);
        if permanent {
            errors.push(after.key, wording::after_permanent());
            return Hint::None;
        }
        match &after.source {
            Source::Method(path) => Hint::Method(path.clone()),
            Source::Field(name) => {
                let Some(field) = self.fields.named(name) else {
                    let names = &self.fields.names;
                    errors.push(after.at, wording::unknown_field(name, names));
                    return Hint::None;
                };
                Hint::Field(field, after.at.start)
            }
        }
    }
}

/// For a case about which an error has been reported.
fn unknown<'a>() -> Verdict<'a> {
    Verdict::Word(Ident::new("Unknown", Span::mixed_site()))
}
