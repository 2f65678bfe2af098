//! The text of a duration.
//!
//! `humantime` reads it. It takes more than we do (months, blanks within a number, a unit given
//! twice) and less (a fraction of a minute in nanoseconds), so the text is checked part by part
//! first, and handed over in whole numbers.

use std::time::Duration;

use crate::errors::duration::Reason;
use crate::keys;

/// No limit and no wait is longer; a sleep beyond it is never armed.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) struct Unit {
    /// As `humantime` spells them.
    names: &'static [&'static str],
    /// How we name it.
    name: &'static str,
    nanos: u128,
}

static UNITS: [Unit; 8] = [
    Unit {
        names: &["ns", "nsec", "nanos"],
        name: "ns",
        nanos: 1,
    },
    Unit {
        names: &["us", "usec", "µs", "μs"],
        name: "us",
        nanos: 1_000,
    },
    Unit {
        names: &["ms", "msec", "millis"],
        name: "ms",
        nanos: 1_000_000,
    },
    Unit {
        names: &["s", "sec", "secs", "second", "seconds"],
        name: "s",
        nanos: 1_000_000_000,
    },
    Unit {
        names: &["m", "min", "mins", "minute", "minutes"],
        name: "m",
        nanos: 60_000_000_000,
    },
    Unit {
        names: &["h", "hr", "hrs", "hour", "hours"],
        name: "h",
        nanos: 3_600_000_000_000,
    },
    Unit {
        names: &["d", "day", "days"],
        name: "d",
        nanos: 86_400_000_000_000,
    },
    Unit {
        names: &["w", "wk", "wks", "week", "weeks"],
        name: "w",
        nanos: 604_800_000_000_000,
    },
];

const NO_FIXED_LENGTH: [&str; 7] = ["month", "months", "mo", "mon", "year", "years", "y"];

pub(super) fn unit(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.names.contains(&name))
}

/// Reads a duration of at most 24 h.
///
/// # Grammar
///
/// ```text
/// duration = part { part }          no unit twice
/// part     = digits [ "." digits ] unit
/// unit     = ns | us | ms | s | m | h | d, or one of their longer names
/// ```
///
/// with blanks around parts and before units.
pub(super) fn parse(text: &str) -> Result<Duration, Reason> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Reason::Empty);
    }
    if text.starts_with('-') {
        return Err(Reason::Negative);
    }
    if is_iso(text) {
        return Err(Reason::Iso);
    }
    let mut rest = text;
    let mut seen: Vec<&str> = Vec::new();
    let mut whole = String::new();
    while !rest.is_empty() {
        let (part, unit) = part(text, &mut rest)?;
        if seen.contains(&unit.name) {
            return Err(Reason::RepeatedUnit(unit.name));
        }
        seen.push(unit.name);
        whole.push_str(&part.in_whole_numbers(unit)?);
    }
    match humantime::parse_duration(&whole) {
        Ok(duration) if duration <= LIMIT => Ok(duration),
        // Every part was checked, so what is left to refuse is the sum.
        Ok(_) | Err(_) => Err(Reason::AboveLimit),
    }
}

struct Part<'a> {
    digits: &'a str,
    /// Digits behind the point, maybe none.
    fraction: &'a str,
}

/// Reads a number and its unit, and the blanks behind them.
fn part<'a>(text: &str, rest: &mut &'a str) -> Result<(Part<'a>, &'static Unit), Reason> {
    let start = *rest;
    let digits = take(rest, |char| char.is_ascii_digit());
    let mut fraction = "";
    if rest.starts_with('.') {
        take(rest, |char| char == '.');
        fraction = take(rest, |char| char.is_ascii_digit());
        if digits.is_empty() || fraction.is_empty() {
            return Err(bare_point(digits, fraction, rest));
        }
    }
    if digits.is_empty() {
        let word = take(rest, char::is_alphabetic);
        return Err(match start.chars().next() {
            Some(char) if word.is_empty() => Reason::Character(char),
            _ => Reason::NoNumber(word.to_owned()),
        });
    }
    if let Some(reason) = misspelt(text, digits, rest) {
        return Err(reason);
    }
    let number = start.strip_suffix(*rest).unwrap_or(start);
    take(rest, char::is_whitespace);
    let name = take(rest, char::is_alphabetic);
    let unit = known(number, name, start.len() == text.len(), rest)?;
    take(rest, char::is_whitespace);
    Ok((Part { digits, fraction }, unit))
}

fn known(number: &str, name: &str, first: bool, rest: &str) -> Result<&'static Unit, Reason> {
    if let Some(unit) = unit(name) {
        return Ok(unit);
    }
    Err(match (name, rest.chars().next()) {
        ("", Some(char)) if !char.is_ascii_digit() => Reason::Character(char),
        ("", next) => Reason::NoUnit {
            number: number.to_owned(),
            alone: first && next.is_none(),
        },
        ("M", _) => Reason::MonthOrMinute {
            number: number.to_owned(),
        },
        (name, _) if NO_FIXED_LENGTH.contains(&name.to_lowercase().as_str()) => {
            Reason::NoFixedLength {
                unit: name.to_owned(),
            }
        }
        (name, _) => Reason::UnknownUnit {
            unit: name.to_owned(),
            nearest: nearest(name),
        },
    })
}

