//! Wording: values of the wrong kind, and values out of range.

use super::Message;
use crate::keys::Key;

/// Something else than the key takes.
pub(crate) fn wrong(key: &Key, found: &str) -> Message {
    unhelped(key, found).help(format!("write `{}`", key.example))
}

/// The same, with a better idea than the example.
pub(crate) fn wrong_but(key: &Key, found: &str, write: &str) -> Message {
    unhelped(key, found).help(format!("write `{} = {write}`", key.name))
}

/// `timeout = limit?`: settings are no place to return from, or to wait in.
pub(crate) fn leaves(key: &Key, found: &str, token: &str) -> Message {
    Message::new(format!(
        "found `{token}` in `{found}`, expected a value that is there"
    ))
    .help(format!(
        "take it as an argument, `{0}: …`, and write `{0} = {0}`",
        key.name
    ))
}

fn unhelped(key: &Key, found: &str) -> Message {
    Message::new(format!("found `{found}`, expected {}", key.kind))
}

pub(crate) mod attempts {
    use super::Message;

    pub(crate) fn zero() -> Message {
        Message::new("`attempts` is 0, expected at least 1, as the first call counts")
            .help("write `attempts = 1` for no retry")
    }

    pub(crate) fn negative(found: &str) -> Message {
        Message::new(format!(
            "`attempts` is negative (`{found}`), expected at least 1"
        ))
        .help("write `attempts = 1` for no retry, or `attempts = \"unlimited\"`")
    }

    pub(crate) fn out_of_range(found: &str) -> Message {
        Message::new(format!(
            "`attempts` is out of range (`{found}`), expected at most {}",
            u32::MAX
        ))
        .help("write `attempts = \"unlimited\"` if that is meant")
    }

    /// `forever`, `u32::MAX`.
    pub(crate) fn unlimited(found: &str) -> Message {
        Message::new(format!(
            "found `{found}`, expected a whole number or `\"unlimited\"`"
        ))
        .help("write `attempts = \"unlimited\"`")
        .note("such a call ends by success, `deadline`, `budget` or `cancel` alone")
    }
}

pub(crate) mod factor {
    use super::Message;

    pub(crate) fn below_one(found: &str) -> Message {
        Message::new(format!(
            "factor `{found}` is below 1, so delays would shrink"
        ))
        .help("write `factor = 2.0`, or `backoff = \"constant\"` for equal delays")
    }

    pub(crate) fn above_limit(found: &str) -> Message {
        Message::new(format!("factor `{found}` is above 1000")).help("write `factor = 2.0`")
    }

    pub(crate) fn not_finite(found: &str) -> Message {
        let is = if found.to_lowercase().contains("nan") {
            "not a number"
        } else {
            "not finite"
        };
        Message::new(format!("factor `{found}` is {is}, expected 1 to 1000"))
            .help("write `factor = 2.0`")
    }
}

/// A word that is in no list.
pub(crate) fn unknown_word(
    key: &Key,
    noun: &str,
    found: &str,
    nearest: Option<&str>,
    words: &[&str],
) -> Message {
    let message = Message::new(format!("unknown {noun} `{found}`"));
    let name = key.name;
    let list = words
        .iter()
        .map(|word| format!("`\"{word}\"`"))
        .collect::<Vec<_>>()
        .join(", ");
    match nearest {
        Some(word) => message
            .help(format!("did you mean `{name} = \"{word}\"`?"))
            .note(format!("`{name}` is one of {list}")),
        None => message.help(format!("`{name}` is one of {list}")),
    }
}

pub(crate) mod function {
    use super::{Message, unhelped};
    use crate::keys::Key;

    /// `when = is_temporary()`.
    pub(crate) fn called(key: &Key, found: &str, path: &str) -> Message {
        unhelped(key, found).help(format!("write `{} = {path}`, without the call", key.name))
    }

    /// An expression that looks like the answer instead of the question.
    pub(crate) fn answer(key: &Key, found: &str, write: &str) -> Message {
        unhelped(key, found).help(format!("write `{} = {write}`", key.name))
    }

    pub(crate) fn arguments(key: &Key, found: usize, expected: usize, write: &str) -> Message {
        let plural = if found == 1 { "argument" } else { "arguments" };
        Message::new(format!(
            "the closure of `{}` takes {found} {plural}, expected {expected}",
            key.name
        ))
        .help(format!("write `{} = {write}`", key.name))
    }

    pub(crate) fn asynchronous(key: &Key, argument: &str) -> Message {
        Message::new(format!(
            "found an async closure, expected one that `{}` can ask at once",
            key.name
        ))
        .help(format!("write `{} = |{argument}| …`", key.name))
    }
}

pub(crate) mod future {
    use super::Message;
    use crate::keys::Key;

    pub(crate) fn awaited(key: &Key, found: &str, write: &str) -> Message {
        Message::new(format!("found `{found}`, expected the future itself")).help(format!(
            "write `{} = {write}`, it is awaited for you",
            key.name
        ))
    }

    pub(crate) fn not_called(key: &Key, path: &str) -> Message {
        Message::new(format!("found the path `{path}`, expected a future"))
            .help(format!("write `{} = {path}()`", key.name))
    }
}

pub(crate) mod types {
    use super::Message;
    use crate::keys::Key;

