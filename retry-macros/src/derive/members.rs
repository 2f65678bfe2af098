//! The fields of one case, and the field that `forward` means.

use quote::ToTokens as _;
use syn::{Fields, Index};

use super::errors as wording;
use super::keys::Target;
use super::marks::{Mark, Marks};
use super::model::ErrorField;
use crate::errors::Errors;
use crate::tokens::unraw;

/// The fields of one case.
#[derive(Default)]
pub(crate) struct Members<'a> {
    pub(crate) all: Vec<ErrorField<'a>>,
    /// The field that is marked with `#[retryable(forward)]`.
    pub(crate) forward: Option<(ErrorField<'a>, Mark)>,
    /// The field that is marked with `#[from]` or `#[source]`, or named `source`.
    cause: Option<ErrorField<'a>>,
    pub(crate) faulty: bool,
}

impl<'a> Members<'a> {
    pub(crate) fn of(fields: &'a Fields, position: &mut usize, errors: &mut Errors) -> Self {
        let mut members = Self::default();
        for (index, field) in fields.iter().enumerate() {
            let (name, member) = match &field.ident {
                Some(ident) => (unraw(ident), ident.to_token_stream()),
                None => (index.to_string(), Index::from(index).to_token_stream()),
            };
            let is_source = name == "source";
            let seen = ErrorField {
                member,
                name,
                index,
                ty: &field.ty,
            };
            let written = Marks::read(&field.attrs, Target::Field, position, errors);
            members.faulty |= written.faulty;
            if let Some(mark) = written.verdict {
                if members.forward.is_some() {
                    errors.push(mark.at, wording::two_forwards());
                    members.faulty = true;
                } else {
                    members.forward = Some((seen.clone(), mark));
                }
            }
            let marked = |name| field.attrs.iter().any(|it| it.path().is_ident(name));
            if members.cause.is_none() && (marked("from") || marked("source") || is_source) {
                members.cause = Some(seen.clone());
            }
            members.all.push(seen);
        }
        members
    }

    /// The field that `forward` means.
    pub(crate) fn inner(&self) -> Option<ErrorField<'a>> {
        let marked = self.forward.as_ref().map(|(field, _)| field);
        let only = match self.all.as_slice() {
            [only] => Some(only),
            _ => None,
        };
        marked.or(self.cause.as_ref()).or(only).cloned()
    }

    pub(crate) fn named(&self, name: &str) -> Option<ErrorField<'a>> {
        self.all.iter().find(|field| field.name == name).cloned()
    }
}
