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
    if text.starts_with('-') {
        return Err(DurationFault::Negative);
    }
    let mut rest = text;
    let mut seen: Vec<&str> = Vec::new();
    let mut sum = Duration::ZERO;
    while !rest.is_empty() || seen.is_empty() {
        let number = take(&mut rest, |char| char.is_ascii_digit() || char == '.');
        let (digits, fraction) = number.split_once('.').unwrap_or((number, "0"));
        if !is_number(digits) || !is_number(fraction) {
            return Err(DurationFault::NoDuration);
        }
        let after_comma = rest.strip_prefix(',').unwrap_or_default();
        if after_comma.starts_with(|char: char| char.is_ascii_digit()) {
            return Err(DurationFault::Comma(text.replacen(',', ".", 1)));
        }
        rest = rest.trim_start();
        let name = take(&mut rest, char::is_alphabetic);
        rest = rest.trim_start();
        let Some((unit, nanos)) = unit(name) else {
            return Err(match name {
                "" if text == number => DurationFault::NoUnit(number),
                "" => DurationFault::NoDuration,
                name => DurationFault::UnknownUnit(name, meant(name)),
            });
        };
        if seen.contains(&unit) {
            return Err(DurationFault::NoDuration);
        }
        seen.push(unit);
        sum = sum.saturating_add(length(digits, fraction, nanos)?);
    }
    if sum > LIMIT {
        return Err(DurationFault::AboveLimit);
    }
    Ok(sum)
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The unit that a name most likely means: `MS` is `ms`, and a month is a minute.
fn meant(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let names = UNITS.iter().flat_map(|(names, _)| names.split(' '));
    let long = names.filter(|name| name.len() > 1);
    let meant = if text::among("mo mon month months", &lower) {
        unit("m")
    } else {
        unit(&lower).or_else(|| unit(text::nearest(&lower, long)?))
    };
    meant.map(|(name, _)| name)
}

/// Takes the characters at the start for which `holds` is true.
fn take<'t>(rest: &mut &'t str, holds: impl Fn(char) -> bool) -> &'t str {
    let end = rest.find(|char| !holds(char)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
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
        // A fraction of a nanosecond.
        _ => Err(DurationFault::NoDuration),
    }
}

#[cfg(test)]
mod tests;
