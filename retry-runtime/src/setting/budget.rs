//! The table of a budget.

use std::fmt;

use retry_settings::keys::PolicyKey;
use retry_settings::text;

use super::fault::{SettingFault, fault};
use super::typed::{Change, Value, word, wrong};
use crate::budget::{Budget, BudgetNumbers};
use crate::policy::{Policy, PolicyBudget};

/// A key of the table. `kind` and `ratio` choose where all numbers come from, and each other key is one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BudgetKey {
    Kind,
    Ratio,
    Capacity,
    RetryCost,
    TimeoutCost,
    ThrottledCost,
    Reward,
    Refill,
}

/// How the value of a key is set in a budget.
enum BudgetAccess {
    Kind,
    Ratio,
    /// Whole tokens, at least this number.
    Tokens(u32, fn(Budget, u32) -> Budget),
    Fraction(fn(Budget, f64) -> Budget),
}

/// The value of a key in a budget.
#[cfg(feature = "serde")]
pub(super) enum BudgetValue {
    Word(&'static str),
    Tokens(u32),
    Fraction(f64),
}

impl BudgetKey {
    pub(crate) const ALL: [Self; 8] = [
        Self::Kind,
        Self::Ratio,
        Self::Capacity,
        Self::RetryCost,
        Self::TimeoutCost,
        Self::ThrottledCost,
        Self::Reward,
        Self::Refill,
    ];

    /// Returns the key of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name)
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// A value to paste.
    pub(crate) fn example(self) -> &'static str {
        self.row().1
    }

    /// What messages call a value of this key.
    pub(crate) fn kind(self) -> String {
        let whole = match self.row().2 {
            BudgetAccess::Kind => return "the name of a budget".to_owned(),
            BudgetAccess::Tokens(..) => "a whole number",
            BudgetAccess::Ratio | BudgetAccess::Fraction(..) => "a number",
        };
        let (least, most) = self.range();
        format!("{whole} from {least} to {most}")
    }

    /// Whether the value is a number.
    #[cfg(feature = "config")]
    pub(crate) fn is_number(self) -> bool {
        self != Self::Kind
    }

    /// Whether the key changes one number of those that another key may choose.
    pub(crate) fn is_one_number(self) -> bool {
        !matches!(self, Self::Kind | Self::Ratio)
    }

    fn range(self) -> (u32, u32) {
        match self.row().2 {
            BudgetAccess::Kind | BudgetAccess::Ratio => (0, 1),
            BudgetAccess::Tokens(least, _) => (least, BudgetNumbers::MOST),
            BudgetAccess::Fraction(..) => (0, BudgetNumbers::MOST),
        }
    }

    /// The name, a value to paste, and the access.
    fn row(self) -> (&'static str, &'static str, BudgetAccess) {
        use BudgetAccess::{Fraction, Tokens};
        match self {
            Self::Kind => ("kind", "\"default\"", BudgetAccess::Kind),
            Self::Ratio => ("ratio", "0.1", BudgetAccess::Ratio),
            Self::Capacity => ("capacity", "200", Tokens(1, Budget::with_capacity)),
            Self::RetryCost => ("retry_cost", "2", Tokens(0, Budget::with_retry_cost)),
            Self::TimeoutCost => ("timeout_cost", "6", Tokens(0, Budget::with_timeout_cost)),
            Self::ThrottledCost => (
                "throttled_cost",
                "4",
                Tokens(0, Budget::with_throttled_cost),
            ),
            Self::Reward => ("reward", "0.2", Fraction(Budget::with_reward)),
            Self::Refill => ("refill", "2.0", Fraction(Budget::with_refill)),
        }
    }

