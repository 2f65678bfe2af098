//! The wording of the derive's errors.

use proc_macro2::Ident;
use quote::ToTokens;

use crate::errors::Message;

/// Where an attribute stands, which decides what may stand in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Struct,
    Enum,
    Variant,
    Field,
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Self::Struct => "a struct",
            Self::Enum => "an enum",
            Self::Variant => "a variant",
            Self::Field => "a field",
        }
    }

    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Struct | Self::Enum => &[
                "transient",
                "throttled",
                "refused",
                "permanent",
                "unknown",
                "forward",
                "with",
                "after",
                "crate",
            ],
            Self::Variant => &[
                "transient",
                "throttled",
                "refused",
                "permanent",
                "unknown",
                "forward",
                "with",
                "after",
            ],
            Self::Field => &["forward"],
        }
    }
}

const VERDICTS: &str = "`transient`, `throttled`, `refused`, `permanent`, `unknown` or `forward`";

/// Words of other crates and of other days, and ours.
const FOREIGN: &[(&str, &str)] = &[
    ("always", "transient"),
    ("backoff", "throttled"),
    ("delay", "after"),
    ("fatal", "permanent"),
    ("function", "with"),
    ("hint", "after"),
    ("inherit", "forward"),
    ("never", "permanent"),
    ("non_retryable", "permanent"),
    ("nonretryable", "permanent"),
    ("not_retryable", "permanent"),
    ("rate_limited", "throttled"),
    ("retry", "transient"),
    ("retry_after", "after"),
    ("retryable", "transient"),
    ("temporary", "transient"),
    ("transparent", "forward"),
];

pub(crate) fn silent(variant: Option<&Ident>) -> Message {
    match variant {
        Some(variant) => Message::new(format!(
            "variant `{variant}` does not say whether it is worth another attempt"
        ))
        .help(format!(
            "write `#[retryable(transient)]` above it ({VERDICTS}), or once above the enum for all"
        )),
        None => Message::new("this error does not say whether it is worth another attempt").help(
            format!("write `#[retryable(transient)]` above it ({VERDICTS})"),
        ),
    }
}

pub(crate) fn empty() -> Message {
    Message::new("`#[retryable]` says nothing")
        .help(format!("write `#[retryable(transient)]` ({VERDICTS})"))
}

pub(crate) fn not_parentheses(value: &impl ToTokens) -> Message {
    let inside = typed(value).trim_matches('"').to_owned();
    Message::new("`#[retryable = …]` is not how it is written")
        .help(format!("write `#[retryable({inside})]`"))
}

pub(crate) fn not_a_word(found: &impl ToTokens) -> Message {
    let found = typed(found);
    let first = if found.is_empty() {
        "a comma with nothing before it".to_owned()
    } else {
        format!("`{found}` is no word of `retryable`")
    };
    let inside = found.trim_matches('"');
    if Place::Variant.words().contains(&inside) {
        return Message::new(first).help(format!("write `{inside}` without quotes"));
    }
    Message::new(first).help(format!("expected {VERDICTS}"))
}

pub(crate) fn missing_comma(found: &impl ToTokens) -> Message {
    let found = typed(found);
    Message::new(format!("found `{found}`, expected a comma")).help(format!("write `, {found}`"))
}

pub(crate) fn missing_value(name: &Ident) -> Message {
    Message::new(format!("`{name} =` has no value")).help(example(&name.to_string()))
}

pub(crate) fn no_list(name: &Ident) -> Message {
    Message::new(format!("`{name}` takes no list")).help(example(&name.to_string()))
}

pub(crate) fn no_value(name: &str) -> Message {
    let first = Message::new(format!("`{name}` takes no value"));
    if name == "forward" {
        return first
            .help("write `forward`, and `#[retryable(forward)]` above the field that is meant");
    }
    first.help(format!(
        "write `{name}`; the delay that a server asked for is `{name}, after = \"field\"`"
    ))
}

pub(crate) fn missing_path(name: &str) -> Message {
    Message::new(format!("`{name}` has no value")).help(example(name))
}

pub(crate) fn not_a_path(name: &str, value: &impl ToTokens) -> Message {
    let expected = if name == "crate" {
        "where `reattempt` is"
    } else {
        "the path of a function"
    };
    Message::new(format!(
        "`{}` is no path, expected {expected}",
        typed(value)
    ))
    .help(example(name))
}

pub(crate) fn missing_after() -> Message {
    Message::new("`after` has no value").help(example("after"))
}

