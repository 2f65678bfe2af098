//! The text of a duration.
//!
//! `humantime` accepts more: `1s 1s`, months, years, and no upper limit.

use std::time::Duration;

use crate::text;

/// The longest duration that a setting accepts. The runtime arms no single timer for longer.
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

/// The units, for a message.
pub const UNIT_NAMES: &str = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`";

const NO_FIXED_LENGTH: &str = "month months mo mon year years y";

/// What is wrong with the text of a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurationFault<'t> {
    /// No text.
    Empty,
    /// `-5s`.
    Negative,
    /// `PT5S`.
    Iso,
    /// A text that begins with this character, as no duration does: `+5s`, `soon`.
    Start(char),
    /// A number alone.
    NoUnit(&'t str),
    /// `1m 30`, with the number that has no unit.
    NoUnitAfter(&'t str),
    /// A word where a number is expected.
    NoNumber(&'t str),
    /// `.5s`, `1.s`, and what was most likely meant.
    BarePoint(String),
    /// `1,5s`, `1_000ms`: the character, and what was most likely meant.
    Misspelt(char, String),
    /// Any other character.
    Character(char),
    /// `M`, which may mean months or minutes, after this number.
    MonthOrMinute(&'t str),
    /// Months and years.
    NoFixedLength(&'t str),
    /// A word that is no unit, and the unit that it most likely means.
    UnknownUnit(&'t str, Option<&'static str>),
    /// A unit that is given twice.
    RepeatedUnit(&'static str),
    /// `0.5ns`.
    BelowNanosecond,
    /// More than 24 h.
    AboveLimit,
}

impl DurationFault<'_> {
    /// Returns what is wrong. `found` is the text as messages show it, with its quotes.
    #[must_use]
    pub fn problem(&self, found: &str) -> String {
        let what = match self {
            Self::Empty => return "found no text, expected a duration".to_owned(),
            Self::Start(_) => return format!("found {found}, expected a duration"),
            Self::MonthOrMinute(_) => return format!("`M` in duration {found} could mean months"),
            Self::NoFixedLength(unit) => {
                return format!("`{unit}` in duration {found} has no fixed length");
            }
            Self::Negative => "is negative".to_owned(),
            Self::Iso => "is in ISO 8601".to_owned(),
            Self::NoUnit(_) => "has no unit".to_owned(),
            Self::NoUnitAfter(number) => format!("has no unit after `{}`", text::shown(number)),
            Self::NoNumber(word) => format!("has no number before `{}`", text::shown(word)),
            Self::BarePoint(_) => "has no digit on one side of its point".to_owned(),
            Self::Misspelt(char, _) => format!("has a `{char}` in its number"),
            Self::Character(char) => format!("has a `{}` in it", char.escape_debug()),
            Self::UnknownUnit(unit, _) => format!("has an unknown unit, `{}`", text::shown(unit)),
            Self::RepeatedUnit(unit) => format!("has the unit `{unit}` twice"),
            Self::BelowNanosecond => "has a fraction of a nanosecond".to_owned(),
            Self::AboveLimit => "is above 24h".to_owned(),
        };
        format!("duration {found} {what}")
    }

    /// Returns what to write, or `None` if only an example helps. `found` is as above, and `paste` shows a value as text to
    /// paste.
    #[must_use]
    pub fn help(&self, found: &str, paste: &dyn Fn(&str) -> String) -> Option<String> {
        let write = |value: &str| format!("write {}", paste(value));
        let add_unit = |number: &str| {
            let [first, second] =
                likely_units(number).map(|unit| paste(&format!("{number}{unit}")));
            format!("write {first} or {second}")
        };
        let is_digit = |char: char| char.is_ascii_digit();
        Some(match self {
            Self::Negative => {
                let positive = found.trim_matches('"').trim_start_matches('-').trim();
                match (positive.starts_with(is_digit), positive.ends_with(is_digit)) {
                    (true, false) => write(positive),
                    (true, true) => add_unit(positive),
                    (false, _) => return None,
                }
            }
            Self::NoUnit(number) => add_unit(number),
            Self::NoUnitAfter(number) => {
                let number = text::shown(number);
                format!("write `{number}s`, `{number}m` or `{number}ms` there")
            }
            Self::BarePoint(corrected) | Self::Misspelt(_, corrected) => write(corrected),
            Self::MonthOrMinute(number) => {
                let minutes = write(&format!("{number}m"));
                format!("did you mean `m`, minutes? {minutes}")
            }
            Self::NoFixedLength(_) => {
                "did you mean `m`, minutes? the longest duration here is `\"24h\"`".to_owned()
            }
            Self::UnknownUnit(_, Some(nearest)) => format!("did you mean `{nearest}`?"),
            Self::UnknownUnit(_, None) => UNIT_NAMES.to_owned(),
            Self::BelowNanosecond => {
                "write whole nanoseconds, the smallest unit: `\"1ns\"`".to_owned()
            }
            Self::AboveLimit => format!("{} or less", write("24h")),
            Self::Empty
            | Self::Iso
            | Self::Start(_)
            | Self::NoNumber(_)
            | Self::Character(_)
            | Self::RepeatedUnit(_) => return None,
        })
    }
}

