//! Wording: durations.

use retry_settings::duration::{DurationFault, likely_units};

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
    use DurationFault as Is;
    const UNITS: &str = "units are `ns`, `us`, `ms`, `s`, `m`, `h`";
    let shown = format!("`{found}`");
    let message = Message::new(match fault {
        Is::Empty => format!("`{key}` is empty, expected a duration"),
        Is::Start(char) => Is::Character(*char).problem(&shown),
        fault => fault.problem(&shown),
    });
    let write = |value: &str| format!("write `{}`", assigned(key, &format!("\"{value}\"")));
    let message = message.help(match fault {
        Is::Negative => {
            let positive = found.trim_matches('"').trim_start_matches('-').trim();
            let starts = positive.starts_with(|char: char| char.is_ascii_digit());
            let ends = positive.ends_with(|char: char| char.is_ascii_digit());
            match (starts, ends) {
                (true, false) => write(positive),
                (true, true) => units(key, positive),
                (false, _) => format!("write `{}`", example(key)),
            }
        }
        Is::NoUnit(number) => units(key, number),
        Is::NoUnitAfter(number) => {
            format!("write `{number}s`, `{number}m` or `{number}ms` there")
        }
        Is::BarePoint(corrected) | Is::Misspelt(_, corrected) => write(corrected),
        Is::MonthOrMinute(number) => {
            format!(
                "did you mean `m`, minutes? {}",
                write(&format!("{number}m"))
            )
        }
        Is::NoFixedLength(_) => {
            "did you mean `m`, minutes? the longest duration here is `\"24h\"`".to_owned()
        }
        Is::UnknownUnit(_, Some(nearest)) => format!("did you mean `{nearest}`?"),
        Is::UnknownUnit(_, None) => UNITS.to_owned(),
        Is::BelowNanosecond => "write whole nanoseconds, the smallest unit: `\"1ns\"`".to_owned(),
        Is::AboveLimit => without_limit(key, None),
        Is::Empty
        | Is::Iso
        | Is::Start(_)
        | Is::NoNumber(_)
        | Is::Character(_)
        | Is::RepeatedUnit(_) => format!("write `{}`", example(key)),
    });
    match fault {
        Is::UnknownUnit(_, Some(_)) => message.note(UNITS),
        _ => message,
    }
}

fn units(key: &Key, number: &str) -> String {
    let units = likely_units(number);
    let [first, second] = units.map(|unit| assigned(key, &format!("\"{number}{unit}\"")));
    format!("write `{first}` or `{second}`")
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
