//! One attribute's words, as settings in which there is at most one verdict and one delay.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::{Attribute, LitInt, LitStr, Path};

use super::errors::{self as wording, Place};
use super::syntax::{Positions, Word, words};
use crate::errors::{At, Errors};

/// What one attribute set.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) root: Option<Path>,
    pub(crate) ruling: Option<Ruling>,
    pub(crate) after: Option<After>,
    /// Something was wrong in it, so that what is missing may be what was wrong.
    pub(crate) faulty: bool,
}

/// Where the verdict comes from.
#[derive(Clone)]
pub(crate) struct Ruling {
    pub(crate) says: Says,
    pub(crate) span: Span,
    pub(crate) position: usize,
}

#[derive(Clone)]
pub(crate) enum Says {
    Word(&'static str),
    Forward,
    With(Path),
}

impl Says {
    pub(crate) fn typed(&self) -> &'static str {
        match self {
            Self::Word(variant) => WORDS
                .iter()
                .find(|(_, name)| name == variant)
                .map_or("", |(word, _)| word),
            Self::Forward => "forward",
            Self::With(_) => "with",
        }
    }
}

#[derive(Clone)]
pub(crate) struct After {
    pub(crate) source: Source,
    pub(crate) key: Span,
    pub(crate) at: At,
    pub(crate) position: usize,
}

#[derive(Clone)]
pub(crate) enum Source {
    /// Without `r#` or the dot of `.0`.
    Field(String),
    Method(Path),
}

/// The verdicts as typed, and as the runtime names them.
const WORDS: [(&str, &str); 5] = [
    ("transient", "Transient"),
    ("throttled", "Throttled"),
    ("refused", "Refused"),
    ("permanent", "Permanent"),
    ("unknown", "Unknown"),
];

impl Settings {
    pub(crate) fn read(
        attributes: &[Attribute],
        place: Place,
        positions: &mut Positions,
        errors: &mut Errors,
    ) -> Self {
        let mut settings = Self::default();
        for word in words(attributes, positions, errors) {
            errors.seek(word.position);
            if settings.take(&word, place, errors).is_none() {
                settings.faulty = true;
            }
        }
        settings
    }

    /// Takes in one word; `None` after a mistake, which has then been reported.
    fn take(&mut self, word: &Word, place: Place, errors: &mut Errors) -> Option<()> {
        let value = word.value.clone();
        let verdict = WORDS
            .iter()
            .find(|(typed, _)| *typed == word.name)
            .map(|(_, variant)| *variant);
        let says = match (word.name.as_str(), verdict) {
            ("", _) => return None,
            (_, Some(variant)) => Says::Word(variant),
            ("forward", _) => Says::Forward,
            ("with", _) => Says::With(function(word, value.clone(), errors)?),
            ("after", _) if place != Place::Field => {
                let after = After::read(word, value, errors)?;
                if self.after.is_some() {
                    errors.push(word.span, wording::twice("after"));
                    return None;
                }
                self.after = Some(after);
                return Some(());
            }
            ("crate", _) if matches!(place, Place::Struct | Place::Enum) => {
                if self.root.is_some() {
                    errors.push(word.span, wording::twice("crate"));
                    return None;
                }
                self.root = Some(function(word, value, errors)?);
                return Some(());
            }
            _ => {
                errors.push(word.span, wording::not_here(&word.name, place));
                return None;
            }
        };
        if place == Place::Field && !matches!(says, Says::Forward) {
            errors.push(word.span, wording::not_here(&word.name, place));
            return None;
        }
        if let (Some(value), false) = (&value, matches!(says, Says::With(_))) {
            // An empty one has been reported where it was read.
            if !value.is_empty() {
                errors.push(At::of(value), wording::no_value(&word.name));
            }
            return None;
        }
        if let Some(first) = &self.ruling {
            errors.push(
                word.span,
                wording::second_word(first.says.typed(), says.typed(), place),
            );
            return None;
        }
        self.ruling = Some(Ruling {
            says,
            span: word.span,
            position: word.position,
        });
        Some(())
    }

    /// An enum as a whole has no fields that `after` could name.
    pub(crate) fn check_for_enum(&mut self, errors: &mut Errors) {
        if let Some(After {
            source: Source::Field(name),
            at,
            position,
            ..
        }) = &self.after
        {
            errors.seek(*position);
            errors.push(*at, wording::after_on_enum(name));
            self.after = None;
        }
    }
}

impl After {
    fn read(word: &Word, value: Option<TokenStream>, errors: &mut Errors) -> Option<Self> {
        let Some(value) = value else {
            errors.push(word.span, wording::missing_after());
            return None;
        };
        if value.is_empty() {
            return None;
        }
        let at = At::of(&value);
        let Some(source) = Source::read(&value) else {
            errors.push(at, wording::not_a_field(&value));
            return None;
        };
        Some(Self {
            source,
            key: word.span,
            at,
            position: word.position,
        })
    }
}

impl Source {
    /// `field`, `0`, `.0`, `path::to`, each also in quotes.
    fn read(value: &TokenStream) -> Option<Self> {
        if let Ok(text) = syn::parse2::<LitStr>(value.clone()) {
            let unquoted = text.value();
            let name = unquoted.trim();
            if let Some(place) = tuple_place(name) {
                return Some(Self::Field(place));
            }
            if let Ok(name) = text.parse_with(Ident::parse_any) {
                return Some(Self::Field(name.unraw().to_string()));
            }
            return text
                .parse_with(Path::parse_mod_style)
                .ok()
                .map(Self::Method);
        }
        if let Some(place) = tuple_place(value.to_string().replace(' ', "").as_str()) {
            return Some(Self::Field(place));
        }
        if let Ok(name) = Ident::parse_any.parse2(value.clone()) {
            return Some(Self::Field(name.unraw().to_string()));
        }
        Path::parse_mod_style
            .parse2(value.clone())
            .ok()
            .map(Self::Method)
    }
}

/// The `0` of `0` or `.0`.
fn tuple_place(name: &str) -> Option<String> {
    let digits = name.strip_prefix('.').unwrap_or(name);
    syn::parse_str::<LitInt>(digits)
        .ok()?
        .base10_parse::<usize>()
        .ok()
        .map(|place| place.to_string())
}

/// The path of `with` and `crate`, also in quotes.
fn function(word: &Word, value: Option<TokenStream>, errors: &mut Errors) -> Option<Path> {
    let Some(value) = value else {
        errors.push(word.span, wording::missing_path(&word.name));
        return None;
    };
    if value.is_empty() {
        return None;
    }
    let path = match syn::parse2::<LitStr>(value.clone()) {
        Ok(text) => text.parse::<Path>(),
        Err(_) => syn::parse2::<Path>(value.clone()),
    };
    if path.is_err() {
        errors.push(At::of(&value), wording::not_a_path(&word.name, &value));
    }
    path.ok()
}
