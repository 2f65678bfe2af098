//! Combines the settings that were found, and sets the presets.

use std::ptr;
use std::sync::PoisonError;

use super::error::{ConfigError, Problem};
use super::found::{FoundSettings, PresetEntry, SettingPlace};
use super::{Content, Source, env, file, toml};
use crate::listen::test_scope_around;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::setting::{PolicyKey, Setter, SettingKey, budget_contradictions, contradictions};
use crate::switch::set_enabled;
use crate::test_scope::{OffBy, TestScope};

/// The lock is held from the first read to the last preset, so that two sources never mix, and an older content of a file
/// never replaces a newer one. Only `apply` takes it, and calls do not wait. The time grows with the size of the
/// settings, and not with its square. A test scope has a lock of its own.
static OFF_BY: OffBy = OffBy::new(None);

pub(super) fn apply(source: &Source) -> Result<(), ConfigError> {
    let mut found = FoundSettings::new(&source.presets);
    same_names(source, &mut found);
    let scope = test_scope_around().or_else(|| source.scope.clone());
    let scope = scope.as_ref();
    let off_by = scope.map_or(&OFF_BY, TestScope::off_by);
    let mut off_by = off_by.lock().unwrap_or_else(PoisonError::into_inner);
    let set_enabled = |enabled| match scope {
        Some(scope) => scope.enabled().set(enabled),
        None => set_enabled(enabled),
    };
    let mut rank = 0;
    for file in &source.files {
        rank += 1;
        match &file.content {
            Content::Text(text) => toml::read(&file.name, rank, text, &mut found),
            Content::Path(path) => match file::read(&file.name, path) {
                Ok(text) => toml::read(&file.name, rank, &text, &mut found),
                Err(problem) => found.error.add(|| problem),
            },
        }
    }
    for environment in &source.environments {
        rank += 1;
        env::read(environment, rank, &mut found);
    }
    let policies = together(&mut found);
    if !found.error.problems().is_empty() {
        return Err(found.error);
    }
    for (preset, policy) in source.presets.iter().zip(policies) {
        match scope {
            Some(scope) => scope.set_policy(preset.address(), policy),
            None => preset.set_override(policy),
        }
    }
    let presets: Vec<_> = source
        .presets
        .iter()
        .map(|preset| preset.address())
        .collect();
    match found.enabled {
        Some((_, enabled)) => {
            set_enabled(enabled);
            *off_by = (!enabled).then_some(presets);
        }
        None => {
            if off_by.take_if(|others| *others == presets).is_some() {
                set_enabled(true);
            }
        }
    }
    Ok(())
}

/// Returns the policy of each preset, or `None` if nothing overrides the code.
fn together(found: &mut FoundSettings<'_>) -> Vec<Option<Policy>> {
    let mut policies = Vec::new();
    for entries in &mut found.entries {
        entries.sort_by_key(|entry| (entry.place.rank, entry.key.is_one_number()));
    }
    for ((preset, entries), broken) in found.presets.iter().zip(&found.entries).zip(&found.broken) {
        let code = preset.in_code();
        let policy = entries
            .iter()
            .fold(code, |policy, entry| (entry.change)(policy));
        policies.push((!entries.is_empty()).then_some(policy));
        // A setting could not be read, so contradictions cannot be checked.
        if *broken {
            continue;
        }
        for together in entries.chunk_by(|a, b| a.place.rank == b.place.rank) {
            let given = together.iter().map(|entry| (entry.key, &entry.change));
            for (key, fault) in budget_contradictions(given) {
                let blamed = together.iter().filter(|entry| entry.key == key);
                for PresetEntry { place, .. } in blamed {
                    found.error.add(|| {
                        place.problem(format!("{}{fault}", path(preset, place, ".budget")))
                    });
                }
            }
        }
        let last = |key: PolicyKey| {
            let key = SettingKey::Policy(key);
            entries.iter().rev().find(|entry| entry.key == key)
        };
        for (key, fault) in contradictions(&policy, |key| setter(last(key))) {
            if let Some(entry) = last(key) {
                let place = &entry.place;
                found
                    .error
                    .add(|| place.problem(format!("{}{fault}", path(preset, place, ""))));
            }
        }
    }
    policies
}

/// What the message about a setting in a file begins with. A variable has its path in its name.
fn path(preset: &Preset, place: &SettingPlace, table: &str) -> String {
    match place.line {
        Some(_) => format!("{}{table}: ", preset.name()),
        None => String::new(),
    }
}

/// Returns where a key was set, by its last entry.
fn setter(entry: Option<&PresetEntry>) -> Setter {
    let Some(entry) = entry else {
        return Setter {
            rank: 0,
            place: " in the code".to_owned(),
        };
    };
    let place = &entry.place;
    let line = place.line.map(|line| format!(":{line}"));
    Setter {
        rank: place.rank,
        place: format!(" in {}{}", place.origin, line.unwrap_or_default()),
    }
}

/// Refuses a preset that is given twice, and presets that have the same name in files or in variables.
fn same_names(source: &Source, found: &mut FoundSettings<'_>) {
    for (at, preset) in source.presets.iter().enumerate() {
        let earlier = source.presets.iter().take(at);
        let name = env::name(preset);
        if let Some(other) = earlier.into_iter().find(|other| env::name(other) == name) {
            let (first, second) = (other.name(), preset.name());
            found.error.add(|| {
                let message = if ptr::eq(*other, *preset) {
                    format!(
                        "`{first}` is given twice, expected each preset once; remove one from `Source::new`"
                    )
                } else if first == second {
                    format!(
                        "two presets have the name `{first}`, expected a name for each; rename one of them"
                    )
                } else {
                    format!(
                        "`{first}` and `{second}` are both `{name}` in the environment, expected a name for each; \
                         rename one of them"
                    )
                };
                Problem::new("presets", None, message)
            });
        }
    }
}
