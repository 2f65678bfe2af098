//! Wording: durations.

use super::{Message, quoted};
use crate::keys::Key;

/// What is wrong with the text of a duration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    Empty,
    Negative,
    /// A number, and nothing or no word behind it.
    NoUnit {
        number: String,
        alone: bool,
    },
    /// A word without a number.
    NoNumber(String),
    UnknownUnit {
        unit: String,
        nearest: Option<&'static str>,
    },
    /// Months and years.
    NoFixedLength {
        unit: String,
    },
    /// `M`, which is a month to some and a minute to others.
    MonthOrMinute {
        number: String,
    },
    RepeatedUnit(&'static str),
    /// `.5s`, `1.s`.
    BarePoint {
        corrected: String,
    },
    /// `1,5s`, `1_000ms`, `1e3s`.
    Misspelt {
        found: String,
        corrected: String,
    },
    Character(char),
    BelowNanosecond,
    AboveLimit,
    /// ISO 8601: `PT5S`.
    Iso,
    Zero,
}

pub(crate) fn invalid(key: &Key, found: &str, reason: &Reason) -> Message {
    let name = key.name;
    let write = |text: &str| format!("write `{name} = \"{text}\"`");
    let example = || format!("write `{}`", key.example);
    let inner = found.trim_matches('"');
    match reason {
        Reason::Empty => {
            Message::new(format!("`{name}` is empty, expected a duration")).help(example())
        }
        Reason::Negative => {
            let positive = inner.trim_start_matches('-').trim();
            let starts = positive.starts_with(|char: char| char.is_ascii_digit());
            let ends = positive.ends_with(|char: char| char.is_ascii_digit());
            Message::new(format!("duration `{found}` is negative")).help(match (starts, ends) {
                (true, false) => write(positive),
                (true, true) => units(name, positive),
                (false, _) => example(),
            })
        }
        Reason::NoUnit {
            number,
            alone: true,
        } => Message::new(format!("duration `{found}` has no unit")).help(units(name, number)),
        Reason::NoUnit {
            number,
            alone: false,
        } => Message::new(format!("duration `{found}` has no unit after `{number}`")).help(
            format!("write `{number}s`, `{number}m` or `{number}ms` there"),
        ),
        Reason::NoNumber(word) => {
            Message::new(format!("duration `{found}` has no number before `{word}`"))
                .help(example())
        }
        Reason::UnknownUnit { unit, nearest } => {
            let message = Message::new(format!("duration `{found}` has an unknown unit, `{unit}`"));
            match nearest {
                Some(nearest) => message
                    .help(format!("did you mean `{nearest}`?"))
                    .note("units are `ns`, `us`, `ms`, `s`, `m`, `h`"),
                None => message.help("units are `ns`, `us`, `ms`, `s`, `m`, `h`"),
            }
        }
        Reason::NoFixedLength { unit } => Message::new(format!(
            "`{unit}` in duration `{found}` has no fixed length"
        ))
        .help("did you mean `m`, minutes? the longest duration here is `\"24h\"`"),
        Reason::MonthOrMinute { number } => {
            Message::new(format!("`M` in duration `{found}` is a month to some")).help(format!(
                "did you mean `m`, minutes? {}",
                write(&format!("{number}m"))
            ))
        }
        Reason::RepeatedUnit(unit) => {
            Message::new(format!("duration `{found}` has the unit `{unit}` twice")).help(example())
        }
        Reason::BarePoint { corrected } => Message::new(format!(
            "duration `{found}` has no digit on one side of its point"
        ))
        .help(write(corrected)),
        Reason::Misspelt {
            found: part,
            corrected,
        } => Message::new(format!("duration `{found}` has a `{part}` in its number"))
            .help(write(corrected)),
        Reason::Character(char) => Message::new(format!(
            "duration `{found}` has a `{}` in it",
            char.escape_debug()
        ))
        .help(example()),
        Reason::BelowNanosecond => {
            Message::new(format!("duration `{found}` has a fraction of a nanosecond"))
                .help("write whole nanoseconds, the smallest unit: `\"1ns\"`")
        }
        Reason::AboveLimit => above_limit(key, found),
        Reason::Iso => Message::new(format!("duration `{found}` is in ISO 8601")).help(example()),
        Reason::Zero => zero(key),
    }
}

fn units(name: &str, number: &str) -> String {
    // From a hundred on milliseconds are the likelier guess.
    let (first, second) = match number.parse::<f64>() {
        Ok(value) if value >= 100.0 => ("ms", "s"),
        _ => ("s", "ms"),
    };
    format!("write `{name} = \"{number}{first}\"` or `{name} = \"{number}{second}\"`")
}

fn above_limit(key: &Key, found: &str) -> Message {
    let message = Message::new(format!("duration `{found}` is above 24h"));
    match key.name {
        "timeout" | "deadline" => message.help(format!("leave `{}` out for no limit", key.name)),
        _ => message.help(format!("write `{}`", key.example)),
    }
}

fn zero(key: &Key) -> Message {
    match key.name {
        "timeout" => Message::new("`timeout` is zero, so that no attempt could end in time")
            .help("leave it out for no limit"),
        "deadline" => Message::new("`deadline` is zero, so that no call could end in time")
            .help("leave it out for no limit"),
        _ => Message::new(format!(
            "`{}` is zero, so that no retry would wait",
            key.name
        ))
        .help("write `base = \"0s\"` to retry without waiting"),
    }
}

/// `5s` without quotes.
pub(crate) fn not_in_quotes(key: &Key, found: &str) -> Message {
    Message::new(format!("duration `{found}` is not in quotes")).help(format!(
        "write `{} = {}`",
        key.name,
        quoted(found)
    ))
}

/// `none`, `forever`.
pub(crate) fn endless(key: &Key, found: &str) -> Message {
    let message = Message::new(format!("found `{found}`, expected {}", key.kind));
    match key.name {
        "timeout" | "deadline" => message.help(format!("leave `{}` out for no limit", key.name)),
        "base" => message.help("write `base = \"0s\"` to retry without waiting"),
        _ => message.help(format!("write `{}`", key.example)),
    }
}
