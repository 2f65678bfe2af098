//! The value of a key that is a duration.

use std::time::Duration;

use retry_settings::duration::{self, DurationFault, UNIT_NAMES, is_endless};
use retry_settings::keys::PolicyKey;
use retry_settings::text;

use super::fault::{SettingFault, fault};
use super::typed::Value;

/// Reads a duration of at most 24 h.
pub(super) fn read(key: PolicyKey, value: Value<'_>) -> Result<Duration, SettingFault> {
    let found = || value.to_string();
    let length = match value {
        Value::Text(text) => duration::parse(text),
        Value::Number(number) if number.starts_with(|char: char| char.is_ascii_digit()) => {
            Err(DurationFault::NoUnit(number))
        }
        Value::Number(_) | Value::Other(_) => return Err(not_a_duration(key, &found())),
    };
    let length = length.map_err(|fault| refused(key, &found(), &fault))?;
    match key.key().zero.filter(|_| length.is_zero()) {
        Some((why, help)) => {
            let problem = format!("`{key}` is zero, so that {why}");
            Err(SettingFault::with_help(problem, help))
        }
        None => Ok(length),
    }
}

fn refused(key: PolicyKey, found: &str, is: &DurationFault<'_>) -> SettingFault {
    if matches!(is, DurationFault::Iso | DurationFault::Start(_)) {
        return not_a_duration(key, found);
    }
    let problem = is.problem(found);
    match (is.help(found, &text::quoted), is) {
        (Some(help), DurationFault::UnknownUnit(_, Some(_))) => {
            SettingFault::with_help(problem, format!("{help} {UNIT_NAMES}"))
        }
        (Some(help), _) => SettingFault::with_help(problem, help),
        (None, _) => fault(problem, key.example()),
    }
}

/// The fault of a value that is not a duration.
fn not_a_duration(key: PolicyKey, found: &str) -> SettingFault {
    let problem = format!("found {found}, expected a duration");
    match key {
        PolicyKey::Timeout | PolicyKey::Deadline if is_endless(found.trim_matches('"')) => {
            SettingFault::with_help(problem, format!("leave `{key}` out for no limit"))
        }
        _ => fault(problem, key.example()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Duration, String> {
        super::read(PolicyKey::Base, Value::Text(text)).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_duration_that_is_refused_has_its_problem_and_help() {
        for (text, problem) in [
            ("24h 1ns", "duration \"24h 1ns\" is above 24h"),
            ("25h", "duration \"25h\" is above 24h"),
            ("2d", "duration \"2d\" is above 24h"),
            ("1w", "duration \"1w\" is above 24h"),
            (
                "18446744073709551615s 1000000000ns",
                "duration \"18446744073709551615s 1000000000ns\" is above 24h",
            ),
            (
                "99999999999999999999999999999999999999999999s",
                "duration \"99999999999999999999999999999999999999999999s\" is above 24h",
            ),
            (
                "18446744073709551615h",
                "duration \"18446744073709551615h\" is above 24h",
            ),
            ("0.5ns", "duration \"0.5ns\" has a fraction of a nanosecond"),
            (
                "0.0000000001s",
                "duration \"0.0000000001s\" has a fraction of a nanosecond",
            ),
            (
                "1.00000000000000000000000000000001s",
                "duration \"1.00000000000000000000000000000001s\" has a fraction of a nanosecond",
            ),
            ("1.5", "duration \"1.5\" has no unit"),
            ("1500", "duration \"1500\" has no unit"),
            ("1h30", "duration \"1h30\" has no unit after `30`"),
            ("-5s", "duration \"-5s\" is negative"),
            ("5x", "duration \"5x\" has an unknown unit, `x`"),
            ("5S", "duration \"5S\" has an unknown unit, `S`"),
            (
                "5secnds",
                "duration \"5secnds\" has an unknown unit, `secnds`",
            ),
            ("1e3s", "duration \"1e3s\" has an unknown unit, `e`"),
            ("5M", "`M` in duration \"5M\" could mean months"),
            (
                "1 month",
                "`month` in duration \"1 month\" has no fixed length",
            ),
            ("2y", "`y` in duration \"2y\" has no fixed length"),
            ("1s1s", "duration \"1s1s\" has the unit `s` twice"),
            ("1s 5sec", "duration \"1s 5sec\" has the unit `s` twice"),
            ("", "found no text, expected a duration"),
            ("s", "duration \"s\" has no number before `s`"),
            ("PT5S", "found \"PT5S\", expected a duration"),
            ("1,5s", "duration \"1,5s\" has a `,` in its number"),
            ("1_000ms", "duration \"1_000ms\" has a `_` in its number"),
            (
                ".5s",
                "duration \".5s\" has no digit on one side of its point",
            ),
            (
                "1.s",
                "duration \"1.s\" has no digit on one side of its point",
            ),
            ("1:30", "duration \"1:30\" has a `:` in it"),
            (
                "1h and 5m",
                "duration \"1h and 5m\" has no number before `and`",
            ),
            ("forever", "found \"forever\", expected a duration"),
            (
                "five seconds",
                "found \"five seconds\", expected a duration",
            ),
            ("+5s", "found \"+5s\", expected a duration"),
        ] {
            let message = read(text).unwrap_err();
            let (found, help) = message.split_once("; ").unwrap_or((&message, ""));
            assert_eq!(found, problem, "{text}");
            assert!(!help.is_empty(), "{message}");
        }
    }
}