/// Reads a duration of at most 24 h.
///
/// # Grammar
///
/// ```text
/// duration = part { part }          no unit twice
/// part     = digits [ "." digits ] unit
/// unit     = ns | us | ms | s | m | h | d | w, or one of their longer names
/// ```
///
/// Blanks may stand around parts and before units.
///
/// # Errors
///
/// - The first fault in the text.
pub fn parse(text: &str) -> Result<Duration, DurationFault<'_>> {
    let text = text.trim();
    match text.chars().next() {
        None => return Err(DurationFault::Empty),
        Some('-') => return Err(DurationFault::Negative),
        Some(_) if is_iso(text) => return Err(DurationFault::Iso),
        Some(char) if !char.is_ascii_digit() && char != '.' && !is_unit(text) => {
            return Err(DurationFault::Start(char));
        }
        Some(_) => {}
    }
    let mut parser = DurationParser { text, rest: text };
    let mut seen: Vec<&str> = Vec::new();
    let mut sum = Duration::ZERO;
    while !parser.rest.is_empty() {
        let (part, unit) = parser.part()?;
        if seen.contains(&unit) {
            return Err(DurationFault::RepeatedUnit(unit));
        }
        seen.push(unit);
        sum = sum.saturating_add(part);
    }
    if sum > LIMIT {
        return Err(DurationFault::AboveLimit);
    }
    Ok(sum)
}

/// Returns the text of a duration in this grammar: `1m 30s`.
#[must_use]
pub fn human(duration: Duration) -> String {
    let mut left = duration.as_nanos();
    let mut parts = Vec::new();
    for (unit, nanos) in ["h", "m", "s", "ms", "us", "ns"]
        .into_iter()
        .filter_map(unit)
    {
        let nanos = u128::from(nanos);
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

/// Returns whether a unit has this name.
#[must_use]
pub fn is_unit(name: &str) -> bool {
    unit(name).is_some()
}

/// Returns whether a text begins as a duration of ISO 8601.
#[must_use]
pub fn is_iso(text: &str) -> bool {
    let rest = text.strip_prefix('P').unwrap_or_default();
    let rest = rest.strip_prefix('T').unwrap_or(rest);
    rest.starts_with(|char: char| char.is_ascii_digit())
}

/// Returns whether people write this for "no limit".
#[must_use]
pub fn is_endless(word: &str) -> bool {
    const ENDLESS: &str = "none never unlimited infinite infinity inf forever off no";
    text::among(ENDLESS, &word.trim().to_lowercase())
}

/// Returns the units that a number without a unit most likely has, the likelier one first.
fn likely_units(number: &str) -> [&'static str; 2] {
    // From 100 on, people most likely mean milliseconds.
    match number.parse::<f64>() {
        Ok(value) if value >= 100.0 => ["ms", "s"],
        _ => ["s", "ms"],
    }
}

/// Our spelling of a unit, and its length in nanoseconds.
fn unit(name: &str) -> Option<(&'static str, u64)> {
    let (names, nanos) = UNITS.iter().find(|(names, _)| text::among(names, name))?;
    Some((names.split(' ').next()?, *nanos))
}

struct DurationParser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> DurationParser<'t> {
    /// Reads a number, its unit and the blanks after them. Gives the length, and our spelling of the unit.
    fn part(&mut self) -> Result<(Duration, &'static str), DurationFault<'t>> {
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
                Some(char) if word.is_empty() => DurationFault::Character(char),
                _ => DurationFault::NoNumber(word),
            });
        }
        self.misspelt(digits)?;
        let number = start.strip_suffix(self.rest).unwrap_or(start);
        self.take(char::is_whitespace);
        let name = self.take(char::is_alphabetic);
        let Some((unit, nanos)) = unit(name) else {
            return Err(self.no_unit(number, name));
        };
        self.take(char::is_whitespace);
        Ok((length(digits, fraction, nanos)?, unit))
    }

    fn no_unit(&self, number: &'t str, name: &'t str) -> DurationFault<'t> {
        let lower = name.to_lowercase();
        match (name, self.rest.chars().next()) {
            ("", Some(char)) if !char.is_ascii_digit() => DurationFault::Character(char),
            ("", _) if self.text == number => DurationFault::NoUnit(number),
            ("", _) => DurationFault::NoUnitAfter(number),
            ("M", _) => DurationFault::MonthOrMinute(number),
            _ if text::among(NO_FIXED_LENGTH, &lower) => DurationFault::NoFixedLength(name),
            _ => {
                // `MS` is `ms`.
                let names = UNITS.iter().flat_map(|(names, _)| names.split(' '));
                let long = names.filter(|name| name.len() > 1);
                let meant = unit(&lower).or_else(|| unit(text::nearest(&lower, long)?));
                DurationFault::UnknownUnit(name, meant.map(|(name, _)| name))
            }
        }
    }

    /// `.5s` as `0.5s`, `1.s` as `1s`.
    fn bare_point(&self, digits: &str, fraction: &str) -> DurationFault<'t> {
        let unit = match self.rest.trim() {
            "" => "s",
            unit => unit,
        };
        let digits = if digits.is_empty() { "0" } else { digits };
        let point = if fraction.is_empty() { "" } else { "." };
        DurationFault::BarePoint(format!("{digits}{point}{fraction}{unit}"))
    }

    /// `1,5s` as `1.5s`, `1_000ms` as `1000ms`.
    fn misspelt(&self, digits: &str) -> Result<(), DurationFault<'t>> {
        let mut rest = self.rest.chars();
        let (char, corrected) = match (rest.next(), rest.next()) {
            (Some(','), Some(next)) if next.is_ascii_digit() => {
                let (typed, point) = (format!("{digits},"), format!("{digits}."));
                (',', self.text.replacen(&typed, &point, 1))
            }
            (Some('_'), _) => ('_', self.text.replace('_', "")),
            _ => return Ok(()),
        };
        Err(DurationFault::Misspelt(char, corrected))
    }

    /// Takes the characters at the start for which `holds` is true.
    fn take(&mut self, holds: impl Fn(char) -> bool) -> &'t str {
        let left = self.rest.trim_start_matches(holds);
        let taken = self.rest.strip_suffix(left).unwrap_or(self.rest);
        self.rest = left;
        taken
    }
}

