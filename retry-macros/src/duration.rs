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

/// What is wrong with the text of a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DurationFault<'t> {
    /// `-5s`.
    Negative,
    /// A number alone.
    NoUnit(&'t str),
    /// A word that is no unit, and the unit that it most likely means.
    UnknownUnit(&'t str, Option<&'static str>),
    /// `1,5s`, and the text with a point.
    Comma(String),
    /// More than 24 h.
    AboveLimit,
    /// Anything else.
    NoDuration,
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
        if digits.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return Err(DurationFault::NoDuration);
        }
        rest = rest.trim_start();
        let name = take(&mut rest, char::is_alphabetic);
        rest = rest.trim_start();
        let Some((unit, nanos)) = unit(name) else {
            let with_point = text.replacen(',', ".", 1);
            return Err(match name {
                "" if text == number => DurationFault::NoUnit(number),
                "" if rest.starts_with(',') && parse(&with_point).is_ok() => {
                    DurationFault::Comma(with_point)
                }
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

/// Our spelling of a unit, and its length in nanoseconds.
fn unit(name: &str) -> Option<(&'static str, u64)> {
    let (names, nanos) = UNITS.iter().find(|(names, _)| text::among(names, name))?;
    Some((names.split(' ').next()?, *nanos))
}

/// The unit that a name most likely means: `MS` is `ms`, and `secnds` is `s`.
fn meant(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    let mut names = UNITS.iter().flat_map(|(names, _)| names.split(' '));
    let meant = text::nearest(&lower, &mut names).and_then(unit);
    meant.map(|(unit, _)| unit)
}

/// The length of a part, exactly.
fn length<'t>(digits: &str, fraction: &str, nanos: u64) -> Result<Duration, DurationFault<'t>> {
    let fraction = fraction.trim_end_matches('0');
    let scale = u32::try_from(fraction.len()).ok();
    let scale = scale.and_then(|places| 10_u64.checked_pow(places));
    // 20 places are more than any unit has.
    let scale = u128::from(scale.ok_or(DurationFault::NoDuration)?);
    let value = format!("{digits}{fraction}").parse().ok();
    let value = value.and_then(|value: u128| value.checked_mul(nanos.into()));
    let value = value.ok_or(DurationFault::AboveLimit)?;
    if value % scale != 0 {
        return Err(DurationFault::NoDuration);
    }
    let nanos = u64::try_from(value / scale).unwrap_or(u64::MAX);
    Ok(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests;
