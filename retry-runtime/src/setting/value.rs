//! The value of a setting.

use std::time::Duration;

use retry_settings::keys::PolicyKey;
use retry_settings::text;

use super::budget::BudgetSetting;
use super::duration;
use super::fault::{SettingFault, fault};
use super::key::SettingKey;
use super::typed::{Value, word};
use crate::policy::Policy;
use crate::{Backoff, Factor, Jitter};

/// One setting of a policy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PolicySetting {
    /// `None` is "unlimited".
    Attempts(Option<u32>),
    Length(fn(Policy, Duration) -> Policy, Duration),
    Backoff(Backoff),
    Factor(Factor),
    Jitter(Jitter),
    Budget(BudgetSetting),
}

/// How the value of a key is read from text, set in a policy, and found there.
enum Access {
    Attempts,
    Backoff,
    Factor,
    Jitter,
    Budget,
    Length(
        fn(Policy, Duration) -> Policy,
        fn(&Policy) -> Option<Duration>,
    ),
}

fn access(key: PolicyKey) -> Access {
    match key {
        PolicyKey::Attempts => Access::Attempts,
        PolicyKey::Timeout => Access::Length(Policy::with_timeout, Policy::timeout),
        PolicyKey::Deadline => Access::Length(Policy::with_deadline, Policy::deadline),
        PolicyKey::Backoff => Access::Backoff,
        PolicyKey::Base => Access::Length(Policy::with_base, |policy| Some(policy.base())),
        PolicyKey::ThrottledBase => {
            Access::Length(Policy::with_throttled_base, Policy::throttled_base)
        }
        PolicyKey::MinDelay => {
            Access::Length(Policy::with_min_delay, |policy| Some(policy.min_delay()))
        }
        PolicyKey::MaxDelay => {
            Access::Length(Policy::with_max_delay, |policy| Some(policy.max_delay()))
        }
        PolicyKey::Factor => Access::Factor,
        PolicyKey::Jitter => Access::Jitter,
        PolicyKey::MaxRetryAfter => Access::Length(Policy::with_max_retry_after, |policy| {
            Some(policy.max_retry_after())
        }),
        PolicyKey::Budget => Access::Budget,
        PolicyKey::Hedge => Access::Length(Policy::with_hedge, Policy::hedge),
    }
}

/// The duration of a key in a policy, if the key has one.
pub(super) fn length_in(policy: &Policy, key: PolicyKey) -> Option<Duration> {
    match access(key) {
        Access::Length(_, get) => get(policy),
        Access::Attempts | Access::Backoff | Access::Factor | Access::Jitter | Access::Budget => {
            None
        }
    }
}

impl PolicySetting {
    /// Reads the value of a key.
    pub(crate) fn read(key: SettingKey, value: Value<'_>) -> Result<Self, SettingFault> {
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
            SettingKey::Budget(key) => return key.read(value).map(Self::Budget),
        };
        Ok(match access(key) {
            Access::Attempts => Self::Attempts(attempts(value)?),
            Access::Factor => Self::Factor(factor(value)?),
            Access::Length(set, _) => Self::Length(set, length(key, value)?),
            Access::Backoff => {
                let known = BACKOFFS.map(|known| (known.as_str(), known));
                Self::Backoff(word(key, text_of(key, value)?, &known)?)
            }
            Access::Jitter => {
                let known = JITTERS.map(|known| (known.as_str(), known));
                Self::Jitter(word(key, text_of(key, value)?, &known)?)
            }
            Access::Budget => Self::Budget(BudgetSetting::read(value)?),
        })
    }

    /// The value of a key in a policy. `None` if it has none.
    #[cfg(feature = "serde")]
    pub(crate) fn of(policy: &Policy, key: PolicyKey) -> Option<Self> {
        Some(match access(key) {
            Access::Attempts => Self::Attempts(policy.attempts()),
            Access::Factor => Self::Factor(policy.factor()),
            Access::Length(set, get) => Self::Length(set, get(policy)?),
            Access::Backoff => Self::Backoff(policy.backoff()),
            Access::Jitter => Self::Jitter(policy.jitter()),
            Access::Budget => Self::Budget(BudgetSetting::of(policy)?),
        })
    }

    /// Changes a policy.
    pub(crate) fn set(self, policy: Policy) -> Policy {
        match self {
            Self::Attempts(Some(attempts)) => policy.with_attempts(attempts),
            Self::Attempts(None) => policy.with_unlimited_attempts(),
            Self::Length(set, length) => set(policy, length),
            Self::Backoff(backoff) => policy.with_backoff(backoff),
            Self::Factor(factor) => policy.with_factor(factor.as_f64()),
            Self::Jitter(jitter) => policy.with_jitter(jitter),
            Self::Budget(budget) => budget.set(policy),
        }
    }
}

fn attempts(value: Value<'_>) -> Result<Option<u32>, SettingFault> {
    const UNLIMITED: &str = "infinite infinity inf forever endless unbounded max always";
    const ONCE: &str = "none never no off once";
    let number = match value {
        Value::Text("unlimited") => return Ok(None),
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
        Ok(attempts) if attempts < u32::MAX => Ok(Some(attempts)),
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

fn length(key: PolicyKey, value: Value<'_>) -> Result<Duration, SettingFault> {
    let length = match value {
        Value::Text(text) => duration::parse(key, text)?,
        Value::Number(number) if number.starts_with(|char: char| char.is_ascii_digit()) => {
            return Err(duration::no_unit(key, &value.to_string(), number));
        }
        Value::Number(_) | Value::Other(_) => {
            return Err(duration::not_a_duration(key, &value.to_string()));
        }
    };
    match key.key().zero.filter(|_| length.is_zero()) {
        Some((why, help)) => {
            let problem = format!("`{key}` is zero, so that {why}");
            Err(SettingFault::with_help(problem, help))
        }
        None => Ok(length),
    }
}

fn text_of(key: PolicyKey, value: Value<'_>) -> Result<&str, SettingFault> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Number(_) | Value::Other(_) => Err(wrong(key, value)),
    }
}

/// A value of another kind than the key takes.
fn wrong(key: PolicyKey, value: Value<'_>) -> SettingFault {
    fault(
        format!("found {value}, expected {}", key.kind()),
        key.example(),
    )
}
