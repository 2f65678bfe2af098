//! A policy from an argument: the name of a preset, or settings as in a configuration file.

use reattempt::config::{ConfigError, Source};
use reattempt::{FAST_IO, NO_RETRY, Policy, Preset, SLOW_IO};

/// A policy, and the argument that names it.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) policy: Policy,
}

static FAST: Preset = Preset::new("FAST_IO", FAST_IO);
static SLOW: Preset = Preset::new("SLOW_IO", SLOW_IO);
static NONE: Preset = Preset::new("NO_RETRY", NO_RETRY);

/// Reads an argument. The error has the messages of the configuration.
pub(crate) fn read(text: &str) -> Result<Named, String> {
    let text = text.trim();
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_name = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    let policy = if !text.is_empty() && text.chars().all(is_name) {
        preset(text)
    } else {
        settings(text)
    };
    match policy {
        Ok(policy) => Ok(Named { name, policy }),
        Err(error) => {
            let lines = error.problems().iter().map(|problem| match problem.line() {
                Some(line) if text.contains('\n') => format!("line {line}: {}", problem.message()),
                _ => problem.message().to_owned(),
            });
            Err(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

fn preset(name: &str) -> Result<Policy, ConfigError> {
    let known = [&FAST, &SLOW, &NONE];
    match known.iter().find(|preset| preset.name() == name) {
        Some(preset) => Ok(preset.policy()),
        // The configuration suggests the nearest name.
        None => Source::new(known)
            .with_toml_text("argument", format!("[{name}]"))
            .apply()
            .map(|()| Policy::new()),
    }
}

/// Reads settings as a preset of the configuration: one on each line, or one line with commas.
fn settings(text: &str) -> Result<Policy, ConfigError> {
    let toml = if text.contains('\n') {
        let settings = text
            .lines()
            .map(|line| match line.trim().trim_end_matches(',') {
                line if line.is_empty() || line.starts_with('#') => String::new(),
                line => format!("policy.{line}"),
            });
        settings.collect::<Vec<_>>().join("\n")
    } else {
        format!("policy = {{ {} }}", text.trim_end_matches([',', ' ']))
    };
    // A configuration keeps its presets for as long as the program runs.
    let preset: &'static Preset = Box::leak(Box::new(Preset::new("policy", Policy::new())));
    Source::new([preset])
        .with_toml_text("argument", toml)
        .apply()?;
    Ok(preset.policy())
}
