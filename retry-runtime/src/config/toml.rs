//! Finds settings in TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::line;
use super::found::{FoundSettings, SettingPlace, wrong_enabled};
use crate::setting::text::shown;
use crate::setting::{PolicyKey, PolicySetting, Value};

/// Reads a text. `origin` is its name in messages.
pub(super) fn read(origin: &str, rank: usize, text: &str, found: &mut FoundSettings<'_>) {
    let place = |at: usize| SettingPlace {
        rank,
        origin: origin.to_owned(),
        line: Some(line(text.as_bytes(), at)),
    };
    match DeTable::parse(text) {
        Ok(table) => {
            let mut walk = Walk { place, found };
            walk.table(None, table.get_ref());
        }
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let message = setting_at(text, at)
                .and_then(|(key, value)| unquoted(key, value))
                .unwrap_or_else(|| not_toml(&error, text, found));
            found.problem(&place(at), format!("is not valid TOML: {message}"));
        }
    }
}

struct Walk<'f, 'p, P> {
    /// The place of a byte.
    place: P,
    found: &'f mut FoundSettings<'p>,
}

impl<P: Fn(usize) -> SettingPlace> Walk<'_, '_, P> {
    /// Reads the table of a preset, a table around tables of presets, or the top.
    fn table(&mut self, outer: Option<&str>, table: &DeTable<'_>) {
        let presets = self.found.presets;
        let within = presets
            .iter()
            .position(|preset| Some(preset.name()) == outer);
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let place = (self.place)(key.span().start);
            let name = key.get_ref().as_ref();
            let path = outer.map_or_else(|| name.to_owned(), |outer| format!("{outer}.{name}"));
            match (within, PolicyKey::named(name)) {
                (Some(preset), Ok(key)) => {
                    let place = (self.place)(value.span().start);
                    let path = format!("{path}: ");
                    with_value(value.get_ref(), |value| {
                        self.found.setting(preset, key, value, place, &path);
                    });
                }
                _ if self.leads_to_preset(&path) => self.inner(&path, value, &place),
                (Some(preset), Err(fault)) => {
                    let path = outer.map(|outer| format!("{outer}: "));
                    let path = path.unwrap_or_default();
                    self.found.fault(preset, &place, &path, &fault);
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
                (None, Ok(key)) if outer.is_none() => {
                    let first = first(self.found);
                    let message = format!("`{key}` is in no preset; write it below `[{first}]`");
                    self.found.problem(&place, message);
                }
                // `inner` reported it.
                (None, _) if outer.is_some() && is_setting(name, value.get_ref()) => {}
                (None, _) => self.unknown(&path, value.get_ref(), &place),
            }
        }
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
            if misplaced && !self.names().any(|name| name == path) {
                self.unknown_preset(path, place);
            }
            return self.table(Some(path), table);
        }
        with_value(value.get_ref(), |value| {
            let message = format!("`{path}` is {value}, expected a table; write `[{path}]`");
            self.found.problem(place, message);
        });
    }

    /// Reports a table that is no preset. If all that it has are tables, as with `[DB.read-only]`, reports these.
    fn unknown(&mut self, path: &str, value: &DeValue<'_>, place: &SettingPlace) {
        let tables = match value {
            DeValue::Table(table) if !table.is_empty() && !has_setting(table) => table,
            _ => return self.unknown_preset(path, place),
        };
        let mut tables: Vec<_> = tables.iter().collect();
        tables.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in tables {
            let place = (self.place)(key.span().start);
            self.unknown(
                &format!("{path}.{}", key.get_ref()),
                value.get_ref(),
                &place,
            );
        }
    }

    fn unknown_preset(&mut self, path: &str, place: &SettingPlace) {
        let names: Vec<_> = self.names().map(str::to_owned).collect();
        let others: &[&str] = if path.contains('.') {
            &[]
        } else {
            &["enabled"]
        };
        self.found.unknown_preset(place, path, &names, others);
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.found.presets.iter().map(|preset| preset.name())
    }

    /// Whether a path is the name of a preset, or the start of one.
    fn leads_to_preset(&self, path: &str) -> bool {
        self.names().any(|name| {
            let rest = name.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

/// Whether a key and its value look like a setting, and not like the table of a preset.
fn is_setting(name: &str, value: &DeValue<'_>) -> bool {
    !matches!(value, DeValue::Table(_)) || PolicyKey::named(name).is_ok()
}

fn has_setting(table: &DeTable<'_>) -> bool {
    let mut entries = table.iter();
    entries.any(|(key, value)| is_setting(key.get_ref(), value.get_ref()))
}

/// The name of the first preset, to paste.
fn first(found: &FoundSettings<'_>) -> &'static str {
    found.presets.first().map_or("preset", |first| first.name())
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
    let key = PolicyKey::named(key).ok()?;
    if value.is_empty() {
        let (kind, example) = (key.kind(), key.example());
        return Some(format!(
            "`{key}` has no value, expected {kind}; write `{key} = {example}`, for example"
        ));
    }
    let found = shown(value);
    match PolicySetting::read(key, Value::Text(value)) {
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
fn not_toml(error: &toml::de::Error, text: &str, found: &FoundSettings<'_>) -> String {
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
            first(found)
        ),
    }
}

/// Passes a TOML value on in the form from which settings are read.
fn with_value(value: &DeValue<'_>, read: impl FnOnce(Value<'_>)) {
    match value {
        DeValue::String(text) => read(Value::Text(text)),
        DeValue::Integer(number) if number.radix() == 10 => read(Value::Number(number.as_str())),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => read(Value::Number(&number.to_string())),
            Err(_) => read(Value::Number(&number.to_string())),
        },
        DeValue::Float(number) => read(Value::Number(number.as_str())),
        DeValue::Boolean(true) => read(Value::Other("true")),
        DeValue::Boolean(false) => read(Value::Other("false")),
        DeValue::Datetime(_) => read(Value::Other("a date or a time")),
        DeValue::Array(_) => read(Value::Other("a list")),
        DeValue::Table(_) => read(Value::Other("a table")),
    }
}
