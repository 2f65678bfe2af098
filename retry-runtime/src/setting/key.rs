//! Names that are no keys of the configuration.

use retry_settings::keys::PolicyKey;
use retry_settings::text;

use super::fault::SettingFault;

/// The key of the attribute that configuration cannot set, though a policy has it.
pub(crate) const DELAYS: &str = "delays";

/// The fault of the key `delays`. A policy borrows its delays for `'static`, so a list that is read would leak.
pub(crate) fn delays_refused() -> SettingFault {
    SettingFault::with_help(
        "`delays` cannot be configured",
        "a list of delays belongs in the code: `Policy::with_delays`, or the attribute's `delays`",
    )
}

/// The fault of a name for which [`PolicyKey::named`] has no key.
pub(crate) fn unknown_key(name: &str) -> SettingFault {
    // Names for a number that does not count the first call.
    const RETRIES: &str = "retries max_retries retry_count max_retry retry_limit";
    if name == DELAYS {
        return delays_refused();
    }
    if text::among(RETRIES, &text::snake_case(name)) {
        return SettingFault::with_help(
            format!("unknown key `{name}`, called `attempts` here"),
            "`attempts` counts the first call as well: 3 retries are 4 attempts",
        );
    }
    let problem = format!("unknown key `{}`", text::shown(name));
    let keys = format!("the keys are {}", text::list(PolicyKey::names(), ", "));
    match text::nearest(name, PolicyKey::names()) {
        Some(nearest) => {
            SettingFault::with_help(problem, format!("did you mean `{nearest}`? {keys}"))
        }
        None => SettingFault::with_help(problem, keys),
    }
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
    }
}
