//! The wording of the derive's errors.

use proc_macro2::{Ident, TokenStream};

use super::keys::{Id, Target};
use crate::errors::{Message, messages, typed};
use retry_settings::text;

const VERDICTS: &str =
    "`transient`, `throttled`, `refused`, `conflict`, `permanent`, `unknown` or `forward`";

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

    not_a_path(name: &str, found: &str, expected: &str, example: &str) {
        "`{found}` is not a path, expected {expected}";
        help "write `{name} = \"{example}\"`";
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

    after_permanent() {
        "`after` on a permanent error: there is no other attempt to wait for";
        help "remove `after`, or write `throttled`";
    }

    twice(name: &str) {
        "`{name}` is given twice";
        help "remove one of them";
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

pub(crate) fn no_value(name: &str) -> Message {
    Message::new(format!("`{name}` takes no value")).help(match name {
        "forward" => {
            "write `forward`, and `#[retryable(forward)]` above the field to ask".to_owned()
        }
        _ => format!(
            "write `{name}`; the delay that a server asked for is `{name}, after = \"field\"`"
        ),
    })
}

pub(crate) fn unknown_field(name: &str, names: &[String]) -> Message {
    let method = "a method of the error is `after = \"Self::retry_after\"`";
    let near = text::nearest(name, names.iter().map(String::as_str));
    Message::new(format!("there is no field `{name}` here")).help(match (names, near) {
        ([], _) => format!("this case has no fields; {method}"),
        (_, Some(near)) => format!("write `after = \"{near}\"`"),
        (names, None) => format!("the fields are {}; {method}", text::list(names, " or ")),
    })
}

pub(crate) fn second_word(first: &str, second: &str, target: Target) -> Message {
    if first == second {
        return twice(first);
    }
    let target = target.name();
    Message::new(format!(
        "`{second}` after `{first}`: {target} has one verdict"
    ))
    .help("remove one of them")
}

pub(crate) fn no_inner(variant: Option<&Ident>, fields: usize) -> Message {
    let whose = match variant {
        Some(variant) => format!("variant `{variant}`"),
        None => "this struct".to_owned(),
    };
    match fields {
        0 => Message::new(format!("{whose} has no field to forward to"))
            .help("write `transient`, `throttled`, `refused`, `conflict`, `permanent`, `unknown` or `with`"),
        fields => Message::new(format!(
            "{whose} has {fields} fields, and none is marked with `forward`"
        ))
        .help("write `#[retryable(forward)]` above the field"),
    }
}

/// A known word at a place where it does not belong.
pub(crate) fn not_here(name: &str, target: Target) -> Message {
    if target == Target::Field {
        return Message::new(format!("`{name}` above a field, expected `forward`"))
            .help("write it above the variant or the struct");
    }
    Message::new(format!("`{name}` above {}", target.name())).help(format!(
        "write `#[retryable({name} = \"…\")]` above the type"
    ))
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
