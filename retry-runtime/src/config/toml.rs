//! Finds settings in TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::line;
use super::found::{FoundSettings, SettingPlace};
use crate::setting::{PolicyKey, Value};

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
            let message = error.message().replace('\n', ", ");
            let message = message.trim_end_matches(", expected nothing");
            // As for `timeout = 1.5s` or `jitter = full`.
            let help = if message.starts_with("invalid") {
                "; durations and words are in quotes, \"1.5s\""
            } else {
                ""
            };
            found.problem(&place(at), format!("is not valid TOML: {message}{help}"));
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
            let inner = presets.iter().any(|preset| {
                let rest = preset.name().strip_prefix(path.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
            match (within, PolicyKey::named(name)) {
                (Some(preset), Ok(key)) => {
                    let place = (self.place)(value.span().start);
                    let path = format!("{path}: ");
                    with_value(value.get_ref(), |value| {
                        self.found.setting(preset, key, value, place, &path);
                    });
                }
                _ if inner => self.inner(&path, value, &place),
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
                    let message =
                        format!("`{key}` is in no preset; write it below {}", self.first());
                    self.found.problem(&place, message);
                }
                (None, _) => {
                    let names: Vec<_> = presets
                        .iter()
                        .map(|preset| preset.name().to_owned())
                        .collect();
                    let others: &[&str] = if outer.is_none() { &["enabled"] } else { &[] };
                    self.found.unknown_preset(&place, &path, &names, others);
                }
            }
        }
    }

    /// Reads the table of a preset, or a table around it.
    fn inner(&mut self, path: &str, value: &Spanned<DeValue<'_>>, place: &SettingPlace) {
        if let DeValue::Table(table) = value.get_ref() {
            return self.table(Some(path), table);
        }
        with_value(value.get_ref(), |value| {
            let message = format!("`{path}` is {value}, expected a table; write `[{path}]`");
            self.found.problem(place, message);
        });
    }

    /// The heading of the first preset, to paste.
    fn first(&self) -> String {
        let first = self.found.presets.first().map(|preset| preset.name());
        format!("`[{}]`", first.unwrap_or("preset"))
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
