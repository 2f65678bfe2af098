//! A policy from an argument: the name of a preset, or settings as in a configuration file.

use reattempt::{FAST_IO, NO_RETRY, Policy, SLOW_IO};
use serde::Deserialize;

/// A policy, and the argument that names it.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) policy: Policy,
}

/// Reads an argument. The error says what is wrong, and where.
pub(crate) fn read(text: &str) -> Result<Named, String> {
    let text = text.trim();
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_name = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    let policy = if !text.is_empty() && text.chars().all(is_name) {
        preset(text)?
    } else {
        settings(text).map_err(|error| error.to_string().trim_end().to_owned())?
    };
    Ok(Named { name, policy })
}

fn preset(name: &str) -> Result<Policy, String> {
    match name {
        "FAST_IO" => Ok(FAST_IO),
        "SLOW_IO" => Ok(SLOW_IO),
        "NO_RETRY" => Ok(NO_RETRY),
        _ => Err(format!(
            "unknown preset `{name}`, expected one of `FAST_IO`, `SLOW_IO`, `NO_RETRY`"
        )),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InOneLine {
    policy: Policy,
}

/// Reads settings as a configuration has them: one on each line, or one line with commas.
fn settings(text: &str) -> Result<Policy, toml::de::Error> {
    if text.contains('\n') {
        let lines = text.lines().map(|line| line.trim().trim_end_matches(','));
        return toml::from_str(&lines.collect::<Vec<_>>().join("\n"));
    }
    let table = format!("policy = {{ {} }}", text.trim_end_matches([',', ' ']));
    toml::from_str(&table).map(|InOneLine { policy }| policy)
}
