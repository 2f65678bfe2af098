//! The wording of the derive's errors.

use proc_macro2::{Ident, TokenStream};

use super::keys::{Id, Target};
use crate::errors::{Message, messages, typed};
use crate::keys::Key;
use crate::text;

const VERDICTS: &str =
    "`transient`, `throttled`, `refused`, `conflict`, `permanent`, `unknown` or `forward`";

const METHOD: &str = "a method of the error is `after = \"Self::retry_after\"`";

/// Words that people may know from elsewhere, and our word for each.
const FOREIGN: &[(&str, &str)] = &[
    ("always retry retryable temporary", "transient"),
    ("backoff rate_limited", "throttled"),
    ("aborted contention deadlock serialization", "conflict"),
    ("delay hint retry_after", "after"),
    (
        "fatal never non_retryable nonretryable not_retryable",
        "permanent",
    ),
    ("function", "with"),
    ("inherit transparent", "forward"),
];

messages! {
    silent_variant(variant: &Ident) {
        "variant `{variant}` does not say whether it is worth another attempt";
        help "write `#[retryable(transient)]` above it ({VERDICTS}), or once above the enum for all";
    }

    silent_struct() {
        "this error does not say whether it is worth another attempt";
        help "write `#[retryable(transient)]` above it ({VERDICTS})";
    }

    empty() {
        "`#[retryable]` has no verdict, expected one in parentheses";
        help "write `#[retryable(transient)]` ({VERDICTS})";
    }

    not_parentheses(value: &TokenStream) {
        "found `=` after `retryable`, expected parentheses";
        help "write `#[retryable({})]`", typed(value).trim_matches('"');
    }

    not_a_path(key: &Key, found: &str, expected: &str) {
        "`{found}` is not a path, expected {expected}";
        help "write `{}`", key.example;
    }

    not_a_field(found: &str) {
        "`{found}` is not a field, expected its name or the path of a method";
        help "write `after = \"field\"` (a `Duration` or `Option<Duration>`), or `after = \"Self::method\"`";
    }

    after_on_enum(name: &str) {
        "`after = \"{name}\"` above an enum names no field";
        help "write it above the variant that has the field, or name a method: `after = \"Self::{}\"`",
            if name.starts_with(|first: char| first.is_ascii_digit()) { "retry_after" } else { name };
    }

    twice(name: &str) {
        "`{name}` is given twice";
        help "remove one of them";
    }

    two_verdicts(first: Id, second: Id, target: Target) {
        "`{}` after `{}`: {} has one verdict", second.key(), first.key(), target.name();
        help "remove one of them";
    }

    no_inner(variant: Option<&Ident>, fields: usize) {
        "{} has {}",
            match variant {
                Some(variant) => format!("variant `{variant}`"),
                None => "this struct".to_owned(),
            },
            match fields {
                0 => "no field to forward to".to_owned(),
                _ => format!("{fields} fields, and none is marked with `forward`"),
            };
        help "write {}", match fields {
            0 => "`transient`, `throttled`, `refused`, `conflict`, `permanent`, `unknown` or `with`",
            _ => "`#[retryable(forward)]` above the field",
        };
    }

    /// A known word at a place where it does not belong.
    not_here(name: &str, target: Target) {
        "`{name}` above {}{}", target.name(), if target == Target::Field { ", expected `forward`" } else { "" };
        help "write {}", match target {
            Target::Field => "it above the variant or the struct".to_owned(),
            _ => format!("`#[retryable({name} = \"…\")]` above the type"),
        };
    }

    no_value(name: &str) {
        "`{name}` takes no value";
        help "write `{name}`{}", match name {
            "forward" => ", and `#[retryable(forward)]` above the field to ask".to_owned(),
            _ => format!("; the delay that a server asked for is `{name}, after = \"field\"`"),
        };
    }

    unknown_field(name: &str, names: &[&str]) {
        "there is no field `{name}` here";
        help "{}", match text::nearest(name, names.iter().copied()) {
            Some(near) => format!("write `after = \"{near}\"`"),
            None if names.is_empty() => format!("this case has no fields; {METHOD}"),
            None => format!("the fields are {}; {METHOD}", text::list(names, " or ")),
        };
    }

    two_forwards() {
        "`forward` marks two fields, expected one";
        help "remove one of the marks";
    }

    union() {
        "found a union, expected an enum or a struct";
        help "implement `reattempt::Retryable` by hand";
    }
}

pub(crate) fn not_a_word(found: &TokenStream) -> Message {
    let found = typed(found);
    let message = Message::new(match found.as_str() {
        "," => "found `,`, expected a verdict".to_owned(),
        found => format!("found `{found}`, expected a word of `retryable`"),
    });
    let inside = found.trim_matches('"');
    message.help(match Id::named(inside) {
        Some(_) => format!("write `{inside}` without quotes"),
        None => format!("expected {VERDICTS}"),
    })
}

pub(crate) fn unknown(name: &str, target: Target) -> Message {
    let message = Message::new(format!("unknown word `{name}`"));
    if name == "default" {
        return message.help("a verdict above the enum is the default: `#[retryable(permanent)]`");
    }
    let near = text::beside(FOREIGN, name)
        .or_else(|| text::nearest(name, target.words()))
        .and_then(Id::named)
        .filter(|&near| target.takes(near));
    let list = text::list(target.words(), " or ");
    message.help(match near {
        Some(near) => format!("did you mean `{}`? expected {list}", near.key().example),
        None => format!("expected {list}"),
    })
}
