//! Finds settings in TOML.

use std::rc::Rc;

use retry_settings::text::{shown, start};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::found::{FoundSettings, SettingPlace, unknown_preset, wrong_enabled};
use super::lines::LineBreaks;
use crate::preset::Preset;
use crate::setting::{
    self, BudgetKey, PolicyKey, SettingKey, Value, unknown_budget_key, unknown_key,
};

/// Reads a text. `origin` is its name in messages.
pub(super) fn read(origin: &str, rank: usize, text: &str, found: &mut FoundSettings<'_>) {
    let (origin, lines) = (Rc::<str>::from(origin), LineBreaks::of(text.as_bytes()));
    let place = |at: usize| SettingPlace {
        rank,
        origin: Rc::clone(&origin),
        line: Some(lines.line(at)),
    };
    match DeTable::parse(text) {
        Ok(table) => {
            let presets = found.presets.iter();
            let names = presets.map(|preset| preset.name().to_owned()).collect();
            let mut walk = Walk {
                place,
                names,
                found,
            };
            walk.table(None, table.get_ref());
        }
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let presets = found.presets;
            found.problem(&place(at), || {
                let message = setting_at(text, at)
                    .and_then(|(key, value)| unquoted(key, value))
                    .unwrap_or_else(|| not_toml(&error, text, presets));
                format!("is not valid TOML: {message}")
            });
        }
    }
}

struct Walk<'f, 'p, P> {
    /// The place of a byte.
    place: P,
    /// The names of the presets.
    names: Vec<String>,
    found: &'f mut FoundSettings<'p>,
}

impl<P: Fn(usize) -> SettingPlace> Walk<'_, '_, P> {
    /// Reads the table of a preset, a table around tables of presets, or the top.
    fn table(&mut self, outer: Option<&str>, table: &DeTable<'_>) {
        let presets = self.found.presets;
        let within = presets
            .iter()
            .position(|preset| Some(preset.name()) == outer);
        for (key, value) in in_order(table) {
            let place = (self.place)(key.span().start);
            let name = key.get_ref().as_ref();
            let path = outer.map_or_else(|| name.to_owned(), |outer| format!("{outer}.{name}"));
            match (within, PolicyKey::named(name)) {
                (Some(preset), Some(key)) => match value.get_ref() {
                    DeValue::Table(table) if key == PolicyKey::Budget => {
                        self.budget(preset, &path, table);
                    }
                    // A preset may have the name `db.base`.
                    DeValue::Table(_) if self.leads_to_preset(&path) => {
                        self.inner(&path, value, &place);
                    }
                    _ => self.setting(preset, SettingKey::Policy(key), &path, value),
                },
                _ if self.leads_to_preset(&path) => self.inner(&path, value, &place),
                (Some(preset), None) => {
                    let path = outer.map(|outer| format!("{outer}: "));
                    let path = path.unwrap_or_default();
                    let fault = || unknown_key(name);
                    self.found.fault(preset, &place, &path, fault);
                }
                (None, _) if outer.is_none() && name == "enabled" => {
                    with_value(value.get_ref(), |value| {
                        // In TOML, `true` and `false` are not in quotes.
                        let text = value.to_string();
                        let value = match value {
                            Value::Text(_) => Value::Other(&text),
                            value => value,
                        };
                        self.found.enabled(value, &place);
                    });
                }
                (None, Some(key)) if outer.is_none() => {
                    self.found.problem(&place, || {
                        let first = first(presets);
                        format!("`{key}` is in no preset; write it below `[{first}]`")
                    });
                }
                // `inner` reported it.
                (None, _) if outer.is_some() && is_setting(name, value.get_ref()) => {}
                (None, _) => self.unknown(&path, value.get_ref(), &place),
            }
        }
    }

