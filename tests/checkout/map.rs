//! The map in CONTRIBUTING.md agrees with the code: a module uses only modules below it, so there is no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::markdown::{self, root};

const PAGE: &str = include_str!("../../CONTRIBUTING.md");
/// Each crate, and how many uses of another module it has at least.
const CRATES: [(&str, usize); 3] = [
    ("retry-macros", 40),
    ("retry-runtime", 40),
    ("retry-settings", 1),
];

/// The modules of a crate, each with its line of the map.
fn places(name: &str) -> BTreeMap<&'static str, usize> {
    let heading = format!("\n{name}/src\n");
    let (_, lines) = PAGE.split_once(&heading).expect("the crate is on the map");
    let mut places = BTreeMap::new();
    for (place, line) in lines
        .lines()
        .take_while(|line| line.starts_with(' '))
        .enumerate()
    {
        // There are two spaces between modules, and more before the description.
        let (modules, words) = line.trim().split_once("   ").expect(line);
        assert!(!words.trim().is_empty(), "{line}");
        for module in modules.split_whitespace() {
            assert_eq!(places.insert(module, place), None, "{module} stands twice");
        }
    }
    places
}

/// The modules of the files of a crate, and their texts, without tests.
fn files(name: &str) -> Vec<(String, String)> {
    let source = root().join(name).join("src");
    let module = |(path, text): (PathBuf, String)| {
        let inside = path.strip_prefix(&source).unwrap();
        let mut parts = inside
            .iter()
            .map(|part| part.to_str().unwrap().trim_end_matches(".rs"));
        let is_test = |part: &str| part == "tests" || part == "interleavings";
        let module = parts.clone().next().unwrap().to_owned();
        (!parts.any(is_test)).then(|| (module, code(&text)))
    };
    let files = markdown::files(&source, ".rs").into_iter();
    files.filter_map(module).collect()
}

/// A file without comments, tests, and imports that only links of the documentation need.
fn code(text: &str) -> String {
    let (text, _) = text.split_once("mod tests {").unwrap_or((text, ""));
    let mut lines = text.lines();
    let mut code = String::new();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(doc)]" {
            let _ = lines.find(|line| line.ends_with(';'));
        } else if !line.trim_start().starts_with("//") {
            code.extend([line, "\n"]);
        }
    }
    code
}

/// The names after `crate::`, including those of a list.
fn named(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let mut depth = 0_usize;
        let mut name = String::new();
        for c in rest.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ if depth > 1 => continue,
                _ if c.is_alphanumeric() || c == '_' => name.push(c),
                ',' if depth == 1 => {
                    named.extend(first(&name));
                    name.clear();
                    continue;
                }
                // Only the first name of a path counts.
                _ if !name.is_empty() && !name.ends_with(' ') => name.push(' '),
                _ => {}
            }
            if depth == 0 && !(c.is_alphanumeric() || c == '_' || c == '{') {
                break;
            }
        }
        named.extend(first(&name));
    }
    named
}

fn first(path: &str) -> Option<String> {
    path.split_whitespace().next().map(str::to_owned)
}

/// The names that the root re-exports, each with its module.
fn exports(files: &[(String, String)]) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (_, code) in files.iter().filter(|(module, _)| module == "lib") {
        for rest in code.split("pub use crate::").skip(1) {
            let (path, _) = rest.split_once(';').unwrap();
            let (module, names) = path.split_once("::").unwrap();
            for name in names.trim_matches(['{', '}']).split(',') {
                exports.insert(name.trim().to_owned(), module.to_owned());
            }
        }
    }
    exports
}

#[test]
fn each_module_is_on_the_map_and_uses_only_those_below_it() {
    for (name, least) in CRATES {
        let places = places(name);
        let files = files(name);
        let exports = exports(&files);
        let there: BTreeSet<&str> = files.iter().map(|(module, _)| &**module).collect();
        // The root of the runtime only re-exports.
        let mapped: BTreeSet<&str> = places.keys().copied().collect();
        let beyond: Vec<_> = there.symmetric_difference(&mapped).collect();
        assert!(
            beyond.iter().all(|module| **module == "lib"),
            "{name}: not on the map, or not in the code: {beyond:?}"
        );

        let mut upwards = BTreeSet::new();
        let mut edges = 0;
        for (module, code) in &files {
            let Some(place) = places.get(&**module) else {
                continue;
            };
            for used in named(code) {
                let used = exports.get(&used).unwrap_or(&used);
                let Some(below) = places.get(&**used).filter(|_| used != module) else {
                    continue;
                };
                edges += 1;
                if below <= place {
                    upwards.insert(format!("{name}: {module} uses {used}"));
                }
            }
        }
        assert!(upwards.is_empty(), "{upwards:#?}");
        assert!(edges >= least, "{name}: {edges}");
    }
}

/// The wall clock jumps, so it counts only where nothing else would do: in the first seed of a thread, and for the date in
/// `Retry-After`, which `clock` has.
#[test]
fn only_seeds_and_dates_read_the_wall_clock() {
    let files = files("retry-runtime").into_iter();
    let reading = files.filter(|(_, code)| code.contains("SystemTime::now"));
    let reading: BTreeSet<_> = reading.map(|(module, _)| module).collect();
    assert_eq!(reading, ["clock", "rng"].map(str::to_owned).into());
}

#[test]
fn uses_are_found_in_paths_and_lists() {
    let code = "use crate::a::{B, C};\nuse crate::{d::E, f, g::{h, i}};\nfn x(y: crate::j::K) {}";
    let expected = ["a", "d", "f", "g", "j"].map(str::to_owned);
    assert_eq!(named(code), expected.into());
}

#[test]
fn only_the_settings_are_known_to_the_macros_and_the_runtime() {
    for (name, _) in CRATES {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let settings = manifest.contains("\nretry-settings");
        assert_eq!(settings, name != "retry-settings", "{name}");
        let ours = manifest.lines().filter(|line| {
            ["reattempt", "retry-macros", "retry-runtime"]
                .iter()
                .any(|package| line.starts_with(&format!("{package} =")))
        });
        assert_eq!(ours.collect::<Vec<_>>(), [""; 0], "{name}");
    }
}
