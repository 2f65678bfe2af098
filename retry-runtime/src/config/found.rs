//! The settings in files and variables, before they are applied.

use std::rc::Rc;

use retry_settings::text::{list, nearest, shown};

use super::error::{ConfigError, Problem};
use crate::preset::Preset;
use crate::setting::{self, Change, SettingFault, SettingKey, Value};

/// Where something was found.
#[derive(Debug, Clone)]
pub(super) struct SettingPlace {
    /// The higher rank wins.
    pub(super) rank: usize,
    pub(super) origin: Rc<str>,
    pub(super) line: Option<usize>,
}

impl SettingPlace {
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(&*self.origin, self.line, message)
    }
}

/// One setting of one preset.
pub(super) struct PresetEntry {
    pub(super) key: SettingKey,
    pub(super) change: Change,
    pub(super) place: SettingPlace,
}

/// All settings that were found, and all mistakes.
pub(super) struct FoundSettings<'p> {
    pub(super) presets: &'p [&'static Preset],
    /// For each preset, the lowest rank first.
    pub(super) entries: Vec<Vec<PresetEntry>>,
    /// Whether a setting of the preset could not be read.
    pub(super) broken: Vec<bool>,
    /// With its rank.
    pub(super) enabled: Option<(usize, bool)>,
    pub(super) error: ConfigError,
}

impl<'p> FoundSettings<'p> {
    pub(super) fn new(presets: &'p [&'static Preset]) -> Self {
        Self {
            presets,
            entries: presets.iter().map(|_| Vec::new()).collect(),
            broken: vec![false; presets.len()],
            enabled: None,
            error: ConfigError::none(),
        }
    }

    /// Adds a mistake. `message` runs only if the mistake will be named.
    pub(super) fn problem<M: Into<String>>(
        &mut self,
        place: &SettingPlace,
        message: impl FnOnce() -> M,
    ) {
        self.error.add(|| place.problem(message()));
    }

    /// Adds a setting of a preset. Messages begin with `path`.
    pub(super) fn setting(
        &mut self,
        preset: usize,
        key: SettingKey,
        value: Value<'_>,
        place: SettingPlace,
        path: &str,
    ) {
        match setting::read(key, value) {
            Ok(_) if self.has(preset, key, place.rank) => {
                self.fault(preset, &place, path, || setting::twice(key));
            }
            Ok(change) => {
                if let Some(entries) = self.entries.get_mut(preset) {
                    entries.push(PresetEntry { key, change, place });
                }
            }
            Err(fault) => self.fault(preset, &place, path, || fault),
        }
    }

    /// Whether this file or environment has set the key: one file can have a table as `[db.read]` and as `["db.read"]`, and
    /// one environment a variable twice.
    fn has(&self, preset: usize, key: SettingKey, rank: usize) -> bool {
        let entries = self.entries.get(preset).into_iter().flatten().rev();
        let mut own = entries.take_while(|entry| entry.place.rank == rank);
        own.any(|entry| entry.key == key)
    }

    pub(super) fn fault(
        &mut self,
        preset: usize,
        place: &SettingPlace,
        path: &str,
        fault: impl FnOnce() -> SettingFault,
    ) {
        if let Some(broken) = self.broken.get_mut(preset) {
            *broken = true;
        }
        self.problem(place, || format!("{path}{}", fault()));
    }

    pub(super) fn enabled(&mut self, value: Value<'_>, place: &SettingPlace) {
        let enabled = match value {
            Value::Text("true") | Value::Other("true") => true,
            Value::Text("false") | Value::Other("false") => false,
            _ => return self.problem(place, || wrong_enabled(value)),
        };
        if self.enabled.is_some_and(|(rank, _)| rank == place.rank) {
            return self.problem(place, || setting::twice("enabled").to_string());
        }
        self.enabled = Some((place.rank, enabled));
    }
}

/// The message about an unknown preset. `names` are the known presets, `others` what else may stand in this place. The
/// nearest name may be longer: `db.read-only` for `db`.
pub(super) fn unknown_preset(typed: &str, names: &[String], others: &[&str]) -> String {
    let known: Vec<_> = names
        .iter()
        .map(String::as_str)
        .chain(others.iter().copied())
        .map(|name| (name.to_lowercase(), name))
        .collect();
    let lower = typed.to_lowercase();
    let longer = |name: &str| {
        let rest = name.strip_prefix(lower.as_str());
        rest.is_some_and(|rest| rest.starts_with(['.', '-', '_']))
    };
    let near = nearest(typed, known.iter().map(|(lower, _)| lower.as_str()));
    let near = known
        .iter()
        .find(|(name, _)| near == Some(name.as_str()))
        .or_else(|| known.iter().find(|(name, _)| longer(name)));
    let near = near.map(|(_, name)| format!("did you mean `{name}`? "));
    let presets = if names.is_empty() {
        "there are no presets, so name it in `Source::new`".to_owned()
    } else {
        format!("the presets are {}", list(names, ", "))
    };
    let near = near.unwrap_or_default();
    format!("unknown preset `{}`; {near}{presets}", shown(typed))
}

/// The message about a value of `enabled` that is neither true nor false.
pub(super) fn wrong_enabled(value: Value<'_>) -> String {
    format!(
        "`enabled` is {value}, expected true or false without quotes; write `true`, or `false` to turn retries off"
    )
}
