//! The value of a setting.

use std::time::Duration;

use retry_settings::keys::PolicyKey;
use retry_settings::text;

use super::budget;
use super::duration;
use super::fault::{SettingFault, fault};
use super::key::SettingKey;
use super::typed::{self, Change, Value, word};
use crate::policy::Policy;
use crate::{Backoff, Factor, Jitter};

/// Reads the value of a key.
pub(crate) fn read(key: SettingKey, value: Value<'_>) -> Result<Change, SettingFault> {
    const BACKOFFS: [Backoff; 4] = [
        Backoff::Exponential,
        Backoff::Constant,
        Backoff::Linear,
        Backoff::Fibonacci,
    ];
    const JITTERS: [Jitter; 4] = [
        Jitter::None,
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
    ];
    let key = match key {
        SettingKey::Policy(key) => key,
        SettingKey::Budget(key) => return key.read(value),
    };
    let set: fn(Policy, Duration) -> Policy = match key {
        PolicyKey::Attempts => return attempts(value),
        PolicyKey::Factor => {
            let factor = factor(value)?.as_f64();
            return Ok(Box::new(move |policy| policy.with_factor(factor)));
        }
        PolicyKey::Backoff => {
            let known = BACKOFFS.map(|known| (known.as_str(), known));
            let backoff = word(key, text_of(key, value)?, &known)?;
            return Ok(Box::new(move |policy| policy.with_backoff(backoff)));
        }
        PolicyKey::Jitter => {
            let known = JITTERS.map(|known| (known.as_str(), known));
            let jitter = word(key, text_of(key, value)?, &known)?;
            return Ok(Box::new(move |policy| policy.with_jitter(jitter)));
        }
        PolicyKey::Budget => return budget::read(value),
        PolicyKey::Timeout => Policy::with_timeout,
        PolicyKey::Deadline => Policy::with_deadline,
        PolicyKey::Base => Policy::with_base,
        PolicyKey::ThrottledBase => Policy::with_throttled_base,
        PolicyKey::MinDelay => Policy::with_min_delay,
        PolicyKey::MaxDelay => Policy::with_max_delay,
        PolicyKey::MaxRetryAfter => Policy::with_max_retry_after,
        PolicyKey::Hedge => Policy::with_hedge,
    };
    let length = duration::read(key, value)?;
    Ok(Box::new(move |policy| set(policy, length)))
}

/// The duration of a key in a policy, if the key has one.
pub(super) fn length_in(policy: &Policy, key: PolicyKey) -> Option<Duration> {
    match key {
        PolicyKey::Timeout => policy.timeout(),
        PolicyKey::Deadline => policy.deadline(),
        PolicyKey::Base => Some(policy.base()),
        PolicyKey::ThrottledBase => policy.throttled_base(),
        PolicyKey::MinDelay => Some(policy.min_delay()),
        PolicyKey::MaxDelay => Some(policy.max_delay()),
        PolicyKey::MaxRetryAfter => Some(policy.max_retry_after()),
        PolicyKey::Hedge => policy.hedge(),
        PolicyKey::Attempts
        | PolicyKey::Backoff
        | PolicyKey::Factor
        | PolicyKey::Jitter
        | PolicyKey::Budget => None,
    }
}

fn attempts(value: Value<'_>) -> Result<Change, SettingFault> {
    const UNLIMITED: &str = "infinite infinity inf forever endless unbounded max always";
    const ONCE: &str = "none never no off once";
    let number = match value {
        Value::Text("unlimited") => return Ok(Box::new(Policy::with_unlimited_attempts)),
        Value::Number(number) => number,
        Value::Text(word) => {
            let word = word.trim().to_lowercase();
            let problem = format!("found {value}, expected {}", PolicyKey::Attempts.kind());
            return Err(if word == "unlimited" || text::among(UNLIMITED, &word) {
                SettingFault::with_help(problem, "did you mean \"unlimited\"?")
            } else if text::among(ONCE, &word) {
                SettingFault::with_help(problem, "write 1 for no retry")
            } else {
                wrong(PolicyKey::Attempts, value)
            });
        }
        Value::Other(_) => return Err(wrong(PolicyKey::Attempts, value)),
    };
    let Ok(whole) = number.parse::<i128>() else {
        return Err(wrong(PolicyKey::Attempts, value));
    };
    match u32::try_from(whole) {
        Ok(0) => Err(SettingFault::with_help(
            "`attempts` is 0, expected at least 1, as the first call counts",
            "write 1 for no retry",
        )),
        Ok(attempts) if attempts < u32::MAX => {
            Ok(Box::new(move |policy| policy.with_attempts(attempts)))
        }
        _ if whole < 0 => Err(SettingFault::with_help(
            format!("`attempts` is negative ({value}), expected at least 1"),
            "write 1 for no retry, or \"unlimited\"",
        )),
        _ => Err(SettingFault::with_help(
            format!(
                "`attempts` is out of range ({value}), expected at most {}",
                u32::MAX - 1
            ),
            "write \"unlimited\" for no limit",
        )),
    }
}

fn factor(value: Value<'_>) -> Result<Factor, SettingFault> {
    let Value::Number(text) = value else {
        return Err(wrong(PolicyKey::Factor, value));
    };
    let number: f64 = text.parse().map_err(|_| wrong(PolicyKey::Factor, value))?;
    if let Some(factor) = Factor::new(number) {
        return Ok(factor);
    }
    let problem = format!("factor {value} is not from 1 to 1000");
    Err(if number < 1.0 {
        SettingFault::with_help(
            problem,
            "write 2.0, or `backoff = \"constant\"` for equal delays",
        )
    } else {
        fault(problem, PolicyKey::Factor.example())
    })
}

fn text_of(key: PolicyKey, value: Value<'_>) -> Result<&str, SettingFault> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Number(_) | Value::Other(_) => Err(wrong(key, value)),
    }
}

fn wrong(key: PolicyKey, value: Value<'_>) -> SettingFault {
    typed::wrong(value, &key.kind(), key.example())
}
