//! The keys of the configuration, and names that are none.

use std::fmt;

use retry_settings::keys::PolicyKey;
use retry_settings::text;

use super::budget::BudgetKey;
use super::fault::SettingFault;

/// A key of a policy, or of the table of its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingKey {
    Policy(PolicyKey),
    Budget(BudgetKey),
}

/// What stands in the names of variables before the keys of the table.
#[cfg(feature = "config")]
const BUDGET: &str = "budget_";

impl SettingKey {
    /// Whether the key changes one number of a budget. Such keys are applied after those that choose all numbers.
    pub(crate) fn is_one_number(self) -> bool {
        matches!(self, Self::Budget(key) if key.is_one_number())
    }

    /// What messages call a value of this key.
    pub(crate) fn kind(self) -> String {
        match self {
            Self::Policy(key) => key.kind(),
            Self::Budget(key) => key.kind(),
        }
    }
}

#[cfg(feature = "config")]
impl SettingKey {
    /// Returns the key of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let policy = PolicyKey::named(name).map(Self::Policy);
        policy.or_else(|| BudgetKey::named(name).map(Self::Budget))
    }

    /// Returns the key that a variable calls so: `max_delay`, `budget_capacity`.
    pub(crate) fn in_variable(name: &str) -> Option<Self> {
        match name.strip_prefix(BUDGET) {
            Some(name) => BudgetKey::named(name).map(Self::Budget),
            None => PolicyKey::named(name).map(Self::Policy),
        }
    }

    /// Returns the names of all keys in variables.
    pub(crate) fn names_in_variables() -> impl Iterator<Item = String> {
        let budget = BudgetKey::names().map(|name| format!("{BUDGET}{name}"));
        PolicyKey::names().map(str::to_owned).chain(budget)
    }

    /// A value to paste.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::Policy(key) => key.example(),
            Self::Budget(key) => key.example(),
        }
    }

    /// Whether the value may be a number.
    pub(crate) fn is_number(self) -> bool {
        match self {
            Self::Policy(key) => matches!(key, PolicyKey::Attempts | PolicyKey::Factor),
            Self::Budget(key) => key.is_number(),
        }
    }
}

impl fmt::Display for SettingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(key) => key.fmt(f),
            Self::Budget(key) => key.fmt(f),
        }
    }
}

pub(crate) const DELAYS: &str = "delays";
pub(crate) const NESTED: &str = "nested";

/// The parts of a policy that belong in the code, and what to write. A policy borrows its delays for `'static`, so a list that
/// is read would leak.
pub(crate) const IN_CODE: [(&str, &str); 2] = [
    (
        DELAYS,
        "a list of delays belongs in the code: `Policy::with_delays`, or the attribute's `delays`",
    ),
    (
        NESTED,
        "what calls what is known in the code: `Policy::with_nested`, or the attribute's `nested`",
    ),
];

/// The fault of a key that is given twice in one place.
pub(crate) fn twice(key: impl fmt::Display) -> SettingFault {
    let problem = format!("`{key}` is given twice, expected each key once");
    SettingFault::with_help(problem, "remove one of the two")
}

/// The fault of a name for which [`PolicyKey::named`] has no key.
pub(crate) fn unknown_key(name: &str) -> SettingFault {
    // Names for a number that does not count the first call.
    const RETRIES: &str = "retries max_retries retry_count max_retry retry_limit";
    if let Some((_, help)) = IN_CODE.iter().find(|(key, _)| *key == name) {
        return SettingFault::with_help(format!("`{name}` cannot be configured"), *help);
    }
    if text::among(RETRIES, &text::snake_case(name)) {
        return SettingFault::with_help(
            format!("unknown key `{name}`, called `attempts` here"),
            "`attempts` counts the first call as well: 3 retries are 4 attempts",
        );
    }
    unknown(name, "the keys are", PolicyKey::names)
}

/// The fault of a name in the table of a budget for which [`BudgetKey::named`] has no key.
pub(crate) fn unknown_budget_key(name: &str) -> SettingFault {
    unknown(name, "the keys of a budget are", BudgetKey::names)
}

/// The fault of a name in a variable for which [`SettingKey::in_variable`] has no key.
#[cfg(feature = "config")]
pub(crate) fn unknown_in_variable(name: &str) -> SettingFault {
    name.strip_prefix(BUDGET)
        .map_or_else(|| unknown_key(name), unknown_budget_key)
}

fn unknown<N: Iterator<Item = &'static str>>(
    name: &str,
    keys: &str,
    names: impl Fn() -> N,
) -> SettingFault {
    let problem = format!("unknown key `{}`", text::shown(name));
    let nearest = text::nearest(name, names()).map(|near| format!("`{near}`"));
    let keys = format!("{keys} {}", text::list(names(), ", "));
    SettingFault::unknown(problem, nearest, &keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_documentation_has_each_key() {
        let table = include_str!("keys.md");
        let named: Vec<_> = table
            .lines()
            .filter_map(|row| row.split('|').nth(1))
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .collect();
        assert_eq!(named.len(), PolicyKey::ALL.len(), "{named:?}");
        for key in PolicyKey::names() {
            assert!(named.contains(&key), "`{key}` is not in keys.md");
        }
        let table = include_str!("budget_keys.md");
        for key in BudgetKey::names() {
            assert!(table.contains(&format!("| `{key}` |")), "`{key}`");
        }
        assert_eq!(table.lines().count(), 2 + BudgetKey::ALL.len());
    }
}
