//! The text of a duration.
//!
//! `humantime` accepts more: `1s 1s`, months, years, and no upper limit.

mod fault;

use std::time::Duration;

pub(crate) use self::fault::{DurationFault, UNIT_NAMES};
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

const NO_FIXED_LENGTH: &str = "month months mo mon year years y";

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
pub(crate) fn parse(text: &str) -> Result<Duration, DurationFault<'_>> {
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
pub(crate) fn human(duration: Duration) -> String {
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
pub(crate) fn is_unit(name: &str) -> bool {
    unit(name).is_some()
}

/// Returns whether a text begins as a duration of ISO 8601.
pub(crate) fn is_iso(text: &str) -> bool {
    let rest = text.strip_prefix('P').unwrap_or_default();
    let rest = rest.strip_prefix('T').unwrap_or(rest);
    rest.starts_with(|char: char| char.is_ascii_digit())
}

/// Returns whether people write this for "no limit".
pub(crate) fn is_endless(word: &str) -> bool {
    const ENDLESS: &str = "none never unlimited infinite infinity inf forever off no";
    text::among(ENDLESS, &word.trim().to_lowercase())
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
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
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

    /// `.5s` as `0.5s`, `1.s` as `1s`, `1..5s` as `1.5s`.
    fn bare_point(&self, digits: &str, fraction: &str) -> DurationFault<'t> {
        let rest = match self.rest.trim_start_matches('.').trim() {
            "" => "s",
            rest => rest,
        };
        let digits = if digits.is_empty() { "0" } else { digits };
        let has_fraction =
            !fraction.is_empty() || rest.starts_with(|char: char| char.is_ascii_digit());
        let point = if has_fraction { "." } else { "" };
        DurationFault::BarePoint(format!("{digits}{point}{fraction}{rest}"))
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
mod tests;
