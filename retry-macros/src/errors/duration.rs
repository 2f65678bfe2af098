//! Wording: durations.

use crate::duration::{DurationFault, UNIT_NAMES};

use super::{Message, quoted};
use crate::keys::{Grammar, Key};

messages! {
    no_delays() {
        "`delays` is empty, so nothing would be retried";
        help "write `attempts = 1` for no retry";
    }

    zero(key: &Key, why: &str, instead: &str) {
        "`{key}` is zero, so {why}";
        help "{instead}";
    }

    /// `5s` without quotes.
    not_in_quotes(key: &Key, found: &str) {
        "duration `{found}` is not in quotes";
        help "write `{}`", assigned(key, &quoted(found));
    }

    /// `none`, `forever`.
    endless(key: &Key, found: &str) {
        "found `{found}`, expected a duration";
        help "{}", without_limit(key, Some("write `base = \"0s\"` to retry without waiting"));
    }
}

/// A text that is no duration.
pub(crate) fn refused(key: &Key, found: &str, fault: &DurationFault<'_>) -> Message {
    let paste = |value: &str| format!("`{}`", assigned(key, &format!("\"{value}\"")));
    let message = Message::new(fault.problem(&format!("`{found}`")));
    let message = message.help(match fault {
        DurationFault::AboveLimit => without_limit(key, None),
        fault => (fault.help(&paste)).unwrap_or_else(|| format!("write `{}`", example(key))),
    });
    match fault {
        DurationFault::UnknownUnit(_, Some(_)) => message.note(UNIT_NAMES),
        _ => message,
    }
}

fn without_limit(key: &Key, base: Option<&str>) -> String {
    match (key.name, base) {
        ("timeout" | "deadline", _) => format!("leave `{key}` out for no limit"),
        ("base", Some(help)) => help.to_owned(),
        _ => format!("write `{}`", example(key)),
    }
}

/// A duration as text to paste: after its key, or alone as an element of a list.
fn assigned(key: &Key, value: &str) -> String {
    match key.grammar {
        Grammar::List => value.to_owned(),
        _ => format!("{key} = {value}"),
    }
}

fn example(key: &Key) -> &'static str {
    match key.grammar {
        Grammar::List => "\"200ms\"",
        _ => key.example,
    }
}
