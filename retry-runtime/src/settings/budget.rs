//! The numbers of a budget.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::value::{Number, Whole, set, short, word};
use crate::budget::{Budget, BudgetConfig};
use crate::policy::{Policy, PolicyBudget};

const MOST: u32 = BudgetConfig::MOST;

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub(super) struct BudgetKeys {
    #[serde(deserialize_with = "word")]
    kind: Option<Kind>,
    ratio: Option<Number<0, 1>>,
    capacity: Option<Whole<1, MOST>>,
    retry_cost: Option<Whole<0, MOST>>,
    timeout_cost: Option<Whole<0, MOST>>,
    throttled_cost: Option<Whole<0, MOST>>,
    reward: Option<Number<0, MOST>>,
    refill: Option<Number<0, MOST>>,
}

impl Serialize for BudgetKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for BudgetKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

/// Reads the keys of a budget. An error shows no text of any length.
struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = BudgetKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table, such as `budget.kind = \"none\"`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<BudgetKeys, E> {
        Err(E::invalid_type(Unexpected::Str(short(text)), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<BudgetKeys, A::Error> {
        BudgetKeys::deserialize(MapAccessDeserializer::new(keys))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    None,
    Default,
    Aws,
}

impl BudgetKeys {
    fn of_kind(kind: Kind) -> Self {
        Self {
            kind: Some(kind),
            ..Self::default()
        }
    }

    /// Returns the policy with these numbers in place of its own.
    pub(super) fn over(self, policy: Policy) -> Result<Policy, &'static str> {
        let mut budget = match (self.kind, self.ratio, policy.budget()) {
            (Some(_), Some(_), _) => {
                return Err("`budget.kind` and `budget.ratio` both choose the numbers");
            }
            (Some(Kind::None), ..) if self == Self::of_kind(Kind::None) => {
                return Ok(policy.without_budget());
            }
            (Some(Kind::None), ..) => {
                return Err("`budget.kind` is \"none\", so other keys of `budget` have no effect");
            }
            (_, Some(_), _) if self.reward.is_some() => {
                return Err("`budget.ratio` and `budget.reward` set the same number");
            }
            (_, Some(ratio), _) => Budget::ratio(ratio.0),
            (Some(Kind::Aws), ..) => Budget::aws(),
            (None, _, PolicyBudget::Of(numbers, _)) => Budget::of(*numbers),
            _ => Budget::new(),
        };
        set!(self over budget: capacity with_capacity.0, retry_cost with_retry_cost.0,
            timeout_cost with_timeout_cost.0, throttled_cost with_throttled_cost.0, reward with_reward.0,
            refill with_refill.0);
        Ok(policy.with_budget(budget))
    }

    /// The keys that make this budget of any other. `None` is the default budget.
    pub(super) fn of(budget: &PolicyBudget) -> Option<Self> {
        let PolicyBudget::Of(numbers, _) = budget else {
            let none = Self::of_kind(Kind::None);
            return (*budget == PolicyBudget::None).then_some(none);
        };
        let tokens = |thousandths: u32| Number(f64::from(thousandths) / 1000.0);
        let reward = tokens(numbers.reward);
        let start = match (numbers.each_call_gives, numbers.first_wave_is_free) {
            (true, _) => Self {
                ratio: Some(Number(reward.0)),
                ..Self::default()
            },
            (false, true) => Self::of_kind(Kind::Default),
            (false, false) => Self::of_kind(Kind::Aws),
        };
        Some(Self {
            capacity: Some(Whole(numbers.capacity / 1000)),
            retry_cost: Some(Whole(numbers.failure / 1000)),
            timeout_cost: Some(Whole(numbers.timeout / 1000)),
            throttled_cost: Some(Whole(numbers.throttled / 1000)),
            reward: start.ratio.is_none().then_some(reward),
            refill: Some(tokens(numbers.refill)),
            ..start
        })
    }
}
