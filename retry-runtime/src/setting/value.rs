//! What a setting is set to.

use std::fmt;
use std::time::Duration;

use super::duration;
use super::fault::{Fault, fault};
use super::key::Key;
use super::text::{self, quoted};
use crate::policy::Policy;
use crate::{Backoff, Factor, Jitter};

/// A value as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    /// A number in decimal digits.
    Number(&'a str),
    /// What is neither, as messages call it: `a list`.
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

/// One setting of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Setting {
    /// `None` is "unlimited".
    Attempts(Option<u32>),
    Length(Key, Duration),
    Backoff(Backoff),
    Factor(Factor),
    Jitter(Jitter),
}

impl Setting {
    /// Reads a setting, and refuses nonsense.
    pub(crate) fn read(key: Key, value: Value<'_>) -> Result<Self, Fault> {
        match key {
            Key::Attempts => attempts(value).map(Self::Attempts),
            Key::Factor => factor(value).map(Self::Factor),
            Key::Backoff => {
                const KNOWN: [Backoff; 4] = [
                    Backoff::Exponential,
                    Backoff::Constant,
                    Backoff::Linear,
                    Backoff::Fibonacci,
                ];
                word(key, value, &KNOWN.map(|known| (known.as_str(), known))).map(Self::Backoff)
            }
            Key::Jitter => {
                const KNOWN: [Jitter; 4] = [
                    Jitter::None,
                    Jitter::Full,
                    Jitter::Equal,
                    Jitter::Decorrelated,
                ];
                word(key, value, &KNOWN.map(|known| (known.as_str(), known))).map(Self::Jitter)
            }
            Key::Timeout
            | Key::Deadline
            | Key::Base
            | Key::MaxDelay
            | Key::Delays
            | Key::MaxRetryAfter => length(key, value).map(|length| Self::Length(key, length)),
        }
    }

    /// Changes a policy.
    pub(crate) fn set(self, policy: Policy) -> Policy {
        match self {
            Self::Attempts(Some(attempts)) => policy.with_attempts(attempts),
            Self::Attempts(None) => policy.with_unlimited_attempts(),
            Self::Backoff(backoff) => policy.with_backoff(backoff),
            Self::Factor(factor) => policy.with_factor(factor.as_f64()),
            Self::Jitter(jitter) => policy.with_jitter(jitter),
            Self::Length(key, length) => match key {
                Key::Timeout => policy.with_timeout(length),
                Key::Deadline => policy.with_deadline(length),
                Key::Base => policy.with_base(length),
                Key::MaxDelay => policy.with_max_delay(length),
                Key::MaxRetryAfter => policy.with_max_retry_after(length),
                Key::Attempts | Key::Backoff | Key::Factor | Key::Jitter | Key::Delays => policy,
            },
        }
    }
}

fn attempts(value: Value<'_>) -> Result<Option<u32>, Fault> {
    const UNLIMITED: &str = "infinite infinity inf forever endless unbounded max always";
    const ONCE: &str = "none never no off once";
    let number = match value {
        Value::Text("unlimited") => return Ok(None),
        Value::Number(number) => number,
        Value::Text(word) => {
            let word = word.trim().to_lowercase();
            let problem = format!("found {value}, expected {}", Key::Attempts.kind());
            return Err(if word == "unlimited" || text::among(UNLIMITED, &word) {
                Fault::with_help(problem, "did you mean \"unlimited\"?")
            } else if text::among(ONCE, &word) {
                Fault::with_help(problem, "write 1 for no retry")
            } else {
                wrong(Key::Attempts, value)
            });
        }
        Value::Other(_) => return Err(wrong(Key::Attempts, value)),
    };
    let Ok(whole) = number.parse::<i128>() else {
        return Err(wrong(Key::Attempts, value));
    };
    match u32::try_from(whole) {
        Ok(0) => Err(Fault::with_help(
            "`attempts` is 0, expected at least 1, as the first call counts",
            "write 1 for no retry",
        )),
        Ok(attempts) if attempts < u32::MAX => Ok(Some(attempts)),
        _ if whole < 0 => Err(Fault::with_help(
            format!("`attempts` is negative ({number}), expected at least 1"),
            "write 1 for no retry, or \"unlimited\"",
        )),
        _ => Err(Fault::with_help(
            format!(
                "`attempts` is out of range ({number}), expected at most {}",
                u32::MAX - 1
            ),
            "write \"unlimited\" if that is meant",
        )),
    }
}

fn factor(value: Value<'_>) -> Result<Factor, Fault> {
    let Value::Number(text) = value else {
        return Err(wrong(Key::Factor, value));
    };
    let number: f64 = text.parse().map_err(|_| wrong(Key::Factor, value))?;
    if let Some(factor) = Factor::new(number) {
        return Ok(factor);
    }
    let problem = format!("factor {text} is not from 1 to 1000");
    Err(if number < 1.0 {
        Fault::with_help(
            problem,
            "write 2.0, or `backoff = \"constant\"` for equal delays",
        )
    } else {
        fault(problem, Key::Factor.example())
    })
}

fn length(key: Key, value: Value<'_>) -> Result<Duration, Fault> {
    let length = match value {
        Value::Text(text) => duration::parse(key, text)?,
        Value::Number(number) if number.starts_with(|char: char| char.is_ascii_digit()) => {
            return Err(duration::no_unit(number, number));
        }
        Value::Number(_) | Value::Other(_) => {
            return Err(duration::not_a_duration(key, &value.to_string()));
        }
    };
    let (what, help) = match key {
        Key::Timeout => ("no attempt could end in time", "leave it out for no limit"),
        Key::Deadline => ("no call could end in time", "leave it out for no limit"),
        Key::MaxDelay => (
            "no retry would wait",
            "write `base = \"0s\"` to retry without waiting",
        ),
        _ => return Ok(length),
    };
    if length.is_zero() {
        let problem = format!("`{key}` is zero, so that {what}");
        return Err(Fault::with_help(problem, help));
    }
    Ok(length)
}

fn word<T: Copy>(key: Key, value: Value<'_>, known: &[(&'static str, T)]) -> Result<T, Fault> {
    let Value::Text(text) = value else {
        return Err(wrong(key, value));
    };
    if let Some((_, found)) = known.iter().find(|(word, _)| *word == text) {
        return Ok(*found);
    }
    let words = || known.iter().map(|(word, _)| *word);
    let list: Vec<_> = words().map(quoted).collect();
    let list = format!("`{key}` is one of {}", list.join(", "));
    let problem = format!("unknown {key} {value}");
    Err(match text::nearest(text.trim(), words()) {
        Some(nearest) => Fault::with_help(problem, format!("did you mean \"{nearest}\"? {list}")),
        None => Fault::with_help(problem, list),
    })
}

/// A value of another kind than the key takes.
fn wrong(key: Key, value: Value<'_>) -> Fault {
    fault(
        format!("found {value}, expected {}", key.kind()),
        key.example(),
    )
}
