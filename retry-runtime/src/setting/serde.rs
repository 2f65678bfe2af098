//! A policy in configuration: read and written with the attribute's words.

use std::fmt;

use retry_settings::duration::human;
use serde_core::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{Error as _, SerializeMap as _};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::budget::BudgetValue;
use super::fault::SettingFault;
use super::key::{DELAYS, NESTED, twice};
use super::value::length_in;
use super::{
    BudgetKey, Change, PolicyKey, Setter, SettingKey, Value, budget_contradictions, contradictions,
    read, unknown_budget_key, unknown_key,
};
use crate::Backoff;
use crate::budget::BudgetNumbers;
use crate::policy::{Nested, Policy, PolicyBudget};

/// Reads a map of the attribute's keys, in a self-describing format such as TOML, JSON or YAML. Feature `serde`.
///
#[doc = include_str!("keys.md")]
///
/// A missing key has the value of [`Policy::new`]. A duration is a text with a unit, of at most 24 h.
///
#[doc = include_str!("budget_keys.md")]
///
/// A word, `kind` or `ratio` sets all numbers of a budget. Each other key changes one number of [`Budget::new`], or of those
/// that `kind` or `ratio` has set.
///
/// [`Budget::new`]: crate::Budget::new
///
/// # Errors
///
/// - A key that is unknown, or given twice. The message names the nearest key.
/// - A value of the wrong kind or out of its range. The message says what was found and what is expected.
/// - A `timeout` above the `deadline`, or a `base` above `max_delay`.
/// - Both `kind` and `ratio`, or both `ratio` and `reward`, in a budget.
/// - The key `delays`. A `Policy` borrows its delays for the whole run of the program, so they belong in the code.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
/// use std::time::Duration;
///
/// use reattempt::Policy;
///
/// let policy: Policy = serde_json::from_str(r#"{ "attempts": 4, "timeout": "1.5s" }"#)?;
/// let same = Policy::new().with_attempts(4).with_timeout(Duration::from_millis(1500));
/// assert_eq!(policy, same);
///
/// let error = serde_json::from_str::<Policy>(r#"{ "atempts": 4 }"#).unwrap_err();
/// assert!(error.to_string().starts_with("unknown key `atempts`; did you mean `attempts`?"));
/// # Ok::<_, serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PolicyVisitor)
    }
}

/// Writes every key that has a value, so that a stored policy does not change when a default does. A policy that is
/// written and read again is equal. Feature `serde`.
///
/// # Errors
///
/// - The policy has [delays](Policy::with_delays), another [nested](Policy::with_nested) than the default, or a value that
///   reading would refuse, such as a timeout of zero, or a [`Budget::ratio`](crate::Budget::ratio) with a reward above 1.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let in_code = [
            (DELAYS, matches!(self.backoff(), Backoff::Delays(_))),
            (NESTED, self.nested() != Nested::Add),
        ];
        if let Some((key, _)) = in_code.into_iter().find(|(_, has)| *has) {
            return Err(S::Error::custom(unknown_key(key)));
        }
        if let Some((_, fault)) = contradictions(self, setter).into_iter().next() {
            return Err(S::Error::custom(fault));
        }
        let mut map = serializer.serialize_map(None)?;
        for &key in PolicyKey::ALL {
            let text = match (key, self.attempts(), self.budget()) {
                (PolicyKey::Attempts, Some(attempts), _) => {
                    map.serialize_entry(key.name(), &attempts)?;
                    continue;
                }
                (PolicyKey::Factor, ..) => {
                    map.serialize_entry(key.name(), &self.factor().as_f64())?;
                    continue;
                }
                (PolicyKey::Budget, _, PolicyBudget::Of(numbers, _)) => {
                    map.serialize_entry(key.name(), &BudgetTable(*numbers))?;
                    continue;
                }
                (PolicyKey::Attempts, None, _) => "unlimited".to_owned(),
                (PolicyKey::Budget, _, PolicyBudget::None) => "none".to_owned(),
                (PolicyKey::Backoff, ..) => self.backoff().to_string(),
                (PolicyKey::Jitter, ..) => self.jitter().to_string(),
                _ => match length_in(self, key) {
                    Some(length) => human(length),
                    None => continue,
                },
            };
            // Refuses to write a value that could not be read back.
            read(SettingKey::Policy(key), Value::Text(&text))
                .map(drop)
                .map_err(S::Error::custom)?;
            map.serialize_entry(key.name(), &text)?;
        }
        map.end()
    }
}

/// The numbers of a budget, all of which are written.
struct BudgetTable(BudgetNumbers);

impl Serialize for BudgetTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for key in BudgetKey::ALL {
            match key.of(&self.0) {
                None => (),
                Some(BudgetValue::Word(word)) => map.serialize_entry(key.name(), word)?,
                Some(BudgetValue::Tokens(tokens)) => map.serialize_entry(key.name(), &tokens)?,
                Some(BudgetValue::Fraction(number)) => {
                    // Refuses a ratio above 1, which only a reward in the code gives.
                    key.read(Value::Number(&format!("{number:?}")))
                        .map(drop)
                        .map_err(S::Error::custom)?;
                    map.serialize_entry(key.name(), &number)?;
                }
            }
        }
        map.end()
    }
}

/// Says that configuration set every key, so that contradictions with the defaults are faults too.
fn setter(_: PolicyKey) -> Setter {
    Setter {
        rank: 1,
        place: String::new(),
    }
}

