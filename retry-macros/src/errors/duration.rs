//! Wording: durations.

use crate::duration::DurationFault;

use super::{Message, cut, quoted};
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
        help "{}", without_limit(key);
    }

    no_duration(key: &Key, found: &str) {
        "found `{found}`, expected a duration";
        help "write {}", example(key);
    }
}

/// A text that is no duration.
pub(crate) fn refused(key: &Key, found: &str, fault: &DurationFault<'_>) -> Message {
    let write = |value: &str| format!("`{}`", assigned(key, &format!("\"{value}\"")));
    let (what, help) = match fault {
        DurationFault::NoDuration => return no_duration(key, found),
        DurationFault::Negative => ("is negative".to_owned(), format!("write {}", example(key))),
        DurationFault::NoUnit(number) => {
            let [first, second] =
                likely_units(number).map(|unit| write(&format!("{number}{unit}")));
            let help = format!("write {first} or {second}");
            ("has no unit".to_owned(), help)
        }
        DurationFault::UnknownUnit(unit, nearest) => (
            format!("has an unknown unit, `{}`", cut(unit)),
            nearest.map_or(UNITS.to_owned(), |unit| {
                format!("did you mean `{unit}`? {UNITS}")
            }),
        ),
        DurationFault::Comma(corrected) => (
            "has a `,` in its number".to_owned(),
            format!("write {}", write(corrected)),
        ),
        DurationFault::AboveLimit => ("is above 24h".to_owned(), without_limit(key)),
    };
    Message::new(format!("duration `{found}` {what}")).help(help)
}

const UNITS: &str = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`";

/// The units that a number without a unit most likely has, the likelier one first.
pub(crate) fn likely_units(number: &str) -> [&'static str; 2] {
    // From 100 on, people most likely mean milliseconds.
    match number.parse::<f64>() {
        Ok(value) if value >= 100.0 => ["ms", "s"],
        _ => ["s", "ms"],
    }
}

fn without_limit(key: &Key) -> String {
    match key.name {
        "timeout" | "deadline" => format!("leave `{key}` out for no limit"),
        _ => format!("write {}", example(key)),
    }
}

/// A duration as text to paste: after its key, or alone as an element of a list.
fn assigned(key: &Key, value: &str) -> String {
    match key.grammar {
        Grammar::List => value.to_owned(),
        _ => format!("{key} = {value}"),
    }
}

/// A right duration as text to paste.
fn example(key: &Key) -> String {
    match key.grammar {
        Grammar::List => "`\"200ms\"`".to_owned(),
        _ => format!("`{}`", key.example),
    }
}
