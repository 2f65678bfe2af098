//! What is wrong with the text of a duration, in words.

use crate::text;

/// The units, for a message.
pub(crate) const UNIT_NAMES: &str = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`";

/// What is wrong with the text of a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DurationFault<'t> {
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
    pub(crate) fn problem(&self, found: &str) -> String {
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
    pub(crate) fn help(&self, found: &str, paste: &dyn Fn(&str) -> String) -> Option<String> {
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

/// Returns the units that a number without a unit most likely has, the likelier one first.
fn likely_units(number: &str) -> [&'static str; 2] {
    // From 100 on, people most likely mean milliseconds.
    match number.parse::<f64>() {
        Ok(value) if value >= 100.0 => ["ms", "s"],
        _ => ["s", "ms"],
    }
}
