//! Finds settings in environment variables.

use std::env::vars_os;

use retry_settings::text::name_shown;

use super::Environment;
use super::error::Problem;
use super::found::{FoundSettings, SettingPlace, unknown_preset};
use crate::preset::Preset;
use crate::setting::{IN_CODE, SettingKey, Value, unknown_in_variable};

const ENABLED: &str = "ENABLED";

/// Returns the name of a preset as variables contain it.
pub(super) fn name(preset: &Preset) -> String {
    preset.name().to_uppercase().replace(['-', '.'], "_")
}

/// Refuses a prefix that is empty, ends with `_`, or is not in capitals.
pub(super) fn check(prefix: &str) -> Result<(), Problem> {
    let allowed = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
    if !prefix.is_empty() && prefix.chars().all(allowed) && !prefix.ends_with('_') {
        return Ok(());
    }
    let message = format!(
        "found {}, expected a prefix of `A` to `Z`, digits and `_`, without `_` at its end; write \"RETRY\", for example",
        Value::Text(prefix)
    );
    Err(Problem::new("env", None, message))
}

/// Reads the variables of one prefix.
pub(super) fn read(environment: &Environment, rank: usize, found: &mut FoundSettings<'_>) {
    let of_process: Vec<_>;
    let variables = match &environment.variables {
        Some(variables) => variables,
        None => {
            // In a browser there are none, and std panics.
            of_process = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
                Vec::new()
            } else {
                vars_os().collect()
            };
            &of_process
        }
    };
    let mut variables: Vec<_> = variables
        .iter()
        .filter_map(|(name, value)| {
            // A name that is not UTF-8 is that of no setting, and refused like any other.
            let name = name.to_string_lossy();
            let rest = name.strip_prefix(&environment.prefix)?;
            Some((rest.strip_prefix('_')?.to_owned(), value))
        })
        .collect();
    variables.sort();
    let names: Vec<_> = found.presets.iter().map(|preset| name(preset)).collect();
    for (rest, value) in variables {
        let variable = format!("{}_{rest}", environment.prefix);
        let place = SettingPlace {
            rank,
            origin: name_shown(&variable).into(),
            line: None,
        };
        let Some(value) = value.to_str().map(str::trim) else {
            found.problem(
                &place,
                || "is not UTF-8, expected text in UTF-8; write `4`, `full` or `1.5s`, for example",
            );
            continue;
        };
        if rest == ENABLED {
            found.enabled(Value::Text(value), &place);
            continue;
        }
        match split(&rest, &names) {
            Ok((preset, _, Some(key))) => {
                found.setting(preset, key, value_of(key, value), place, "");
            }
            Ok((_, text, None)) if text.is_empty() => found.problem(&place, || {
                format!("has no key; write `{variable}_ATTEMPTS`, for example")
            }),
            Ok((preset, text, None)) => {
                found.fault(preset, &place, "", || unknown_in_variable(&text));
            }
            Err(typed) => found.problem(&place, || unknown_preset(typed, &names, &[ENABLED])),
        }
    }
}

/// Splits a variable's name, after the prefix, into a preset and the text of a key in lower case, with the key if there is one
/// of this name. If there is no preset, returns the text in its place.
fn split<'n>(
    rest: &'n str,
    names: &[String],
) -> Result<(usize, String, Option<SettingKey>), &'n str> {
    let splits = names.iter().enumerate().filter_map(|(preset, name)| {
        let text = rest.strip_prefix(name.as_str())?;
        let text = if text.is_empty() {
            text
        } else {
            text.strip_prefix('_')?
        };
        let text = text.to_lowercase();
        let key = SettingKey::in_variable(&text);
        Some((preset, text, key))
    });
    // The longest name leaves the shortest text.
    let best = splits.min_by_key(|(_, text, key)| (key.is_none(), text.len()));
    best.ok_or_else(|| {
        SettingKey::names_in_variables()
            .chain(IN_CODE.map(|(key, _)| key.to_owned()))
            .find_map(|key| {
                let preset = rest.strip_suffix(&key.to_uppercase())?;
                preset.strip_suffix('_').filter(|preset| !preset.is_empty())
            })
            .unwrap_or(rest)
    })
}

/// Makes a value from the text of a variable, which may be a number.
fn value_of(key: SettingKey, text: &str) -> Value<'_> {
    let number = key.is_number()
        && text.starts_with(|char: char| char.is_ascii_digit() || "+-.".contains(char))
        && text.parse::<f64>().is_ok();
    if number {
        Value::Number(text)
    } else {
        Value::Text(text)
    }
}
