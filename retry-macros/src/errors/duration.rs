//! Wording: durations.

use crate::duration::DurationFault;

use super::{Message, quoted, value};
use crate::keys::{Grammar, Key};
use crate::text;

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
        "found `{found}`, expected {}", key.kind;
        help "{}", without_limit(key);
    }
}

/// A text that is no duration.
pub(crate) fn refused(key: &Key, found: &str, fault: &DurationFault<'_>) -> Message {
    let (what, help) = match fault {
        DurationFault::NoDuration => return value::wrong(key, found),
        DurationFault::NoUnit(number) => {
            let [ms, s] = ["ms", "s"].map(|unit| assigned(key, &format!("\"{number}{unit}\"")));
            ("has no unit".to_owned(), format!("write `{ms}` or `{s}`"))
        }
        DurationFault::UnknownUnit(unit) => (
            format!("has an unknown unit, `{}`", text::shown(unit)),
            "the units are `ns`, `us`, `ms`, `s`, `m`, `h`".to_owned(),
        ),
        DurationFault::AboveLimit => ("is above 24h".to_owned(), without_limit(key)),
    };
    Message::new(format!("duration `{found}` {what}")).help(help)
}

fn without_limit(key: &Key) -> String {
    match key.name {
        "timeout" | "deadline" => format!("leave `{key}` out for no limit"),
        _ => format!("write `{}`", key.example),
    }
}

/// A duration as text to paste: after its key, or alone as an element of a list.
fn assigned(key: &Key, value: &str) -> String {
    match key.grammar {
        Grammar::List => value.to_owned(),
        _ => format!("{key} = {value}"),
    }
}