/// The length of a part, exactly.
fn length<'t>(digits: &str, fraction: &str, nanos: u64) -> Result<Duration, DurationFault<'t>> {
    let whole = digits.parse().ok();
    let whole = whole.and_then(|whole: u64| whole.checked_mul(nanos));
    let whole = whole.ok_or(DurationFault::AboveLimit)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        return Ok(Duration::from_nanos(whole));
    }
    // The product has at most 34 digits: 19 of the fraction and 15 of the longest unit. 128 bits hold 38.
    let scale = u32::try_from(fraction.len()).ok();
    let scale = scale.filter(|&scale| scale <= 19);
    let scale = scale.and_then(|scale| 10_u128.checked_pow(scale));
    let part = fraction.parse().ok();
    let part = part.and_then(|part: u128| part.checked_mul(nanos.into()));
    match (part, scale) {
        (Some(part), Some(scale)) if part % scale == 0 => {
            let part = u64::try_from(part / scale).unwrap_or(u64::MAX);
            Ok(Duration::from_nanos(whole.saturating_add(part)))
        }
        _ => Err(DurationFault::BelowNanosecond),
    }
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
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn the_fault_is_the_one_that_was_most_likely_made() {
        use DurationFault as Is;
        for (text, fault) in [
            ("soon", Is::Start('s')),
            ("1s +5", Is::Character('+')),
            ("1 5s", Is::NoUnitAfter("1")),
            ("1,s", Is::Character(',')),
            ("5sx", Is::UnknownUnit("sx", None)),
        ] {
            assert_eq!(parse(text), Err(fault), "{text}");
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
            assert_eq!(parse(text), Err(DurationFault::AboveLimit), "{text}");
        }
        for text in [
            "0.5ns",
            "0.0000000001s",
            "1.00000000000000000000000000000001s",
        ] {
            assert_eq!(parse(text), Err(DurationFault::BelowNanosecond), "{text}");
        }
    }

    #[test]
    fn the_human_form_is_read_back() {
        for (nanos, expected) in [
            (0, "0s"),
            (1, "1ns"),
            (90_000_000_000, "1m 30s"),
            (86_400_000_000_000, "24h"),
            (3_661_001_001_001, "1h 1m 1s 1ms 1us 1ns"),
        ] {
            let duration = Duration::from_nanos(nanos);
            assert_eq!(human(duration), expected);
            assert_eq!(parse(expected), Ok(duration));
        }
    }
}
