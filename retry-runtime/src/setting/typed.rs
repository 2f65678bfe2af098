//! A value as it was typed.

use std::fmt;

use retry_settings::text::{self, quoted};

use super::fault::{SettingFault, fault};
use crate::policy::Policy;

/// What a setting does to a policy.
pub(crate) type Change = Box<dyn Fn(Policy) -> Policy>;

/// A value before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    /// A number in decimal digits.
    Number(&'a str),
    /// Any other value, by its name in messages: `a list`.
    Other(&'a str),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Number(text) | Self::Other(text) => f.write_str(&text::shown(text)),
        }
    }
}

/// The fault of a value of another kind than a key takes.
pub(super) fn wrong(value: Value<'_>, kind: &str, example: &str) -> SettingFault {
    fault(format!("found {value}, expected {kind}"), example)
}

/// Reads one of the words that a key takes.
pub(super) fn word<T: Copy>(
    key: impl fmt::Display,
    text: &str,
    known: &[(&'static str, T)],
) -> Result<T, SettingFault> {
    if let Some((_, found)) = known.iter().find(|(word, _)| *word == text) {
        return Ok(*found);
    }
    let words = || known.iter().map(|(word, _)| *word);
    let list: Vec<_> = words().map(quoted).collect();
    let list = format!("`{key}` is one of {}", list.join(", "));
    let problem = format!("unknown {key} {}", quoted(text));
    let nearest = text::nearest(text.trim(), words()).map(quoted);
    Err(SettingFault::unknown(problem, nearest, &list))
}