    /// The value of a key in a budget. A budget has either a kind and a reward, or a ratio.
    #[cfg(feature = "serde")]
    pub(super) fn of(self, numbers: &BudgetNumbers) -> Option<BudgetValue> {
        let tokens = |thousandths| Some(BudgetValue::Tokens(thousandths / 1000));
        let fraction = |thousandths| Some(BudgetValue::Fraction(f64::from(thousandths) / 1000.0));
        match self {
            Self::Kind | Self::Reward if numbers.is_ratio() => None,
            Self::Ratio if !numbers.is_ratio() => None,
            Self::Kind if numbers.first_wave_is_free => Some(BudgetValue::Word("default")),
            Self::Kind => Some(BudgetValue::Word("aws")),
            Self::Capacity => tokens(numbers.capacity),
            Self::RetryCost => tokens(numbers.failure),
            Self::TimeoutCost => tokens(numbers.timeout),
            Self::ThrottledCost => tokens(numbers.throttled),
            Self::Ratio | Self::Reward => fraction(numbers.reward),
            Self::Refill => fraction(numbers.refill),
        }
    }

    /// Reads the value of a key.
    pub(super) fn read(self, value: Value<'_>) -> Result<Change, SettingFault> {
        let wrong = || wrong(value, &self.kind(), self.example());
        let access = self.row().2;
        if let BudgetAccess::Kind = access {
            return match value {
                Value::Text(text) => word(self, text, &kinds()).map(all),
                Value::Number(_) | Value::Other(_) => Err(wrong()),
            };
        }
        let Value::Number(text) = value else {
            return Err(wrong());
        };
        let (least, most) = self.range();
        let out_of_range = || {
            fault(
                format!("{self} {value} is not from {least} to {most}"),
                self.example(),
            )
        };
        if let BudgetAccess::Tokens(_, set) = access {
            let tokens: i128 = text.parse().map_err(|_| wrong())?;
            let tokens = u32::try_from(tokens).ok();
            let tokens = tokens.filter(|tokens| (least..=most).contains(tokens));
            let tokens = tokens.ok_or_else(out_of_range)?;
            return Ok(one(move |budget| set(budget, tokens)));
        }
        let number: f64 = text.parse().map_err(|_| wrong())?;
        if !(f64::from(least)..=f64::from(most)).contains(&number) {
            return Err(out_of_range());
        }
        Ok(match access {
            BudgetAccess::Fraction(set) => one(move |budget| set(budget, number)),
            _ => all(Budget::ratio(number).into_numbers()),
        })
    }
}

impl fmt::Display for BudgetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads a value in place of the table.
pub(super) fn read(value: Value<'_>) -> Result<Change, SettingFault> {
    const NO: &str = "off no false 0 never disabled unlimited nothing null";
    let key = PolicyKey::Budget;
    let problem = format!("found {value}, expected {}", key.kind());
    let (Value::Text(text) | Value::Number(text) | Value::Other(text)) = value;
    if text::among(NO, &text.trim().to_lowercase()) {
        return Err(SettingFault::with_help(
            problem,
            "write \"none\" for no budget",
        ));
    }
    if let Value::Text(text) = value {
        let [default, aws] = kinds().map(|(word, numbers)| (word, Some(numbers)));
        let numbers = word(key, text, &[("none", None), default, aws])?;
        return Ok(numbers.map_or_else(|| Box::new(Policy::without_budget) as Change, all));
    }
    let number = [BudgetKey::Ratio, BudgetKey::Capacity];
    Err(
        match number.into_iter().find(|key| key.read(value).is_ok()) {
            Some(key) => SettingFault::with_help(
                problem,
                format!("write `{key} = {value}` in the table `budget`"),
            ),
            None => fault(problem, key.example()),
        },
    )
}

/// Sets all numbers.
fn all(numbers: BudgetNumbers) -> Change {
    Box::new(move |policy| policy.with_budget(Budget::of(numbers)))
}

/// Sets one number of the budget in the policy, or of the default one.
fn one(set: impl Fn(Budget) -> Budget + 'static) -> Change {
    Box::new(move |policy| {
        policy.with_budget(set(match policy.budget() {
            PolicyBudget::Of(numbers, _) => Budget::of(*numbers),
            PolicyBudget::Default | PolicyBudget::None => Budget::new(),
        }))
    })
}

/// The words of `kind`. `budget` takes these and `"none"`.
fn kinds() -> [(&'static str, BudgetNumbers); 2] {
    [("default", Budget::new()), ("aws", Budget::aws())]
        .map(|(word, budget)| (word, budget.into_numbers()))
}
