//! Parses the text of a duration.

use std::time::Duration;

use crate::errors::{Message, duration as wording};
use crate::keys::Key;
use crate::text;

/// The longest duration that a key accepts. The runtime arms no single timer for longer.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The spellings of each unit, ours first, and its length in nanoseconds.
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
/// Blanks may stand around parts and before units. `found` is the text as messages show it.
pub(super) fn parse(key: &Key, found: &str, text: &str) -> Result<Duration, Message> {
    let text = text.trim();
    if text.is_empty() {
        return Err(wording::empty(key));
    }
    if text.starts_with('-') {
        return Err(wording::negative(key, found));
    }
    if is_iso(text) {
        return Err(wording::iso(key, found));
    }
    let mut parser = Parser {
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
            return Err(wording::repeated_unit(key, found, unit));
        }
        seen.push(unit);
        sum = sum.saturating_add(part);
    }
    if sum > LIMIT {
        return Err(wording::above_limit(key, found));
    }
    Ok(sum)
}

/// Whether a unit has this name.
pub(super) fn is_unit(name: &str) -> bool {
    unit(name).is_some()
}

pub(super) fn is_iso(text: &str) -> bool {
    let rest = text.strip_prefix('P').unwrap_or_default();
    let rest = rest.strip_prefix('T').unwrap_or(rest);
    rest.starts_with(|char: char| char.is_ascii_digit())
}

/// Our spelling of a unit, and its length in nanoseconds.
fn unit(name: &str) -> Option<(&'static str, u64)> {
    let (names, nanos) = UNITS.iter().find(|(names, _)| text::among(names, name))?;
    Some((names.split(' ').next()?, *nanos))
}

struct Parser<'a> {
    key: &'a Key,
    found: &'a str,
    text: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Reads a number, its unit and the blanks after them. Gives the length, and our spelling of the unit.
    fn part(&mut self) -> Result<(Duration, &'static str), Message> {
        let (key, found) = (self.key, self.found);
        let start = self.rest;
        let digits = self.take(|char| char.is_ascii_digit());
        let mut fraction = "";
        if self.rest.starts_with('.') {
            self.take(|char| char == '.');
            fraction = self.take(|char| char.is_ascii_digit());
            if digits.is_empty() || fraction.is_empty() {
                return Err(self.bare_point(digits, fraction));
            }
        }
        if digits.is_empty() {
            let word = self.take(char::is_alphabetic);
            return Err(match start.chars().next() {
                Some(char) if word.is_empty() => wording::character(key, found, char),
                _ => wording::no_number(key, found, word),
            });
        }
        self.misspelt(digits)?;
        let number = start.strip_suffix(self.rest).unwrap_or(start);
        self.take(char::is_whitespace);
        let name = self.take(char::is_alphabetic);
        let Some((unit, nanos)) = unit(name) else {
            return Err(self.unknown(number, name, start));
        };
        self.take(char::is_whitespace);
        Ok((self.length(digits, fraction, nanos)?, unit))
    }

    /// The length of a part, exactly.
    fn length(&self, digits: &str, fraction: &str, nanos: u64) -> Result<Duration, Message> {
        let whole = digits
            .parse()
            .ok()
            .and_then(|whole: u64| whole.checked_mul(nanos));
        let Some(whole) = whole else {
            return Err(wording::above_limit(self.key, self.found));
        };
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            return Ok(Duration::from_nanos(whole));
        }
        // 128 bits hold 38 digits. A fraction of 19 digits times the longest unit, of 15 digits, fits.
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
            _ => Err(wording::below_nanosecond(self.found)),
        }
    }

    fn unknown(&self, number: &str, name: &str, start: &str) -> Message {
        let (key, found) = (self.key, self.found);
        let lower = name.to_lowercase();
        match (name, self.rest.chars().next()) {
            ("", Some(char)) if !char.is_ascii_digit() => wording::character(key, found, char),
            ("", None) if start.len() == self.text.len() => wording::no_unit(key, found, number),
            ("", _) => wording::no_unit_after(found, number),
            ("M", _) => wording::month_or_minute(key, found, number),
            _ if text::among(NO_FIXED_LENGTH, &lower) => wording::no_fixed_length(found, name),
            _ => {
                // `MS` is `ms`.
                let names = UNITS.iter().flat_map(|(names, _)| names.split(' '));
                let long = names.filter(|name| name.len() > 1);
                let meant = unit(&lower).or_else(|| unit(text::nearest(&lower, long)?));
                wording::unknown_unit(found, name, meant.map(|(name, _)| name))
            }
        }
    }

    /// `.5s` as `0.5s`, `1.s` as `1s`.
    fn bare_point(&self, digits: &str, fraction: &str) -> Message {
        let unit = match self.rest.trim() {
            "" => "s",
            unit => unit,
        };
        let digits = if digits.is_empty() { "0" } else { digits };
        let point = if fraction.is_empty() { "" } else { "." };
        let corrected = format!("{digits}{point}{fraction}{unit}");
        wording::bare_point(self.key, self.found, &corrected)
    }

    /// `1,5s` as `1.5s`, `1_000ms` as `1000ms`.
    fn misspelt(&self, digits: &str) -> Result<(), Message> {
        let mut rest = self.rest.chars();
        let (part, corrected) = match (rest.next(), rest.next()) {
            (Some(','), Some(next)) if next.is_ascii_digit() => (
                ",",
                self.text
                    .replacen(&format!("{digits},"), &format!("{digits}."), 1),
            ),
            (Some('_'), _) => ("_", self.text.replace('_', "")),
            _ => return Ok(()),
        };
        Err(wording::misspelt(self.key, self.found, part, &corrected))
    }

    /// Takes the characters at the start for which `holds` is true.
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
    use crate::keys::Id;

    fn read(text: &str) -> Result<Duration, String> {
        parse(Id::Base.key(), text, text).map_err(|message| {
            let message = message.to_string();
            message.lines().next().unwrap_or_default().to_owned()
        })
    }

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
            assert_eq!(read(text), Ok(Duration::from_nanos(nanos)), "{text}");
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
            assert_eq!(read(text), Err(format!("duration `{text}` is above 24h")));
        }
        for text in [
            "0.5ns",
            "0.0000000001s",
            "1.00000000000000000000000000000001s",
        ] {
            let expected = format!("duration `{text}` has a fraction of a nanosecond");
            assert_eq!(read(text), Err(expected));
        }
    }
}
