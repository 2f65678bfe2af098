//! Settings that contradict each other.

use std::time::Duration;

use retry_settings::duration::human;
use retry_settings::keys::PolicyKey;
use retry_settings::rules::{TooLong, too_long};

use super::budget::BudgetKey;
use super::fault::SettingFault;
use super::key::SettingKey;
use super::typed::Change;
use super::value::length_in;
use crate::Backoff;
use crate::policy::{Policy, PolicyBudget};

/// Where a key was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setter {
    /// 0 if configuration did not set the key. The higher rank wins.
    pub(crate) rank: usize,
    /// The place as messages show it after a value: ` in the code`. May be empty.
    pub(crate) place: String,
}

/// Returns the contradictions in a policy that configuration changed, each with the key to blame: the key that was set
/// last.
///
/// Contradictions within the code are not reported.
pub(crate) fn contradictions(
    policy: &Policy,
    setter: impl Fn(PolicyKey) -> Setter,
) -> Vec<(PolicyKey, SettingFault)> {
    let mut found = Vec::new();
    let delays = matches!(policy.backoff(), Backoff::Delays(_));
    for TooLong {
        short,
        long,
        relation,
        swapped,
    } in too_long(delays, |key| length_in(policy, key))
    {
        let (first, second) = (setter(short.0), setter(long.0));
        if first.rank.max(second.rank) == 0 {
            continue;
        }
        let blamed = if second.rank > first.rank {
            long.0
        } else {
            short.0
        };
        let party = |(key, length): (PolicyKey, Duration), place: &str| {
            let place = if key == blamed { "" } else { place };
            format!("`{key}` ({}{place})", human(length))
        };
        let problem = format!(
            "{} is {relation} {}",
            party(short, &first.place),
            party(long, &second.place)
        );
        let shorter = (short.0 == PolicyKey::Hedge).then(|| "write a shorter `hedge`".to_owned());
        let help = shorter.unwrap_or_else(|| {
            format!(
                "{}write `{} = \"{}\"` or more, or a shorter `{}`",
                swapped.map_or("", |(_, why)| why),
                long.0,
                human(short.1),
                short.0
            )
        });
        found.push((blamed, SettingFault::with_help(problem, help)));
    }
    let idle = PolicyKey::ALL.iter().copied();
    for idle in idle.filter(|key| delays && key.delays_replace() && setter(*key).rank > 0) {
        let problem = format!("`{idle}` has no effect, since the code sets the delays");
        let help = "write `backoff = \"exponential\"` too, or leave it out";
        found.push((idle, SettingFault::with_help(problem, help)));
    }
    found
}

/// Returns the contradictions within one table, or within the variables of one environment, each with the key to blame.
pub(crate) fn budget_contradictions<'c>(
    given: impl Iterator<Item = (SettingKey, &'c Change)> + Clone,
) -> Vec<(SettingKey, SettingFault)> {
    const BOTH: &str = "both choose the numbers";
    let has = |key| given.clone().any(|(given, _)| given == key);
    let word = SettingKey::Policy(PolicyKey::Budget);
    let [kind, ratio, reward] =
        [BudgetKey::Kind, BudgetKey::Ratio, BudgetKey::Reward].map(SettingKey::Budget);
    let pairs = [
        (word, kind, BOTH),
        (word, ratio, BOTH),
        (kind, ratio, BOTH),
        (ratio, reward, "set the same number"),
    ];
    let pairs = pairs
        .into_iter()
        .filter(|(first, second, _)| has(*first) && has(*second));
    let mut found: Vec<_> = pairs
        .map(|(first, second, why)| (second, format!("`{first}` and `{second}` {why}")))
        .collect();
    let is_none = |change: &Change| *change(Policy::new()).budget() == PolicyBudget::None;
    if given.clone().any(|(_, change)| is_none(change)) {
        let numbers = given.filter(|(key, _)| key.is_one_number());
        found.extend(numbers.map(|(key, _)| {
            (
                key,
                format!("`budget` is \"none\", so that `{key}` has no effect"),
            )
        }));
    }
    found
        .into_iter()
        .map(|(key, problem)| {
            (
                key,
                SettingFault::with_help(problem, "remove one of the two"),
            )
        })
        .collect()
}
