//! Wording: keys and the punctuation round them.

use proc_macro2::{TokenStream, TokenTree};

use super::{Message, typed};
use crate::keys::{self, Foreign, Id, KEYS, Key, Shape};
use crate::syntax::RawValue;

pub(crate) fn unknown(name: &str, value: &RawValue) -> Message {
    if let Some(ours) = keys::foreign(name) {
        return foreign(name, ours, value);
    }
    let message = Message::new(format!("unknown key `{name}`"));
    let message = match keys::nearest(name, KEYS.iter().map(|key| key.name)) {
        Some(nearest) => message.help(format!("did you mean `{nearest}`?")),
        // A type alone is meant for `on`.
        None if name.starts_with(char::is_uppercase) => {
            message.help(format!("write `on = {name}`"))
        }
        None => message.help("take one of the keys below, or leave it out"),
    };
    message.note(format!("the keys are {}", list()))
}

/// All keys, broken into lines that stand under the text of a `note: `.
fn list() -> String {
    let mut list = String::new();
    let mut width = "note: the keys are ".len();
    for (index, key) in KEYS.iter().enumerate() {
        if index > 0 {
            list.push(',');
            if width + key.name.len() > 80 {
                list.push_str("\n      ");
                width = 6;
            } else {
                list.push(' ');
            }
        }
        list.push('`');
        list.push_str(key.name);
        list.push('`');
        width += key.name.len() + 4;
    }
    list
}

fn foreign(name: &str, ours: Foreign, value: &RawValue) -> Message {
    let key = ours_of(ours);
    let called = Message::new(format!("unknown key `{name}`, called `{}` here", key.name));
    match ours {
        Foreign::Key(_) => called.help(format!("write `{}`", renamed(key, value))),
        Foreign::Value(_, word) => called.help(format!("write `{} = \"{word}\"`", key.name)),
        Foreign::Number(_, unit) => called.help(match number(value) {
            Some(number) => format!("write `{} = \"{number}{unit}\"`", key.name),
            None => format!("write `{}`", key.example),
        }),
        Foreign::Retries => called
            .help(
                match number(value).and_then(|number| number.checked_add(1)) {
                    Some(attempts) => format!("write `attempts = {attempts}`"),
                    None => format!("write `{}`", key.example),
                },
            )
            .note("`attempts` counts the first call as well"),
    }
}

fn ours_of(ours: Foreign) -> &'static Key {
    let id = match ours {
        Foreign::Key(id) | Foreign::Value(id, _) | Foreign::Number(id, _) => id,
        Foreign::Retries => Id::Attempts,
    };
    keys::of(id)
}

/// Our key with the user's own value; with the value of the example where that is no help.
fn renamed(key: &Key, value: &RawValue) -> String {
    let tokens = match value {
        RawValue::Missing => return key.example.to_owned(),
        RawValue::List { tokens, .. } if key.shape.is_list() => {
            return format!("{}({})", key.name, typed(tokens));
        }
        RawValue::Assigned(tokens) | RawValue::List { tokens, .. } => tokens,
    };
    let text = typed(tokens);
    // `stop_after_attempt(3)` belongs to the crate that was meant.
    let foreign = matches!(key.id, Id::Attempts | Id::Backoff | Id::Factor | Id::Jitter)
        && text.contains('(');
    let lacks_unit = key.kind == "a duration" && number(value).is_some();
    if foreign || lacks_unit || text.is_empty() || text.ends_with('…') {
        return key.example.to_owned();
    }
    format!("{} = {text}", key.name)
}

/// The value as a whole number, quoted or not.
fn number(value: &RawValue) -> Option<u64> {
    let (RawValue::Assigned(tokens) | RawValue::List { tokens, .. }) = value else {
        return None;
    };
    match syn::parse2(tokens.clone()).ok()? {
        syn::Lit::Int(int) => int.base10_parse().ok(),
        syn::Lit::Str(text) => text.value().trim().parse().ok(),
        _ => None,
    }
}

pub(crate) fn duplicate(key: &Key) -> Message {
    let message = Message::new(format!("`{}` is given twice", key.name));
    match key.shape {
        Shape::Types => message.help(format!("write both in one: `{}(A, B)`", key.name)),
        Shape::Pattern => message.help(format!("write both in one: `{} = A | B`", key.name)),
        Shape::Expr | Shape::Names => message.help("keep one of the two"),
    }
}

pub(crate) fn missing_value(key: &Key) -> Message {
    Message::new(format!(
        "`{}` has no value, expected {}",
        key.name, key.kind
    ))
    .help(format!("write `{}`", key.example))
}

pub(crate) fn not_equals(name: &str, found: &str) -> Message {
    let example = keys::find(name).map_or(name, |key| key.example);
    Message::new(format!("found `{found}` after `{name}`, expected `=`"))
        .help(format!("write `{example}`"))
}

/// `attempts(4)`.
pub(crate) fn not_a_list(key: &Key, tokens: &TokenStream) -> Message {
    let text = typed(tokens);
    let message = Message::new(format!("found `(` after `{}`, expected `=`", key.name));
    if text.is_empty() || text.ends_with('…') {
        message.help(format!("write `{}`", key.example))
    } else {
        message.help(format!("write `{} = {text}`", key.name))
    }
}

pub(crate) fn missing_comma(next: &str) -> Message {
    Message::new(format!("found `{next}` after a value, expected `,`"))
        .help(format!("write `, {next}`"))
}

pub(crate) fn stray_comma() -> Message {
    Message::new("found `,`, expected a key").help("remove the comma")
}

/// Something behind `on(A, B)`.
pub(crate) fn trailing(key: &Key, rest: &TokenStream) -> Message {
    Message::new(format!(
        "found `{}` after the list of `{}`, expected `,`",
        typed(rest),
        key.name
    ))
    .help("remove it, or put a comma and a key before it")
}

/// A value without a key.
pub(crate) fn not_a_key(tokens: &TokenStream) -> Message {
    let text = typed(tokens);
    let message = Message::new(format!("found `{text}`, expected a key"));
    let first = tokens.clone().into_iter().next();
    let key = match first {
        Some(TokenTree::Literal(literal)) => match syn::Lit::new(literal) {
            syn::Lit::Int(int) if int.suffix().is_empty() => keys::of(Id::Attempts),
            syn::Lit::Str(text) if text.value().starts_with(|c: char| c.is_ascii_digit()) => {
                keys::of(Id::Timeout)
            }
            syn::Lit::Str(text) if text.value().contains("::") => keys::of(Id::On),
            _ => return message.help("write `key = value`, such as `attempts = 4`"),
        },
        Some(TokenTree::Ident(_)) if syn::parse2::<syn::TypePath>(tokens.clone()).is_ok() => {
            return message.help(format!("write `on = {text}`, or several as `on(A, B)`"));
        }
        _ => return message.help("write `key = value`, such as `attempts = 4`"),
    };
    message.help(format!("write `{} = {text}`", key.name))
}