pub(crate) fn not_a_field(value: &impl ToTokens) -> Message {
    let first = format!(
        "`{}` is no field, expected a field's name or the path of a method",
        typed(value)
    );
    Message::new(first).help(example("after"))
}

pub(crate) fn unknown_field(name: &str, names: &[String]) -> Message {
    let first = Message::new(format!("there is no field `{name}` here"));
    if names.is_empty() {
        return first.help(
            "this case has no fields; a method of the error is `after = \"Self::retry_after\"`",
        );
    }
    first.help(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("write `after = \"{near}\"`"),
        None => format!(
            "the fields are {}; a method of the error is `after = \"Self::retry_after\"`",
            listed(names)
        ),
    })
}

pub(crate) fn after_on_enum(name: &str) -> Message {
    Message::new(format!("`after = \"{name}\"` above an enum names no field")).help(format!(
        "write it above the variant that has the field, or name a method: `after = \"Self::{}\"`",
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            "retry_after"
        } else {
            name
        }
    ))
}

pub(crate) fn after_permanent() -> Message {
    Message::new("`after` on a permanent error: there is no other attempt to wait for")
        .help("remove `after`, or write `throttled`")
}

pub(crate) fn twice(name: &str) -> Message {
    Message::new(format!("`{name}` is given twice")).help("remove one of them")
}

pub(crate) fn second_word(first: &str, second: &str, place: Place) -> Message {
    let place = place.name();
    if first == second {
        return twice(first);
    }
    Message::new(format!(
        "`{second}` after `{first}`: {place} has one verdict"
    ))
    .help("remove one of them")
}

pub(crate) fn two_forwards() -> Message {
    Message::new("`forward` marks a second field, expected one").help("remove one of the marks")
}

pub(crate) fn no_inner(variant: Option<&Ident>, names: &[String]) -> Message {
    let whose = variant.map_or_else(
        || "this struct".to_owned(),
        |variant| format!("variant `{variant}`"),
    );
    if names.is_empty() {
        return Message::new(format!("{whose} has no field to forward to"))
            .help("write `transient`, `throttled`, `refused`, `permanent`, `unknown` or `with`");
    }
    Message::new(format!(
        "{whose} has {} fields, and none is marked as the one to ask",
        names.len()
    ))
    .help("write `#[retryable(forward)]` above the field")
}

pub(crate) fn union() -> Message {
    Message::new("found a union, expected an enum or a struct")
        .help("implement `reattempt::Retryable` by hand")
}

/// An unknown word, or a known one at a place where it does not belong.
pub(crate) fn not_here(name: &str, place: Place) -> Message {
    let words = place.words();
    let known = Place::Enum.words().contains(&name);
    if known && place == Place::Field {
        return Message::new(format!("`{name}` above a field, expected `forward`"))
            .help("write it above the variant or the struct");
    }
    if known {
        return Message::new(format!("`{name}` above {}", place.name())).help(format!(
            "write `#[retryable({name} = \"…\")]` above the type"
        ));
    }
    if name == "default" {
        return Message::new("unknown word `default`")
            .help("a verdict above the enum is the default: `#[retryable(permanent)]`");
    }
    let foreign = FOREIGN
        .iter()
        .find(|(foreign, _)| *foreign == name)
        .map(|(_, ours)| *ours);
    let near = foreign
        .or_else(|| nearest(name, words.iter().copied()))
        .filter(|near| words.contains(near));
    let list = listed(words);
    Message::new(format!("unknown word `{name}`")).help(match near {
        Some("after") => format!("did you mean `after = \"field\"`? expected {list}"),
        Some("with") => format!("did you mean `with = \"path\"`? expected {list}"),
        Some(near) => format!("did you mean `{near}`? expected {list}"),
        None => format!("expected {list}"),
    })
}

fn example(name: &str) -> String {
    match name {
        "after" => "write `after = \"field\"` (a `Duration` or `Option<Duration>`), or `after = \"Self::method\"`".to_owned(),
        "with" => "write `with = \"path::to_function\"`, a function that gives a `Verdict`".to_owned(),
        "crate" => "write `crate = \"path::to::reattempt\"`".to_owned(),
        word => format!("write `{word}`"),
    }
}

fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        // Two slips in a word of five letters are another word.
        .filter(|(distance, candidate)| distance * 3 <= candidate.len().max(name.len()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn listed(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<_> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Tokens as a person would have typed them.
fn typed(tokens: &impl ToTokens) -> String {
    crate::errors::typed(&tokens.to_token_stream())
}