/// The unit that was meant, as we name it; `MS` is `ms`.
fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    if let Some(unit) = unit(&lower) {
        return Some(unit.name);
    }
    let names = UNITS.iter().flat_map(|unit| unit.names.iter().copied());
    keys::nearest(&lower, names.filter(|name| name.len() > 1))
        .and_then(unit)
        .map(|unit| unit.name)
}

/// `.5s` as `0.5s`, `1.s` as `1s`.
fn bare_point(digits: &str, fraction: &str, rest: &str) -> Reason {
    let unit = match rest.trim() {
        "" => "s",
        unit => unit,
    };
    let digits = if digits.is_empty() { "0" } else { digits };
    let corrected = if fraction.is_empty() {
        format!("{digits}{unit}")
    } else {
        format!("{digits}.{fraction}{unit}")
    };
    Reason::BarePoint { corrected }
}

/// `1,5s` as `1.5s`, `1_000ms` as `1000ms`.
fn misspelt(text: &str, digits: &str, rest: &str) -> Option<Reason> {
    let next_is_digit = rest
        .chars()
        .nth(1)
        .is_some_and(|char| char.is_ascii_digit());
    let (found, corrected) = match rest.chars().next() {
        Some(',') if next_is_digit => (
            ",",
            text.replacen(&format!("{digits},"), &format!("{digits}."), 1),
        ),
        Some('_') => ("_", text.replace('_', "")),
        _ => return None,
    };
    Some(Reason::Misspelt {
        found: found.to_owned(),
        corrected,
    })
}

impl Part<'_> {
    /// The part in the form that `humantime` reads exactly: `1.5m` as `1m 30000000000ns`.
    fn in_whole_numbers(&self, unit: &Unit) -> Result<String, Reason> {
        let Self { digits, fraction } = self;
        // Beyond 64 bits of seconds `humantime` panics, so nothing near them is handed over.
        let nanos = digits
            .parse::<u128>()
            .ok()
            .and_then(|whole| whole.checked_mul(unit.nanos));
        if nanos.is_none_or(|nanos| nanos > LIMIT.as_nanos()) {
            return Err(Reason::AboveLimit);
        }
        let name = unit.name;
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            return Ok(format!("{digits}{name} "));
        }
        // 19 digits and the 15 of the longest unit stay below the 38 that 128 bits hold.
        let scale = u32::try_from(fraction.len())
            .ok()
            .filter(|&scale| scale <= 19);
        let scale = scale.and_then(|scale| 10_u128.checked_pow(scale));
        let nanos = fraction
            .parse::<u128>()
            .ok()
            .and_then(|part| part.checked_mul(unit.nanos));
        match (nanos, scale) {
            (Some(nanos), Some(scale)) if nanos % scale == 0 => {
                Ok(format!("{digits}{name} {}ns ", nanos / scale))
            }
            _ => Err(Reason::BelowNanosecond),
        }
    }
}

/// Takes the characters at the start for which this holds.
fn take<'a>(rest: &mut &'a str, holds: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|char| !holds(char)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at_checked(end).unwrap_or((rest, ""));
    *rest = left;
    taken
}

pub(super) fn is_iso(text: &str) -> bool {
    let rest = text.strip_prefix('P').unwrap_or_default();
    let rest = rest.strip_prefix('T').unwrap_or(rest);
    rest.starts_with(|char: char| char.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_exactly() {
        for (text, nanos) in [
            ("1s", 1_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1.50s", 1_500_000_000),
            ("500ms", 500_000_000),
            (" 500 ms ", 500_000_000),
            ("1m 30s", 90_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1.5m", 90_000_000_000),
            ("0.00001h", 36_000_000),
            ("0.000000001s", 1),
            ("1us", 1_000),
            ("1µs", 1_000),
            ("1μs", 1_000),
            ("2 seconds", 2_000_000_000),
            ("1d", 86_400_000_000_000),
            ("24h", 86_400_000_000_000),
            ("86400s", 86_400_000_000_000),
            ("0s", 0),
            ("007s", 7_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn numbers_beyond_all_bounds_are_refused() {
        for text in [
            "24h 1ns",
            "25h",
            "2d",
            "1w",
            "18446744073709551615s 999999999ns",
            "18446744073709551615s 1000000000ns",
            "99999999999999999999999999999999999999999999s",
            "18446744073709551615h",
        ] {
            assert_eq!(parse(text), Err(Reason::AboveLimit), "{text}");
        }
        for text in [
            "0.5ns",
            "0.0000000001s",
            "1.00000000000000000000000000000001s",
        ] {
            assert_eq!(parse(text), Err(Reason::BelowNanosecond), "{text}");
        }
    }
}
