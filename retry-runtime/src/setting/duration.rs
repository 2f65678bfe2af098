//! The text of a duration, as in the attribute.
//!
//! `humantime` accepts more: `1s 1s`, months, years, and no upper limit.

use std::time::Duration;

use super::fault::{SettingFault, fault};
use super::key::PolicyKey;
use super::text;

/// The longest duration that configuration may set.
pub(crate) const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The names of each unit, ours first, and its length in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns nsec nanos", 1),
    ("us usec µs μs", 1_000),
    ("ms msec millis", 1_000_000),
    ("s sec secs second seconds", 1_000_000_000),
    ("m min mins minute minutes", 60_000_000_000),
    ("h hr hrs hour hours", 3_600_000_000_000),
    ("d day days", 86_400_000_000_000),
    ("w wk wks week weeks", 604_800_000_000_000),
];

const NO_FIXED_LENGTH: &str = "month months mo mon year years y";

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
/// Blanks may stand around parts and before units. The attribute has the same grammar, in another crate.
pub(crate) fn parse(key: PolicyKey, text: &str) -> Result<Duration, SettingFault> {
    let found = &text::shown(text);
    let text = text.trim();
    if text.is_empty() {
        return Err(fault("found no text, expected a duration", key.example()));
    }
    if text.starts_with('-') {
        return Err(fault(
            format!("duration \"{found}\" is negative"),
            key.example(),
        ));
    }
    if !text.starts_with(|char: char| char.is_ascii_digit() || char == '.') && !is_unit(text) {
        return Err(not_a_duration(key, &format!("\"{found}\"")));
    }
    let mut parser = DurationParser {
        key,
        found,
        text,
        rest: text,
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut sum = Duration::ZERO;
    while !parser.rest.is_empty() {
        let (part, unit) = parser.part()?;
        if seen.contains(&unit) {
            return Err(fault(
                format!("duration \"{found}\" has the unit `{unit}` twice"),
                key.example(),
            ));
        }
        seen.push(unit);
        sum = sum.saturating_add(part);
    }
    if sum > LIMIT {
        return Err(above_limit(found));
    }
    Ok(sum)
}

/// The text of a duration in this grammar: `1m 30s`.
pub(crate) fn human(duration: Duration) -> String {
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

/// The fault of a value that is not a duration.
pub(crate) fn not_a_duration(key: PolicyKey, found: &str) -> SettingFault {
    const ENDLESS: &str = "none never unlimited infinite infinity inf forever off no";
    let endless = text::among(ENDLESS, &found.trim_matches('"').trim().to_lowercase());
    let problem = format!("found {found}, expected a duration");
    match key {
        PolicyKey::Timeout | PolicyKey::Deadline if endless => {
            SettingFault::with_help(problem, format!("leave `{key}` out for no limit"))
        }
        _ => fault(problem, key.example()),
    }
}

/// The fault of a number without a unit.
pub(crate) fn no_unit(found: &str, number: &str) -> SettingFault {
    // A number from 100 on is more likely in milliseconds.
    let (first, second) = match number.parse::<f64>() {
        Ok(value) if value >= 100.0 => ("ms", "s"),
        _ => ("s", "ms"),
    };
    let number = text::shown(number);
    SettingFault::with_help(
        format!("duration {found} has no unit"),
        format!("write \"{number}{first}\" or \"{number}{second}\""),
    )
}

fn above_limit(found: &str) -> SettingFault {
    SettingFault::with_help(
        format!("duration \"{found}\" is above 24h"),
        "write \"24h\" or less",
    )
}

fn is_unit(name: &str) -> bool {
    unit(name).is_some()
}

/// Our spelling of a unit, and its length in nanoseconds.
fn unit(name: &str) -> Option<(&'static str, u64)> {
    let (names, nanos) = UNITS.iter().find(|(names, _)| text::among(names, name))?;
    Some((names.split(' ').next()?, *nanos))
}

struct DurationParser<'a> {
    key: PolicyKey,
    /// The text as messages show it.
    found: &'a str,
    text: &'a str,
    rest: &'a str,
}

impl<'a> DurationParser<'a> {
    /// Reads a number, its unit and the blanks after them. Returns their duration and the unit.
    fn part(&mut self) -> Result<(Duration, &'static str), SettingFault> {
        let found = self.found;
        let start = self.rest;
        let digits = self.take(|char| char.is_ascii_digit());
        let mut fraction = "";
        if self.rest.starts_with('.') {
            self.take(|char| char == '.');
            fraction = self.take(|char| char.is_ascii_digit());
            if digits.is_empty() || fraction.is_empty() {
                return Err(self.wrong("has no digit on one side of its point"));
            }
        }
        if digits.is_empty() {
            let word = self.take(char::is_alphabetic);
            return Err(match start.chars().next() {
                Some(char) if word.is_empty() => self.character(char),
                _ => self.wrong(&format!("has no number before `{}`", text::shown(word))),
            });
        }
        let number = start.strip_suffix(self.rest).unwrap_or(start);
        self.take(char::is_whitespace);
        let name = self.take(char::is_alphabetic);
        let Some((unit, nanos)) = unit(name) else {
            return Err(match (name, self.rest.chars().next()) {
                ("", Some(char)) if !char.is_ascii_digit() => self.character(char),
                ("", _) if self.text == number => no_unit(&format!("\"{found}\""), number),
                ("", _) => {
                    let number = text::shown(number);
                    SettingFault::with_help(
                        format!("duration \"{found}\" has no unit after `{number}`"),
                        format!("write `{number}s`, `{number}m` or `{number}ms` there"),
                    )
                }
                _ => self.unknown_unit(name),
            });
        };
        self.take(char::is_whitespace);
        Ok((self.length(digits, fraction, nanos)?, unit))
    }

    /// The exact length of a part, or a fault if it is not a whole number of nanoseconds.
    fn length(&self, digits: &str, fraction: &str, nanos: u64) -> Result<Duration, SettingFault> {
        let whole = digits
            .parse()
            .ok()
            .and_then(|whole: u64| whole.checked_mul(nanos));
        let Some(whole) = whole else {
            return Err(above_limit(self.found));
        };
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            return Ok(Duration::from_nanos(whole));
        }
        // The product has at most 34 digits: 19 of the fraction and 15 of the longest unit. 128 bits hold 38.
        let scale = u32::try_from(fraction.len())
            .ok()
            .filter(|&scale| scale <= 19);
        let scale = scale.and_then(|scale| 10_u128.checked_pow(scale));
        let part = fraction
            .parse()
            .ok()
            .and_then(|part: u128| part.checked_mul(nanos.into()));
        match (part, scale) {
            (Some(part), Some(scale)) if part % scale == 0 => {
                let part = u64::try_from(part / scale).unwrap_or(u64::MAX);
                Ok(Duration::from_nanos(whole.saturating_add(part)))
            }
            _ => Err(self.wrong("has a fraction of a nanosecond")),
        }
    }

    fn unknown_unit(&self, name: &str) -> SettingFault {
        let found = self.found;
        let lower = name.to_lowercase();
        if name == "M" {
            return SettingFault::with_help(
                format!("`M` in duration \"{found}\" could mean months"),
                "did you mean `m`, minutes?",
            );
        }
        if text::among(NO_FIXED_LENGTH, &lower) {
            return SettingFault::with_help(
                format!("`{name}` in duration \"{found}\" has no fixed length"),
                "did you mean `m`, minutes?",
            );
        }
        // Propose `ms` for `MS`.
        let names = UNITS.iter().flat_map(|(names, _)| names.split(' '));
        let long = names.filter(|name| name.len() > 1);
        let meant = unit(&lower).or_else(|| unit(text::nearest(&lower, long)?));
        let name = text::shown(name);
        let problem = format!("duration \"{found}\" has an unknown unit, `{name}`");
        let units = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`";
        match meant {
            Some((meant, _)) => {
                SettingFault::with_help(problem, format!("did you mean `{meant}`? {units}"))
            }
            None => SettingFault::with_help(problem, units),
        }
    }

    fn character(&self, char: char) -> SettingFault {
        self.wrong(&format!("has a `{}` in it", char.escape_debug()))
    }

    fn wrong(&self, what: &str) -> SettingFault {
        fault(
            format!("duration \"{}\" {what}", self.found),
            self.key.example(),
        )
    }

    /// Takes the characters at the start for which `holds` returns true.
    fn take(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|char| !holds(char));
        let end = end.unwrap_or(self.rest.len());
        let (taken, left) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = left;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Duration, String> {
        parse(PolicyKey::Base, text).map_err(|fault| fault.to_string())
    }

    /// The same cases as in the tests of the attribute.
    #[test]
    fn durations_are_read_as_in_the_attribute() {
        for (text, nanos) in [
            ("1s", 1_000_000_000),
            ("1.5s", 1_500_000_000),
            ("1.50s", 1_500_000_000),
            ("500ms", 500_000_000),
            (" 500 ms ", 500_000_000),
            ("250 ms", 250_000_000),
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
            assert_eq!(read(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for (text, problem) in [
            ("24h 1ns", "duration \"24h 1ns\" is above 24h"),
            ("25h", "duration \"25h\" is above 24h"),
            ("2d", "duration \"2d\" is above 24h"),
            ("1w", "duration \"1w\" is above 24h"),
            (
                "18446744073709551615s 1000000000ns",
                "duration \"18446744073709551615s 1000000000ns\" is above 24h",
            ),
            (
                "99999999999999999999999999999999999999999999s",
                "duration \"99999999999999999999999999999999999999999999s\" is above 24h",
            ),
            (
                "18446744073709551615h",
                "duration \"18446744073709551615h\" is above 24h",
            ),
            ("0.5ns", "duration \"0.5ns\" has a fraction of a nanosecond"),
            (
                "0.0000000001s",
                "duration \"0.0000000001s\" has a fraction of a nanosecond",
            ),
            (
                "1.00000000000000000000000000000001s",
                "duration \"1.00000000000000000000000000000001s\" has a fraction of a nanosecond",
            ),
            ("1.5", "duration \"1.5\" has no unit"),
            ("1500", "duration \"1500\" has no unit"),
            ("1h30", "duration \"1h30\" has no unit after `30`"),
            ("-5s", "duration \"-5s\" is negative"),
            ("5x", "duration \"5x\" has an unknown unit, `x`"),
            ("5S", "duration \"5S\" has an unknown unit, `S`"),
            (
                "5secnds",
                "duration \"5secnds\" has an unknown unit, `secnds`",
            ),
            ("1e3s", "duration \"1e3s\" has an unknown unit, `e`"),
            ("5M", "`M` in duration \"5M\" could mean months"),
            (
                "1 month",
                "`month` in duration \"1 month\" has no fixed length",
            ),
            ("2y", "`y` in duration \"2y\" has no fixed length"),
            ("1s1s", "duration \"1s1s\" has the unit `s` twice"),
            ("1s 5sec", "duration \"1s 5sec\" has the unit `s` twice"),
            ("", "found no text, expected a duration"),
            ("s", "duration \"s\" has no number before `s`"),
            ("PT5S", "found \"PT5S\", expected a duration"),
            ("1,5s", "duration \"1,5s\" has a `,` in it"),
            ("1_000ms", "duration \"1_000ms\" has a `_` in it"),
            (
                ".5s",
                "duration \".5s\" has no digit on one side of its point",
            ),
            (
                "1.s",
                "duration \"1.s\" has no digit on one side of its point",
            ),
            ("1:30", "duration \"1:30\" has a `:` in it"),
            (
                "1h and 5m",
                "duration \"1h and 5m\" has no number before `and`",
            ),
            ("forever", "found \"forever\", expected a duration"),
            (
                "five seconds",
                "found \"five seconds\", expected a duration",
            ),
            ("+5s", "found \"+5s\", expected a duration"),
        ] {
            let message = read(text).unwrap_err();
            let (found, help) = message.split_once("; ").unwrap_or((&message, ""));
            assert_eq!(found, problem, "{text}");
            assert!(!help.is_empty(), "{message}");
        }
    }
}
