//! Settings of policies and presets, from the configuration of a program.

mod budget;
mod keys;
mod limits;
mod value;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::keys::Keys;
use crate::Backoff;
use crate::listen::test_scope_around;
use crate::policy::{Nested, Policy};
use crate::preset::Preset;

/// What a configuration changes in a policy: the keys of the attribute, each of which may be left out. Feature `serde`.
///
/// Put one field for each preset into the settings of your program, read these with the library that you have, and pass
/// them to [`configure`].
///
/// | key | value | range |
/// |---|---|---|
/// | `attempts` | a whole number, or `"unlimited"` | 1 to 4294967294 |
/// | `timeout` | a duration with a unit: `"1.5s"`, `"1m 30s"` | above zero, at most 24h, at most `deadline` |
/// | `deadline` | a duration | above zero, at most 24h |
/// | `backoff` | `"exponential"`, `"constant"`, `"linear"` or `"fibonacci"` | |
/// | `base` | a duration | at most 24h, at most `max_delay` |
/// | `throttled_base` | a duration | at most 24h, at most `max_delay` |
/// | `min_delay` | a duration | at most 24h, at most `max_delay` |
/// | `max_delay` | a duration | above zero, at most 24h |
/// | `factor` | a number | 1 to 1000 |
/// | `jitter` | `"none"`, `"full"`, `"equal"`, `"decorrelated"` or a percentage, from `"0%"` to `"100%"` | |
/// | `max_retry_after` | a duration | at most 24h |
/// | `hedge` | a duration | above zero, at most 24h, below `timeout`, below `deadline` |
/// | `budget` | a table of the keys below | |
/// | `budget.kind` | `"none"`, `"default"` or `"aws"`, which sets all numbers | |
/// | `budget.ratio` | a number, which sets all numbers to those of [`Budget::ratio`](crate::Budget::ratio) | 0 to 1 |
/// | `budget.capacity` | a whole number of tokens | 1 to 268435 |
/// | `budget.retry_cost` | a whole number of tokens | 0 to 268435 |
/// | `budget.timeout_cost` | a whole number of tokens | 0 to 268435 |
/// | `budget.throttled_cost` | a whole number of tokens | 0 to 268435 |
/// | `budget.reward` | a number of tokens, if `ratio` is not set | 0 to 268435 |
/// | `budget.refill` | a number of tokens | 0 to 268435 |
///
/// Each number of a budget overrides one number of the budget in the code, or of [`Budget::new`](crate::Budget::new) if the
/// code has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Keys")]
pub struct Settings(Keys);

/// Refuses what contradicts itself, while the library that reads the settings knows the place.
impl TryFrom<Keys> for Settings {
    type Error = String;

    fn try_from(keys: Keys) -> Result<Self, String> {
        keys.over(Policy::new())?;
        limits::check(&keys, None)?;
        Ok(Self(keys))
    }
}

impl Settings {
    /// Returns a policy with these settings in place of its own.
    ///
    /// # Errors
    ///
    /// - A setting contradicts another one, or one of the policy.
    pub fn over(&self, policy: Policy) -> Result<Policy, SettingsError> {
        limits::check(&self.0, Some(&policy)).map_err(SettingsError)?;
        let changed = self.0.over(policy);
        changed.map_err(|problem| SettingsError(problem.to_owned()))
    }
}

/// Reads [`Settings`] over [`Policy::new`]. Feature `serde`.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let settings = Settings::deserialize(deserializer)?;
        settings.over(Self::new()).map_err(D::Error::custom)
    }
}

/// Writes all [`Settings`], but for a `factor` that is not set: its default depends on the jitter. Feature `serde`.
///
/// # Errors
///
/// - The policy has [delays](Policy::with_delays), another [nested](Policy::with_nested) than the default, or is
///   [silent](Policy::with_silent).
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_delays = matches!(self.backoff(), Backoff::Delays(_));
        if has_delays || self.nested() != Nested::Add || self.is_silent() {
            return Err(S::Error::custom(
                "a policy with `delays`, `nested` or `silent` cannot be written: they belong in the code",
            ));
        }
        Keys::of(self).serialize(serializer)
    }
}

/// Sets the policy of each preset: the policy in the code, with the settings in place of its own. If there is a mistake,
/// no preset changes. Feature `serde`.
///
/// Call it at the start, and again to reload. Calls that begin afterwards use the new policies, and running calls keep
/// theirs. A key that is no longer set returns to the value in the code, and the missing tokens of a budget stay missing.
/// A preset that is not among them stays as it is. If two threads configure at once, one of them comes first for all
/// presets. In a test scope it sets the presets of the scope alone.
///
/// # Errors
///
/// - A setting contradicts another one, or one in the code.
/// - A preset is given twice.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Policy, Preset, Settings, configure};
///
/// static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_attempts(4));
/// static SEARCH: Preset = Preset::new("search", Policy::new());
///
/// #[derive(serde::Deserialize, Default)]
/// #[serde(deny_unknown_fields, default)]
/// struct Retry {
///     payments: Settings,
///     search: Settings,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let retry: Retry = serde_json::from_str(r#"{ "payments": { "attempts": 2, "timeout": "1.5s" } }"#)?;
/// configure([(&PAYMENTS, retry.payments), (&SEARCH, retry.search)])?;
/// assert_eq!(PAYMENTS.policy().attempts(), Some(2));
/// # Ok(()) }
/// ```
pub fn configure(
    settings: impl IntoIterator<Item = (&'static Preset, Settings)>,
) -> Result<(), SettingsError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let (mut policies, mut problems) = (Vec::<(&Preset, Policy)>::new(), Vec::new());
    for (preset, settings) in settings {
        if policies
            .iter()
            .any(|(other, _)| std::ptr::eq(*other, preset))
        {
            problems.push(format!("{}: the preset is given twice", preset.name()));
        }
        match settings.over(preset.policy.clone()) {
            Ok(policy) => policies.push((preset, policy)),
            Err(problem) => problems.push(format!("{}: {problem}", preset.name())),
        }
    }
    if !problems.is_empty() {
        return Err(SettingsError(problems.join("\n")));
    }
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let scope = test_scope_around();
    for (preset, policy) in policies {
        match &scope {
            Some(scope) => drop(scope.state().presets.insert(preset.address(), policy)),
            None => preset.set(policy),
        }
    }
    Ok(())
}

/// Reads a duration as settings write it, such as `1.5s` or `1m 30s`, of at most 24 h: for a `--max-time`. Feature `serde`.
///
/// # Errors
///
/// - The text is no duration with a unit.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use std::time::Duration;
///
/// assert_eq!(reattempt::parse_duration("1m 30s"), Ok(Duration::from_secs(90)));
/// let error = reattempt::parse_duration("90").unwrap_err();
/// assert_eq!(error.to_string(), "duration \"90\": 90 has no unit, write \"90s\" or \"90ms\"");
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, SettingsError> {
    value::duration(text).map_err(SettingsError)
}

/// Settings that contradict each other, or the code: one line for each preset. Feature `serde`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(String);

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
