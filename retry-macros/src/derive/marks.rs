//! The attributes of a type, a variant or a field: at most one verdict and one delay.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::{Attribute, LitInt, Meta, Path};

use super::errors as wording;
use super::keys::{Id, Target};
use crate::editor;
use crate::errors::{At, Errors};
use crate::given::{Form, Given};
use crate::keys::Key;
use crate::syntax::{self, RawArg, RawValue, Vocabulary};
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

/// The mentions of all words of an item.
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
    /// Reads all `#[retryable(…)]` of one type, variant or field. `position` counts the words of the whole item.
    pub(crate) fn read(
        attributes: &[Attribute],
        target: Target,
        position: &mut usize,
        errors: &mut Errors,
    ) -> Self {
        let mut marks = Self::default();
        let before = errors.count();
        for attribute in attributes {
            if !attribute.path().is_ident("retryable") {
                continue;
            }
            let at = At::of(attribute.path()).within(*position);
            *position += 1;
            match &attribute.meta {
                Meta::List(list) if !list.tokens.is_empty() => {
                    let tokens = list.tokens.clone();
                    for word in syntax::parse(tokens, &VOCABULARY, position, errors) {
                        marks.take(word, target, errors);
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

    /// Adds one word.
    fn take(&mut self, word: RawArg, target: Target, errors: &mut Errors) {
        let at = word.at;
        let Some(id) = Id::named(&word.name) else {
            return errors.push(at, wording::unknown(&word.name, target));
        };
        if !target.takes(id) {
            return errors.push(at, wording::not_here(&word.name, target));
        }
        let function = match id {
            Id::After => {
                let after = after(word, errors);
                return once(&mut self.after, after, id, at, errors);
            }
            Id::Crate => {
                let root = path(word, id, errors);
                return once(&mut self.root, root, id, at, errors);
            }
            Id::With => match path(word, id, errors) {
                None => return,
                function => function,
            },
            _ => {
                let at = match &word.value {
                    RawValue::Alone => None,
                    RawValue::Assigned(value) => Some(At::of(value).within(at.position)),
                    RawValue::Missing | RawValue::List { .. } => Some(at),
                };
                if let Some(at) = at {
                    return errors.push(at, wording::no_value(&word.name));
                }
                None
            }
        };
        match &self.verdict {
            Some(first) if first.word == id => errors.push(at, wording::twice(id.key().name)),
            Some(first) => errors.push(at, wording::two_verdicts(first.word, id, target)),
            None => {
                self.verdict = Some(Mark {
                    word: id,
                    function,
                    at,
                });
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

/// Sets a mark. Reports it if it is given twice.
fn once<T>(slot: &mut Option<T>, value: Option<T>, id: Id, at: At, errors: &mut Errors) {
    match (&slot, value) {
        (Some(_), Some(_)) => errors.push(at, wording::twice(id.key().name)),
        (None, Some(value)) => *slot = Some(value),
        (_, None) => {}
    }
}

fn after(word: RawArg, errors: &mut Errors) -> Option<(AfterSource, At)> {
    let given = Given::new(Id::After.key(), word, errors)?;
    let source = AfterSource::read(&given.form);
    if source.is_none() {
        errors.push(given.at, wording::not_a_field(&given.typed()));
    }
    Some((source?, given.at))
}

impl AfterSource {
    /// `field`, `0`, `.0`, `path::to`, each also in quotes.
    fn read(form: &Form) -> Option<Self> {
        let plain = match form {
            Form::Text(text) => text.value().trim().to_owned(),
            Form::Rust(tokens) | Form::List(tokens) => tokens.to_string().replace(' ', ""),
        };
        let digits = plain.strip_prefix('.').unwrap_or(&plain);
        if let Ok(digits) = syn::parse_str::<LitInt>(digits) {
            let place = digits.base10_parse::<usize>().ok()?;
            return Some(Self::Field(place.to_string()));
        }
        if let Ok(name) = form.parse(Ident::parse_any) {
            return Some(Self::Field(unraw(&name)));
        }
        form.parse(Path::parse_mod_style).ok().map(Self::Method)
    }
}

/// The path of `with` and `crate`, also in quotes.
fn path(word: RawArg, id: Id, errors: &mut Errors) -> Option<Path> {
    let given = Given::new(id.key(), word, errors)?;
    let path = given.form.parse(<Path as syn::parse::Parse>::parse);
    if path.is_err() {
        let expected = match id {
            Id::With => "the path of a function",
            _ => given.key.kind,
        };
        let message = wording::not_a_path(given.key, &given.typed(), expected);
        errors.push(given.at, message);
    }
    path.ok()
}