    /// Reads the table of a budget.
    fn budget(&mut self, preset: usize, path: &str, table: &DeTable<'_>) {
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            match BudgetKey::named(name) {
                Some(key) => {
                    let path = format!("{path}.{name}");
                    self.setting(preset, SettingKey::Budget(key), &path, value);
                }
                None => {
                    let place = (self.place)(key.span().start);
                    let fault = || unknown_budget_key(name);
                    self.found
                        .fault(preset, &place, &format!("{path}: "), fault);
                }
            }
        }
    }

    fn setting(
        &mut self,
        preset: usize,
        key: SettingKey,
        path: &str,
        value: &Spanned<DeValue<'_>>,
    ) {
        let place = (self.place)(value.span().start);
        let path = format!("{path}: ");
        with_value(value.get_ref(), |value| {
            self.found.setting(preset, key, value, place, &path);
        });
    }

    /// Reads the table of a preset, or a table around it.
    fn inner(&mut self, path: &str, value: &Spanned<DeValue<'_>>, place: &SettingPlace) {
        if let DeValue::Table(table) = value.get_ref() {
            // `db` is no preset, only the start of `db.read-only`.
            let misplaced = table.iter().any(|(key, value)| {
                let name = key.get_ref().as_ref();
                is_setting(name, value.get_ref())
                    && !self.leads_to_preset(&format!("{path}.{name}"))
            });
            if misplaced && !self.names.iter().any(|name| name == path) {
                self.unknown_preset(path, place);
            }
            return self.table(Some(path), table);
        }
        with_value(value.get_ref(), |value| {
            self.found.problem(place, || {
                format!("`{path}` is {value}, expected a table; write `[{path}]`")
            });
        });
    }

    /// Reports a table that is no preset. If all that it has are tables, as with `[DB.read-only]`, reports these.
    fn unknown(&mut self, path: &str, value: &DeValue<'_>, place: &SettingPlace) {
        let tables = match value {
            DeValue::Table(table) if !table.is_empty() && !has_setting(table) => table,
            _ => return self.unknown_preset(path, place),
        };
        for (key, value) in in_order(tables) {
            let place = (self.place)(key.span().start);
            // The start is enough for a message, and copying a long path for each of its tables is not linear.
            let path = format!("{}.{}", start(path), key.get_ref());
            self.unknown(&path, value.get_ref(), &place);
        }
    }

    fn unknown_preset(&mut self, path: &str, place: &SettingPlace) {
        let others: &[&str] = if path.contains('.') {
            &[]
        } else {
            &["enabled"]
        };
        self.found
            .problem(place, || unknown_preset(path, &self.names, others));
    }

    /// Whether a path is the name of a preset, or the start of one.
    fn leads_to_preset(&self, path: &str) -> bool {
        self.names.iter().any(|name| {
            let rest = name.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// The entries in the order of the text.
fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Whether a key and its value look like a setting, and not like the table of a preset.
fn is_setting(name: &str, value: &DeValue<'_>) -> bool {
    !matches!(value, DeValue::Table(_)) || PolicyKey::named(name).is_some()
}

fn has_setting(table: &DeTable<'_>) -> bool {
    let mut entries = table.iter();
    entries.any(|(key, value)| is_setting(key.get_ref(), value.get_ref()))
}

/// The name of the first preset, to paste.
fn first(presets: &[&'static Preset]) -> &'static str {
    presets.first().map_or("preset", |first| first.name())
}

/// The key and the value around a byte of a value, in a text that is not TOML. `None` if the byte is in no value.
fn setting_at(text: &str, at: usize) -> Option<(&str, &str)> {
    let (before, after) = text.split_at_checked(at)?;
    let start = before.rfind(['\n', '{', ',']).map_or(0, |start| start + 1);
    let end = after.find(['\n', '}', ',', '#']).unwrap_or(after.len());
    before.get(start..)?.find('=')?;
    let (key, value) = text.get(start..at + end)?.split_once('=')?;
    let key = key.rsplit('.').next().unwrap_or(key);
    Some((key.trim(), value.trim()))
}

/// The message about a setting whose value is missing, or lacks its quotes.
///
/// `None` if the value is not one of ours, or nearly so: it may be a secret of somebody else, even beside a key of ours, and
/// must not be in messages.
fn unquoted(key: &str, value: &str) -> Option<String> {
    if value.contains(['"', '\'', '[', '{']) {
        return None;
    }
    if key == "enabled" {
        return Some(wrong_enabled(Value::Other(value)));
    }
    let key = SettingKey::named(key)?;
    if value.is_empty() {
        let (kind, example) = (key.kind(), key.example());
        return Some(format!(
            "`{key}` has no value, expected {kind}; write `{key} = {example}`, for example"
        ));
    }
    let found = shown(value);
    match setting::read(key, Value::Text(value)) {
        Ok(_) => Some(format!(
            "found `{found}`, expected text in quotes; write `{key} = \"{found}\"`"
        )),
        Err(fault) if fault.help().starts_with("did you mean") => Some(format!(
            "found `{found}`, expected {}; {}",
            key.kind(),
            fault.help()
        )),
        Err(_) => None,
    }
}

/// The message of the parser, with help.
fn not_toml(error: &toml::de::Error, text: &str, presets: &[&'static Preset]) -> String {
    let message = error.message().replace('\n', ", ");
    // As of `password = 1.5s`.
    let message = message.trim_end_matches(", expected nothing");
    let at = error.span().and_then(|span| text.get(span));
    match at {
        Some(key) if message == "duplicate key" => format!(
            "duplicate key `{}`, expected each key once; remove one of the two",
            shown(key)
        ),
        _ => format!(
            "{message}; write `[{}]`, and below it `attempts = 4`, for example",
            first(presets)
        ),
    }
}

/// Passes a TOML value on in the form from which settings are read.
fn with_value(value: &DeValue<'_>, read: impl FnOnce(Value<'_>)) {
    match value {
        DeValue::String(text) => read(Value::Text(text)),
        DeValue::Integer(number) => {
            let decimal = i128::from_str_radix(number.as_str(), number.radix());
            let decimal = decimal.map_or_else(|_| number.to_string(), |number| number.to_string());
            read(Value::Number(&decimal));
        }
        DeValue::Float(number) => read(Value::Number(number.as_str())),
        DeValue::Boolean(true) => read(Value::Other("true")),
        DeValue::Boolean(false) => read(Value::Other("false")),
        DeValue::Datetime(_) => read(Value::Other("a date or a time")),
        DeValue::Array(_) => read(Value::Other("a list")),
        DeValue::Table(_) => read(Value::Other("a table")),
    }
}
