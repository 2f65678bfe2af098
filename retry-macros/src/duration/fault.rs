//! What is wrong with the text of a duration, in words.

use crate::text;

/// The units, for a message.
pub(crate) const UNIT_NAMES: &str = "the units are `ns`, `us`, `ms`, `s`, `m`, `h`";

/// What is wrong with the text of a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DurationFault<'t> {
    /// `-5s`.
    Negative,
    /// A number alone.
    NoUnit(&'t str),
    /// A word that is no unit, and the unit that it most likely means.
    UnknownUnit(&'t str, Option<&'static str>),
    /// `1,5s`, and what was most likely meant.
    Comma(String),
    /// More than 24 h.
    AboveLimit,
    /// Anything else.
    NoDuration,
}

impl DurationFault<'_> {
    /// Returns what is wrong. `found` is the text as messages show it, with its quotes.
    pub(crate) fn problem(&self, found: &str) -> String {
        let what = match self {
            Self::NoDuration => return format!("found {found}, expected a duration"),
            Self::Negative => "is negative".to_owned(),
            Self::NoUnit(_) => "has no unit".to_owned(),
            Self::UnknownUnit(unit, _) => format!("has an unknown unit, `{}`", text::shown(unit)),
            Self::Comma(_) => "has a `,` in its number".to_owned(),
            Self::AboveLimit => "is above 24h".to_owned(),
        };
        format!("duration {found} {what}")
    }

    /// Returns what to write, or `None` if only an example helps. `paste` shows a value as text to paste.
    pub(crate) fn help(&self, paste: &dyn Fn(&str) -> String) -> Option<String> {
        Some(match self {
            Self::NoUnit(number) => {
                let [first, second] =
                    likely_units(number).map(|unit| paste(&format!("{number}{unit}")));
                format!("write {first} or {second}")
            }
            Self::UnknownUnit(_, Some(nearest)) => format!("did you mean `{nearest}`?"),
            Self::UnknownUnit(_, None) => UNIT_NAMES.to_owned(),
            Self::Comma(corrected) => format!("write {}", paste(corrected)),
            Self::AboveLimit => format!("write {} or less", paste("24h")),
            Self::Negative | Self::NoDuration => return None,
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