    pub(crate) fn none(key: &Key) -> Message {
        Message::new(format!("`{}` names no type", key.name))
            .help(format!("write `{}`, or leave it out", key.example))
    }

    pub(crate) fn not_a_type(key: &Key, found: &str) -> Message {
        Message::new(format!("found `{found}`, expected an error type"))
            .help(format!("write `{}`", key.example))
    }

    /// `"A, B"`.
    pub(crate) fn commas(key: &Key, found: &str, separated: &str) -> Message {
        Message::new(format!("found `{found}`, expected types separated by `|`"))
            .help(format!("write `{} = \"{separated}\"`", key.name))
    }

    /// A type that is no error, or one that is looked through anyway.
    pub(crate) fn never_inside(key: &Key, found: &str) -> Message {
        Message::new(format!(
            "`{found}` is not an error type, and is never inside of one"
        ))
        .help(format!("write `{}`", key.example))
    }

    pub(crate) fn text(key: &Key, found: &str) -> Message {
        Message::new(format!(
            "`{found}` is not an error type, and is never inside of one"
        ))
        .help(if key.name == "on" {
            "write `when = |error| error.contains(\"busy\")`"
        } else {
            "write `unless = |error| error.contains(\"denied\")`"
        })
    }

    pub(crate) fn wrapper(key: &Key, found: &str, inner: &str) -> Message {
        Message::new(format!("found `{found}`, expected the type inside")).help(format!(
            "write `{} = {inner}`, which is found in a `Box` or `Arc` too",
            key.name
        ))
    }

    pub(crate) fn reference(key: &Key, found: &str, inner: &str) -> Message {
        Message::new(format!(
            "found the reference `{found}`, expected an error type"
        ))
        .help(format!("write `{} = {inner}`", key.name))
    }

    pub(crate) fn every_error(key: &Key, found: &str) -> Message {
        Message::new(format!("`{found}` is any error, expected one type"))
            .help(format!("write `{}`", key.example))
    }

    pub(crate) fn kind(key: &Key, found: &str) -> Message {
        let (function, example) = if key.name == "on" {
            ("when", "TimedOut")
        } else {
            ("unless", "NotFound")
        };
        Message::new(format!(
            "`{found}` is a kind of error, expected an error type"
        ))
        .help(format!(
            "write `{function} = |error| error.kind() == io::ErrorKind::{example}`"
        ))
    }

    /// `on = MyError::Http(_)`.
    pub(crate) fn pattern(key: &Key, found: &str) -> Message {
        let message = Message::new(format!(
            "found the pattern `{found}`, expected an error type"
        ));
        if key.name == "on" {
            message.help(format!("write `matches = {found}`"))
        } else {
            message.help(format!("write `unless = |error| matches!(error, {found})`"))
        }
    }

    /// `on = |e| …`.
    pub(crate) fn closure(key: &Key) -> Message {
        let function = if key.name == "on" { "when" } else { "unless" };
        Message::new("found a closure, expected an error type")
            .help(format!("write `{function} = |error| …`"))
    }

    pub(crate) fn twice(key: &Key, found: &str) -> Message {
        Message::new(format!("`{found}` is in `{}` twice", key.name)).help("remove one of the two")
    }
}

pub(crate) mod pattern {
    use super::Message;

    pub(crate) fn invalid(found: &str, reason: &str) -> Message {
        Message::new(format!("`{found}` is not a pattern: {reason}"))
            .help("write what a `match` arm on the error has before `=>`")
    }

    pub(crate) fn guard(pattern: &str) -> Message {
        Message::new("found an `if` guard, expected a pattern alone")
            .help(format!("write `when = |error| matches!(error, {pattern})`"))
    }

    pub(crate) fn catch_all(found: &str) -> Message {
        Message::new(format!(
            "`{found}` matches every error, also a permanent one"
        ))
        .help("name the errors to retry: `matches = \"MyError::Closed\"`")
        .note("to retry every error after all, write `when = |_| true`")
    }

    pub(crate) fn closure() -> Message {
        Message::new("found a closure, expected a pattern").help("write `when = |error| …`")
    }
}

pub(crate) mod path {
    use super::Message;
    use crate::keys::Key;

    pub(crate) fn preset(key: &Key, found: &str, name: &str) -> Message {
        Message::new(format!("unknown policy `{found}`"))
            .help(format!("did you mean `{} = {name}`?", key.name))
    }

    /// `policy = Policy::new()`.
    pub(crate) fn expression(key: &Key, found: &str, item: &str) -> Message {
        Message::new(format!("found `{found}`, expected {}", key.kind)).help(format!(
            "write `{item}` above the function, and name it here"
        ))
    }

    pub(crate) fn hyphen(key: &Key, found: &str, write: &str) -> Message {
        Message::new(format!("found `{found}`, expected a path")).help(format!(
            "write `{} = \"{write}\"`, with `_` for `-`",
            key.name
        ))
    }

    pub(crate) fn empty_name() -> Message {
        Message::new("`name` is empty").help("leave it out for module path and function name")
    }
}

pub(crate) mod names {
    use super::Message;

    pub(crate) fn not_a_name(found: &str) -> Message {
        Message::new(format!("found `{found}`, expected the name of an argument"))
            .help("write `clone(request)`, or `clone()` for none")
    }

    pub(crate) fn twice(found: &str) -> Message {
        Message::new(format!("`{found}` is in `clone` twice")).help("remove one of the two")
    }
}
