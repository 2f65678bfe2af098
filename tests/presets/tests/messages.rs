//! Looks for messages in the code that `docs/CONFIGURATION.md` does not have.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

const PAGE: &str = include_str!("../../../docs/CONFIGURATION.md");

/// The page has the text of each message between its placeholders.
#[test]
fn no_message_of_the_code_is_missing_on_the_page() {
    // Words that the code reads but never writes, messages of the attribute alone, and messages for formats without text
    // keys.
    const NOT_SAID: [&str; 19] = [
        "`timeout` limits one attempt and `deadline` the whole call: swap them?",
        "is in ISO 8601",
        "has a `{char}` in its number",
        "a key of a retry policy",
        "ns nsec nanos",
        "us usec µs μs",
        "ms msec millis",
        "s sec secs second seconds",
        "m min mins minute minutes",
        "h hr hrs hour hours",
        "d day days",
        "w wk wks week weeks",
        ", expected nothing",
        "retries max_retries retry_count max_retry retry_limit",
        "infinite infinity inf forever endless unbounded max always",
        "none never no off once",
        "off no false 0 never disabled unlimited nothing null",
        "month months mo mon year years y",
        "none never unlimited infinite infinity inf forever off no",
    ];
    let said = PAGE.replace("\\|", "|");
    let (mut checked, mut missing) = (BTreeMap::new(), Vec::new());
    for (file, source) in files() {
        let mut literals = Vec::new();
        gather(source.parse().unwrap(), &mut literals);
        let all = makes_messages(&file, &source);
        for literal in literals {
            if NOT_SAID.contains(&literal.as_str()) || !(all || literal.contains("preset")) {
                continue;
            }
            for piece in pieces(&literal).filter(|piece| piece.trim().contains(' ')) {
                if !said.contains(piece.trim()) {
                    missing.push(format!("{file}: {piece}"));
                }
                *checked.entry(file.clone()).or_insert(0) += 1;
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    for file in [
        "config/toml.rs",
        "setting/duration.rs",
        "retry-settings/duration.rs",
        "preset.rs",
    ] {
        assert!(checked.contains_key(file), "{checked:?}");
    }
    assert!(checked.values().sum::<u32>() > 80, "{checked:?}");
}

/// Whether all texts of a file belong to messages about presets and their settings. Of other files, only the texts that
/// speak of presets do.
fn makes_messages(file: &str, source: &str) -> bool {
    let module = file.split(['/', '.']).next().unwrap();
    ["config", "setting", "preset", "presets", "retry-settings"].contains(&module)
        || ["ConfigError", "Problem::new", "SettingFault"]
            .iter()
            .any(|made| source.contains(made))
}

/// The source files of the runtime and of the settings without tests, and their content.
fn files() -> Vec<(String, String)> {
    let mut files = files_of("retry-runtime");
    let settings = files_of("retry-settings").into_iter();
    // The kinds of values are in the table of keys, most of them for the attribute alone. The page has examples of the
    // others, which `page.rs` runs.
    let settings = settings.filter(|(name, _)| name != "keys.rs");
    files.extend(settings.map(|(name, text)| (format!("retry-settings/{name}"), text)));
    files
}

fn files_of(package: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = root.join("../..").join(package).join("src");
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap();
            if stem == "tests" || stem == "interleavings" {
            } else if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                files.push((name.replace('\\', "/"), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files
}

/// The string literals of a file, except those in tests and attributes.
fn gather(tokens: TokenStream, literals: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                // `//!` is `#![doc = "…"]`.
                let _ = tokens.next_if(|next| next.to_string() == "!");
                let attribute = tokens.next_if(|next| group_in(next, Delimiter::Bracket));
                if attribute.is_some_and(|attribute| is_of_tests(&attribute.to_string())) {
                    // The item ends with its body, or with a semicolon.
                    tokens
                        .by_ref()
                        .find(|end| group_in(end, Delimiter::Brace) || end.to_string() == ";");
                }
            }
            TokenTree::Group(group) => gather(group.stream(), literals),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()) {
                    literals.push(text.value());
                }
            }
            _ => {}
        }
    }
}

fn group_in(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

/// `[cfg(test)]` and `[cfg(all(test, feature = "config"))]`.
fn is_of_tests(attribute: &str) -> bool {
    let mut words = attribute.split(|char: char| !char.is_alphanumeric());
    attribute.starts_with("[cfg") && words.any(|word| word == "test")
}

/// The texts between the placeholders of a format.
fn pieces(format: &str) -> impl Iterator<Item = &str> {
    let text = |part| match str::split_once(part, '}') {
        Some((_, text)) => text,
        None => part,
    };
    format.split('{').map(text)
}
