//! The message for an unknown key. It names the nearest key, or our key for a key of another crate.

use std::time::Duration;

use proc_macro2::Delimiter;

use super::expression::is_constant_name;
use crate::duration;
use crate::errors::duration::likely_units;
use crate::errors::{Message, typed};
use crate::given::Form;
use crate::keys::{self, ForeignWord, Grammar, Id, KEYS, Key};
use crate::syntax::{RawValue, asks_function};
use crate::text;
use crate::tokens::lone_group;

pub(super) fn unknown(name: &str, value: &RawValue) -> Message {
    if let Some(ours) = keys::foreign(name) {
        return foreign(name, ours, value);
    }
    let message = Message::new(format!("unknown key `{name}`"));
    let message = match text::nearest(name, &mut KEYS.iter().map(|key| key.name)) {
        Some(nearest) => message.help(format!("did you mean `{nearest}`?")),
        // `FAST_IO`, as in `run!(FAST_IO, async || …)`. A single letter is a type parameter.
        None if name.len() > 1 && is_constant_name(&name) => {
            message.help(format!("write `policy = {name}`"))
        }
        // A lone type was most likely meant for `on`.
        None if name.starts_with(char::is_uppercase) => {
            message.help(format!("write `on = {name}`"))
        }
        None => message.help("write one of the keys below, or remove it"),
    };
    message.note(format!("the keys are {}", all_keys()))
}

/// All keys, in lines that are indented to the text after `note: `.
fn all_keys() -> String {
    let mut width = "note: the keys are ".len();
    let mut list = String::new();
    for word in text::list(KEYS, ", ").split(' ') {
        if width + word.len() > 83 {
            list = format!("{}\n      ", list.trim_end());
            width = 6;
        }
        list.extend([word, " "]);
        width += word.len() + 1;
    }
    list.trim_end().to_owned()
}

fn foreign(name: &str, ours: ForeignWord, value: &RawValue) -> Message {
    let is_list = (value.tokens().and_then(lone_group))
        .is_some_and(|list| list.delimiter() == Delimiter::Bracket);
    let (key, write) = match ours {
        ForeignWord::Key(Id::Base) if is_list => {
            let key = Id::Delays.key();
            (key, Some(renamed(name, key, value)))
        }
        ForeignWord::Key(id) => (id.key(), Some(renamed(name, id.key(), value))),
        ForeignWord::Value(id, word) => (id.key(), Some(format!("{} = \"{word}\"", id.key()))),
        ForeignWord::Retries => {
            let number = number(value).and_then(|number| number.parse::<u64>().ok());
            let attempts = number.and_then(|number| number.checked_add(1));
            let write = attempts.map(|attempts| format!("attempts = {attempts}"));
            (Id::Attempts.key(), write)
        }
        ForeignWord::Without(help) => {
            return Message::new(format!("unknown key `{name}`, which is not needed here"))
                .help(help);
        }
    };
    let write = write.as_deref().unwrap_or(key.example);
    let message = Message::new(format!("unknown key `{name}`, called `{key}` here"))
        .help(format!("write `{write}`"));
    match ours {
        ForeignWord::Retries => message.note("`attempts` counts the first call as well"),
        _ => message,
    }
}

/// Our key with the user's value, or with the value of our example if the user's value cannot be right.
fn renamed(name: &str, key: &Key, value: &RawValue) -> String {
    let tokens = value.tokens().cloned().unwrap_or_default();
    let text = typed(&tokens);
    if matches!(value, RawValue::List { .. }) && key.grammar.is_list() {
        return format!("{key}({text})");
    }
    let is_among = |keys: &[&str]| keys.contains(&key.name);
    let begins_with_digit = text
        .trim_start_matches(['"', '['])
        .starts_with(|char: char| char.is_ascii_digit());
    // `stop_after_attempt(3)`, `jitter = true`, `jitter = 0.5`, `retry_on = "5xx"`.
    let foreign = is_among(&["attempts", "backoff", "factor", "jitter"]) && text.contains('(')
        || is_among(&["jitter"]) && matches!(&*text, "true" | "false")
        || is_among(&["jitter", "on"]) && begins_with_digit
        || is_among(&["delays"]) && begins_with_digit && !text.contains('"')
        // A pattern, as in `matches = MyError::Closed`.
        || key.grammar == Grammar::Function && !Form::of(tokens).tokens().is_ok_and(asks_function);
    let number = number(value).filter(|_| key.kind == "a duration");
    if let Some(text) = number.map(|number| with_unit(name, &number)) {
        let counts = |length: Duration| key.zero.is_none() || !length.is_zero();
        if duration::parse(&text).is_ok_and(counts) {
            return format!("{key} = \"{text}\"");
        }
        return key.example.to_owned();
    }
    if foreign || text.is_empty() || text.ends_with('…') {
        return key.example.to_owned();
    }
    format!("{key} = {text}")
}

/// A number with the unit that its key names, or else the likelier one.
fn with_unit(name: &str, number: &str) -> String {
    let unit = match text::snake_case(name).rsplit('_').next() {
        Some("ms" | "millis") => "ms",
        Some("secs" | "seconds") => "s",
        _ => likely_units(number)[0],
    };
    format!("{number}{unit}")
}

/// The value as a number, quoted or not.
fn number(value: &RawValue) -> Option<String> {
    let text = typed(value.tokens()?);
    let text = text.trim_matches(['"', ' ']);
    text.parse::<f64>().ok().map(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_list_of_keys_are_full() {
        let note = format!("note: the keys are {}", all_keys());
        let lines: Vec<_> = note.split("\n      ").collect();
        assert_eq!(
            lines.join(" "),
            format!("note: the keys are {}", text::list(KEYS, ", "))
        );
        let mut indent = 0;
        for (index, line) in lines.iter().enumerate() {
            let width = indent + line.len();
            assert!(width <= 83, "{line}");
            if let Some(next) = lines.get(index + 1) {
                let word = next.split(' ').next().unwrap();
                assert!(width + 1 + word.len() > 83, "{line}");
            }
            indent = 6;
        }
    }
}
