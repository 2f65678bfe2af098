//! The attributes of a type, a variant or a field: at most one verdict and one delay.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::Parse as _;
use syn::{Attribute, Index, Meta, Path};

use super::errors as wording;
use super::keys::{Id, Target};
use crate::editor;
use crate::errors::value::duplicate;
use crate::errors::{At, Errors, Mistake};
use crate::given::{Form, Given};
use crate::keys::Key;
use crate::syntax::{self, RawArg, Vocabulary};
use crate::tokens::{deep, generated, is_punct, is_word, unraw};

/// The words of the derive.
static VOCABULARY: Vocabulary = Vocabulary {
    find: |name| Id::named(name).map(Id::key),
    not_a_key: wording::not_a_word,
};

/// What the attributes of one type, variant or field say.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) root: Option<Path>,
    pub(crate) verdict: Option<Mark>,
    /// Where the delay comes from, and where the user wrote that.
    pub(crate) after: Option<(AfterSource, At)>,
    /// Whether a word was wrong. A mark that is missing may then be the wrong word.
    pub(crate) faulty: bool,
}

/// Where the verdict comes from.
pub(crate) struct Mark {
    /// A verdict, `forward` or `with`.
    pub(crate) word: Id,
    /// The function of `with`.
    pub(crate) function: Option<Path>,
    pub(crate) at: At,
}

pub(crate) enum AfterSource {
    /// The name or the place of a field, without `r#` or the dot of `.0`.
    Field(String),
    Method(Path),
}

pub(crate) fn mentions(item: &TokenStream) -> TokenStream {
    let tokens: Vec<_> = deep(item).collect();
    let mentions = tokens.windows(2).filter_map(|pair| match pair {
        [word, TokenTree::Group(list)] if is_word(Some(word), "retryable") => {
            let mention = |_: &_, key: &Key, value: TokenStream| {
                // Behind `after`, only a method has a path. Anything else is a field.
                let mut tokens = value.clone().into_iter();
                let is_field = key.name == "after" && !tokens.any(|it| is_punct(Some(&it), ":"));
                if is_field {
                    TokenStream::new()
                } else {
                    generated!((#value);)
                }
            };
            let table = ("words", "transient");
            Some(editor::mentions(
                &list.stream(),
                &VOCABULARY,
                table,
                &mention,
            ))
        }
        _ => None,
    });
    let mentions: TokenStream = mentions.collect();
    generated!(const _: () = { #mentions };)
}

impl Marks {
    /// Reads all `#[retryable(…)]` of one type, variant or field.
    pub(crate) fn read(attributes: &[Attribute], target: Target, errors: &mut Errors) -> Self {
        let mut marks = Self::default();
        let before = errors.count();
        for attribute in attributes {
            if !attribute.path().is_ident("retryable") {
                continue;
            }
            let at = At::of(attribute.path()).within(errors.next_position());
            match &attribute.meta {
                Meta::List(list) if !list.tokens.is_empty() => {
                    let tokens = list.tokens.clone();
                    for word in syntax::parse(tokens, &VOCABULARY, errors) {
                        let taken = marks.take(word, target, errors);
                        errors.extend(taken.err());
                    }
                }
                Meta::NameValue(typed) => {
                    let value: TokenStream = quote::ToTokens::to_token_stream(&typed.value);
                    let at = At::of(&value).within(at.position);
                    errors.push(at, wording::not_parentheses(&value));
                }
                Meta::List(_) | Meta::Path(_) => errors.push(at, wording::empty()),
            }
        }
        marks.faulty = errors.count() > before;
        marks
    }

    fn take(&mut self, word: RawArg, target: Target, errors: &mut Errors) -> Result<(), Mistake> {
        let at = word.at;
        let refused = |message| Err(Mistake { at, message });
        let Some(id) = Id::named(&word.name) else {
            return refused(wording::unknown(&word.name, target));
        };
        if !target.takes(id) {
            return refused(wording::not_here(&word.name, target));
        }
        let Some(given) = Given::new(id.key(), word, errors) else {
            return Ok(());
        };
        let function = match id {
            Id::After => {
                let after = (AfterSource::read(&given)?, given.at);
                return once(&mut self.after, after, &given);
            }
            Id::Crate => return once(&mut self.root, given.parse(Path::parse)?, &given),
            Id::With => Some(given.parse(Path::parse)?),
            _ => None,
        };
        match &self.verdict {
            Some(first) if first.word != id => {
                refused(wording::two_verdicts(first.word, id, target))
            }
            _ => {
                let word = id;
                once(&mut self.verdict, Mark { word, function, at }, &given)
            }
        }
    }

    /// Refuses an `after` above an enum that names a field. An enum as a whole has no fields.
    pub(crate) fn check_for_enum(&mut self, errors: &mut Errors) {
        if let Some((AfterSource::Field(name), at)) = &self.after {
            errors.push(*at, wording::after_on_enum(name));
            self.after = None;
        }
    }
}

/// Sets a mark, which may be given once.
fn once<T>(slot: &mut Option<T>, value: T, given: &Given) -> Result<(), Mistake> {
    if slot.is_some() {
        return Err(Mistake {
            at: given.name,
            message: duplicate(given.key),
        });
    }
    *slot = Some(value);
    Ok(())
}

impl AfterSource {
    /// `field`, `0`, `.0`, `path::to`, each also in quotes.
    fn read(given: &Given) -> Result<Self, Mistake> {
        let form = &given.form;
        let plain = match form {
            Form::Text(text) => text.value().trim().to_owned(),
            Form::Rust(tokens) | Form::List(tokens) => tokens.to_string().replace(' ', ""),
        };
        let digits = plain.strip_prefix('.').unwrap_or(&plain);
        if let Ok(place) = syn::parse_str::<Index>(digits) {
            return Ok(Self::Field(place.index.to_string()));
        }
        if let Ok(name) = form.parse(Ident::parse_any) {
            return Ok(Self::Field(unraw(&name)));
        }
        given.parse(Path::parse_mod_style).map(Self::Method)
    }
}
