//! Values with a unit or a range.

use std::fmt;
use std::time::Duration;

use humantime::{DurationError, format_duration, parse_duration};
use serde::de::{Error, IntoDeserializer as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Jitter;

/// A number, as it is written. Asked for an `f64`, config-rs would read `true` as 1 and `"2"` as 2; asked for a whole number,
/// it would round 1.5.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number")]
enum WrittenNumber {
    Number(f64),
}

/// A number from `LEAST` to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenNumber")]
pub(super) struct Number<const LEAST: u32, const MOST: u32>(pub(super) f64);

impl<const LEAST: u32, const MOST: u32> TryFrom<WrittenNumber> for Number<LEAST, MOST> {
    type Error = String;

    fn try_from(WrittenNumber::Number(number): WrittenNumber) -> Result<Self, String> {
        let fits = (f64::from(LEAST)..=f64::from(MOST)).contains(&number);
        fits.then_some(Self(number))
            .ok_or_else(|| format!("{number} is not from {LEAST} to {MOST}"))
    }
}

/// Such a number that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Number<LEAST, MOST>")]
pub(super) struct Whole<const LEAST: u32, const MOST: u32>(pub(super) u32);

impl<const LEAST: u32, const MOST: u32> TryFrom<Number<LEAST, MOST>> for Whole<LEAST, MOST> {
    type Error = String;

    fn try_from(Number(number): Number<LEAST, MOST>) -> Result<Self, String> {
        if number.fract() != 0.0 {
            return Err(format!("{number} is not a whole number"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number is whole, and the range is one of `u32`"
        )]
        Ok(Self(number as u32))
    }
}

/// Applies each key that is set.
macro_rules! set {
    ($keys:ident over $target:ident: $($key:ident $with:ident $(.$field:tt)?),*) => {
        $(if let Some(value) = $keys.$key {
            $target = $target.$with(value$(.$field)?);
        })*
    };
}

pub(super) use set;

/// A duration of at most 24 h.
pub(super) type Length = Bounded<false>;
/// Such a duration that is not zero.
pub(super) type AboveZero = Bounded<true>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded<const ABOVE_ZERO: bool>(pub(super) Duration);

/// The runtime arms no single timer for longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Twice as long as a duration that uses each unit, so that errors do not show a text of any length.
const LONGEST_TEXT: usize = 100;

impl<const ABOVE_ZERO: bool> Serialize for Bounded<ABOVE_ZERO> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_duration(self.0))
    }
}

impl<'de, const ABOVE_ZERO: bool> Deserialize<'de> for Bounded<ABOVE_ZERO> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DurationText::<ABOVE_ZERO>)
    }
}

/// Writes the word, or the percentage. Feature `serde`.
impl Serialize for Jitter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads a word of the attribute, or a percentage. Feature `serde`.
impl<'de> Deserialize<'de> for Jitter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WORDS: &[&str] = &["none", "full", "equal", "decorrelated", "20%"];
        let text = String::deserialize(deserializer)?;
        let mut plain = [Self::None, Self::Full, Self::Equal, Self::Decorrelated].into_iter();
        let named = plain.find(|jitter| jitter.as_str() == text).or_else(|| {
            let percent = text.strip_suffix('%')?.parse().ok()?;
            (percent <= 100).then_some(Self::Around(percent))
        });
        named.ok_or_else(|| D::Error::unknown_variant(short(&text), WORDS))
    }
}

/// Reads a word. An error shows no text of any length.
pub(super) fn word<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let word = text.map(|text| T::deserialize(short(&text).into_deserializer()));
    word.transpose()
}

/// The text, or what stands for one that is too long.
pub(super) fn short(text: &str) -> &str {
    if text.len() > LONGEST_TEXT {
        "…"
    } else {
        text
    }
}

struct DurationText<const ABOVE_ZERO: bool>;

impl<const ABOVE_ZERO: bool> Visitor<'_> for DurationText<ABOVE_ZERO> {
    type Value = Bounded<ABOVE_ZERO>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration with a unit, such as \"1.5s\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        match duration(text).map_err(E::custom)? {
            length if ABOVE_ZERO && length.is_zero() => {
                Err(E::custom(format_args!("duration {text:?} is zero")))
            }
            length => Ok(Bounded(length)),
        }
    }
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if text.len() > LONGEST_TEXT {
        return Err(format!(
            "a duration has at most {LONGEST_TEXT} bytes, and this text has {}",
            text.len()
        ));
    }
    match sum(text.trim()) {
        Ok(length) if length > LONGEST => Err(format!("duration {text:?} is above 24h")),
        Ok(length) => Ok(length),
        Err(problem) => Err(format!("duration {text:?}: {problem}")),
    }
}

/// Adds up the parts of a duration, such as `1m` and `30s`. `humantime` reads each of them: of a whole text it reads `1 5s`
/// as 15 s, and it panics where the sum is too large.
fn sum(text: &str) -> Result<Duration, String> {
    let (mut sum, mut rest) = (Duration::ZERO, text);
    loop {
        let unit = rest.find(char::is_alphabetic).unwrap_or(rest.len());
        let (number, unit_and_rest) = rest.split_at(unit);
        let is_digit = |char: char| char.is_ascii_digit();
        let next = unit_and_rest.find(is_digit).map(|next| unit + next);
        let (part, parts) = rest.split_at(next.unwrap_or(rest.len()));
        if number.trim_end().contains(char::is_whitespace) {
            return Err(format!("{:?} has a blank in it", number.trim_end()));
        }
        let length = parse_duration(part).map_err(|error| match error {
            DurationError::UnknownUnit { unit, .. } if unit.is_empty() => {
                format!("{part} has no unit, write \"{part}s\" or \"{part}ms\"")
            }
            error => error.to_string(),
        })?;
        sum = sum.saturating_add(length);
        if parts.is_empty() {
            return Ok(sum);
        }
        rest = parts;
    }
}
