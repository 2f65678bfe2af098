//! Wording: durations.

use std::time::Duration;

use super::{Message, quoted};
use crate::keys::{Grammar, Key};

messages! {
    no_delays() {
        "`delays` is empty, so nothing would be retried";
        help "write `attempts = 1` for no retry";
    }

    /// `delays = "5s"`.
    not_in_list(key: &Key, found: &str) {
        "found `{found}`, expected {}", key.kind;
        help "write `{key} = [{found}]`";
    }

    empty(key: &Key) {
        "`{key}` is empty, expected a duration";
        help "write `{}`", example(key);
    }

    /// `1.5`.
    no_unit(key: &Key, found: &str, number: &str) {
        "duration `{found}` has no unit";
        help "{}", units(key, number);
    }

    /// `1m 30`.
    no_unit_after(found: &str, number: &str) {
        "duration `{found}` has no unit after `{number}`";
        help "write `{number}s`, `{number}m` or `{number}ms` there";
    }

    no_number(key: &Key, found: &str, word: &str) {
        "duration `{found}` has no number before `{word}`";
        help "write `{}`", example(key);
    }

    /// Months and years.
    no_fixed_length(found: &str, unit: &str) {
        "`{unit}` in duration `{found}` has no fixed length";
        help "did you mean `m`, minutes? the longest duration here is `\"24h\"`";
    }

    /// `M`, which may mean months or minutes.
    month_or_minute(key: &Key, found: &str, number: &str) {
        "`M` in duration `{found}` could mean months";
        help "did you mean `m`, minutes? write `{}`", assigned(key, &format!("\"{number}m\""));
    }

    repeated_unit(key: &Key, found: &str, unit: &str) {
        "duration `{found}` has the unit `{unit}` twice";
        help "write `{}`", example(key);
    }

    /// `.5s`, `1.s`.
    bare_point(key: &Key, found: &str, corrected: &str) {
        "duration `{found}` has no digit on one side of its point";
        help "write `{}`", assigned(key, &format!("\"{corrected}\""));
    }

    /// `1,5s`, `1_000ms`.
    misspelt(key: &Key, found: &str, part: &str, corrected: &str) {
        "duration `{found}` has a `{part}` in its number";
        help "write `{}`", assigned(key, &format!("\"{corrected}\""));
    }

    character(key: &Key, found: &str, char: char) {
        "duration `{found}` has a `{}` in it", char.escape_debug();
        help "write `{}`", example(key);
    }

    below_nanosecond(found: &str) {
        "duration `{found}` has a fraction of a nanosecond";
        help "write whole nanoseconds, the smallest unit: `\"1ns\"`";
    }

    iso(key: &Key, found: &str) {
        "duration `{found}` is in ISO 8601";
        help "write `{}`", example(key);
    }

    above_limit(key: &Key, found: &str) {
        "duration `{found}` is above 24h";
        help "{}", without_limit(key, None);
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

pub(crate) fn negative(key: &Key, found: &str) -> Message {
    let positive = found.trim_matches('"').trim_start_matches('-').trim();
    let starts = positive.starts_with(|char: char| char.is_ascii_digit());
    let ends = positive.ends_with(|char: char| char.is_ascii_digit());
    Message::new(format!("duration `{found}` is negative")).help(match (starts, ends) {
        (true, false) => format!("write `{}`", assigned(key, &format!("\"{positive}\""))),
        (true, true) => units(key, positive),
        (false, _) => format!("write `{}`", example(key)),
    })
}

pub(crate) fn unknown_unit(found: &str, unit: &str, nearest: Option<&str>) -> Message {
    let message = Message::new(format!("duration `{found}` has an unknown unit, `{unit}`"));
    let units = "units are `ns`, `us`, `ms`, `s`, `m`, `h`";
    match nearest {
        Some(nearest) => message
            .help(format!("did you mean `{nearest}`?"))
            .note(units),
        None => message.help(units),
    }
}

pub(crate) fn zero(key: &Key) -> Message {
    let (what, help) = match key.name {
        "timeout" => ("no attempt could end in time", "leave it out for no limit"),
        "deadline" => ("no call could end in time", "leave it out for no limit"),
        _ => (
            "no retry would wait",
            "write `base = \"0s\"` to retry without waiting",
        ),
    };
    Message::new(format!("`{key}` is zero, so {what}")).help(help)
}

fn units(key: &Key, number: &str) -> String {
    // From 100 on, people most likely mean milliseconds.
    let (first, second) = match number.parse::<f64>() {
        Ok(value) if value >= 100.0 => ("ms", "s"),
        _ => ("s", "ms"),
    };
    let write = |unit| assigned(key, &format!("\"{number}{unit}\""));
    format!("write `{}` or `{}`", write(first), write(second))
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

/// A duration as you would type it: `1m 30s`.
pub(super) fn human(duration: Duration) -> String {
    const UNITS: [(&str, u128); 6] = [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let mut left = duration.as_nanos();
    let mut parts = Vec::new();
    for (unit, nanos) in UNITS {
        if left >= nanos {
            parts.push(format!("{}{unit}", left / nanos));
            left %= nanos;
        }
    }
    if parts.is_empty() {
        return "0s".to_owned();
    }
    parts.join(" ")
}