struct PolicyVisitor;

impl<'de> Visitor<'de> for PolicyVisitor {
    type Value = Policy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map with the keys of a retry policy")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Policy, A::Error> {
        let mut policy = Policy::new();
        let mut seen = Vec::new();
        let known = |name: &str| PolicyKey::named(name).ok_or_else(|| unknown_key(name));
        while let Some(key) = map.next_key_seed(KeyOf { seen: &seen, known })? {
            seen.push(key);
            let settings = map.next_value_seed(ValueOf(SettingKey::Policy(key)))?;
            policy = settings
                .into_iter()
                .fold(policy, |policy, change| change(policy));
        }
        match contradictions(&policy, setter).into_iter().next() {
            Some((_, fault)) => Err(A::Error::custom(fault)),
            None => Ok(policy),
        }
    }
}

/// Reads a key. It is a seed, so that an error points at the key.
struct KeyOf<'s, K> {
    seen: &'s [K],
    known: fn(&str) -> Result<K, SettingFault>,
}

impl<'de, K: PartialEq + fmt::Display> DeserializeSeed<'de> for KeyOf<'_, K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<K: PartialEq + fmt::Display> Visitor<'_> for KeyOf<'_, K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of a retry policy")
    }

    fn visit_str<E: serde_core::de::Error>(self, name: &str) -> Result<K, E> {
        let key = (self.known)(name).map_err(E::custom)?;
        if self.seen.contains(&key) {
            return Err(E::custom(twice(key)));
        }
        Ok(key)
    }
}

/// Reads the value of a key.
struct ValueOf(SettingKey);

impl ValueOf {
    fn read<E: serde_core::de::Error>(&self, value: Value<'_>) -> Result<Vec<Change>, E> {
        Ok(vec![read(self.0, value).map_err(E::custom)?])
    }
}

impl<'de> DeserializeSeed<'de> for ValueOf {
    type Value = Vec<Change>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Change>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueOf {
    type Value = Vec<Change>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.kind())
    }

    fn visit_str<E: serde_core::de::Error>(self, text: &str) -> Result<Vec<Change>, E> {
        self.read(Value::Text(text))
    }

    fn visit_i64<E: serde_core::de::Error>(self, number: i64) -> Result<Vec<Change>, E> {
        self.read(Value::Number(&number.to_string()))
    }

    fn visit_i128<E: serde_core::de::Error>(self, number: i128) -> Result<Vec<Change>, E> {
        self.read(Value::Number(&number.to_string()))
    }

    fn visit_u64<E: serde_core::de::Error>(self, number: u64) -> Result<Vec<Change>, E> {
        self.read(Value::Number(&number.to_string()))
    }

    fn visit_u128<E: serde_core::de::Error>(self, number: u128) -> Result<Vec<Change>, E> {
        self.read(Value::Number(&number.to_string()))
    }

    fn visit_f64<E: serde_core::de::Error>(self, number: f64) -> Result<Vec<Change>, E> {
        // `{:?}` keeps the point of `4.0`, so that it is not read as a whole number.
        self.read(Value::Number(&format!("{number:?}")))
    }

    fn visit_bool<E: serde_core::de::Error>(self, value: bool) -> Result<Vec<Change>, E> {
        self.read(Value::Other(if value { "true" } else { "false" }))
    }

    fn visit_unit<E: serde_core::de::Error>(self) -> Result<Vec<Change>, E> {
        self.read(Value::Other("nothing"))
    }

    fn visit_none<E: serde_core::de::Error>(self) -> Result<Vec<Change>, E> {
        self.read(Value::Other("nothing"))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Change>, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Vec<Change>, A::Error> {
        self.read(Value::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Change>, A::Error> {
        if self.0 != SettingKey::Policy(PolicyKey::Budget) {
            return self.read(Value::Other("a table"));
        }
        let (mut seen, mut found) = (Vec::new(), Vec::new());
        let known = |name: &str| BudgetKey::named(name).ok_or_else(|| unknown_budget_key(name));
        while let Some(key) = map.next_key_seed(KeyOf { seen: &seen, known })? {
            seen.push(key);
            let key = SettingKey::Budget(key);
            let settings = map.next_value_seed(ValueOf(key))?;
            found.extend(settings.into_iter().map(|change| (key, change)));
        }
        let given = found.iter().map(|(key, change)| (*key, change));
        if let Some((_, fault)) = budget_contradictions(given).into_iter().next() {
            return Err(A::Error::custom(fault));
        }
        found.sort_by_key(|(key, _)| key.is_one_number());
        Ok(found.into_iter().map(|(_, change)| change).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_core::de::value::{Error, MapDeserializer};

    use super::*;

    /// As from a format that has more types than text and numbers.
    #[test]
    fn what_is_neither_a_text_nor_a_number_is_told_what_is_expected() {
        let number = MapDeserializer::new([(4, 4)].into_iter());
        let number: Error = Policy::deserialize(number).unwrap_err();
        assert_eq!(
            number.to_string(),
            "invalid type: integer `4`, expected a key of a retry policy"
        );
        let bytes = MapDeserializer::new([("attempts", &b"4"[..])].into_iter());
        let bytes: Error = Policy::deserialize(bytes).unwrap_err();
        assert_eq!(
            bytes.to_string(),
            "invalid type: byte array, expected a whole number from 1, or \"unlimited\""
        );
    }
}
