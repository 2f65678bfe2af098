//! The map in CONTRIBUTING.md agrees with the code: a module uses only modules below it, so there is no circle. The modules
//! of each folder form none either.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::markdown::{self, root};

const PAGE: &str = include_str!("../../CONTRIBUTING.md");
/// Each crate, and how many uses of another module it has at least.
const CRATES: [(&str, usize); 2] = [("retry-macros", 40), ("retry-runtime", 40)];

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

/// A module of a crate, by the folders and the file that lead to it, such as `["call", "timers"]`. `lib` is the empty path.
type Module = Vec<String>;

/// The modules of a crate, and their texts, without tests.
fn files(name: &str) -> Vec<(Module, String)> {
    let source = root().join(name).join("src");
    let module = |(path, text): (PathBuf, String)| {
        let inside = path.strip_prefix(&source).unwrap().with_extension("");
        let parts = inside.iter().map(|part| part.to_str().unwrap().to_owned());
        let mut module: Module = parts.collect();
        let is_test = |part: &String| part == "tests";
        if ["mod", "lib"].contains(&&**module.last().unwrap()) {
            module.pop();
        }
        (!module.iter().any(is_test)).then(|| (module, code(&text)))
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

/// The paths in the code of this module that begin with `crate`, `self` or `super`, from the root of the crate. A list is
/// several paths.
fn paths(module: &[String], code: &str) -> BTreeSet<Module> {
    let mut paths = BTreeSet::new();
    for (at, first) in code.match_indices("::") {
        let before = &code[..at];
        let word = before.rfind(|c: char| !c.is_alphanumeric() && c != '_');
        let start = match &before[word.map_or(0, |end| end + 1)..] {
            "crate" => &[],
            "self" => module,
            "super" => module.split_last().map_or(module, |(_, around)| around),
            _ => continue,
        };
        read(start.to_vec(), &code[at + first.len()..], &mut paths);
    }
    paths
}

/// Reads the rest of a path, or a list of such rests. Returns what follows.
fn read<'c>(mut path: Module, code: &'c str, paths: &mut BTreeSet<Module>) -> &'c str {
    let mut code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        while !rest.trim_start().starts_with('}') {
            rest = read(path.clone(), rest, paths);
            // A new name, as in `A as B`.
            let end = rest.find([',', '}']).expect("a list ends");
            rest = rest[end..].trim_start_matches(',');
        }
        return &rest.trim_start()[1..];
    }
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name;
    (name, code) = code.split_at(end.unwrap_or(code.len()));
    match name {
        "super" => path.truncate(path.len() - 1),
        _ => path.extend((name != "self").then(|| name.to_owned())),
    }
    match code.strip_prefix("::") {
        Some(rest) => read(path, rest, paths),
        None => {
            paths.insert(path);
            code
        }
    }
}

/// Which module in a folder uses which other one there, by folder: the root of the crate is the empty path.
type Uses = BTreeMap<Module, BTreeSet<(String, String)>>;

fn uses(files: &[(Module, String)]) -> Uses {
    let modules: BTreeSet<&Module> = files.iter().map(|(module, _)| module).collect();
    let named = |(module, code): &(Module, String)| (module.clone(), paths(module, code));
    let named: BTreeMap<Module, BTreeSet<Module>> = files.iter().map(named).collect();
    // The module in `folder` that has this path, or whose name the folder re-exports.
    let resolved = |folder: &[String], rest: &[String]| {
        let first = rest.first()?;
        if modules.contains(&[folder, &rest[..1]].concat()) {
            return Some(first.clone());
        }
        let own = named.get(folder)?.iter();
        let mut own =
            own.filter(|path| path.len() == folder.len() + 2 && path.last() == Some(first));
        let exported = own.find(|path| modules.contains(&path[..=folder.len()].to_vec()))?;
        Some(exported[folder.len()].clone())
    };
    let mut found = Uses::new();
    for (module, paths) in &named {
        for path in paths {
            let same = module.iter().zip(path).take_while(|(a, b)| a == b).count();
            let (folder, user) = (&module[..same], module.get(same));
            if let Some((user, used)) = user.cloned().zip(resolved(folder, &path[same..])) {
                if user != used {
                    found
                        .entry(folder.to_vec())
                        .or_default()
                        .insert((user, used));
                }
            }
        }
    }
    found
}

/// The uses in a folder that make circles, or lead from one circle to another.
fn circles(mut edges: BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    loop {
        let (from, to): (BTreeSet<_>, BTreeSet<_>) = edges.iter().cloned().unzip();
        let before = edges.len();
        edges.retain(|(a, b)| to.contains(a) && from.contains(b));
        if edges.len() == before {
            return edges;
        }
    }
}

#[test]
fn each_module_is_on_the_map_and_uses_only_those_below_it() {
    for (name, least) in CRATES {
        let places = places(name);
        let files = files(name);
        let there: BTreeSet<&str> = files
            .iter()
            .filter_map(|(module, _)| Some(&**module.first()?))
            .collect();
        let mapped: BTreeSet<&str> = places.keys().copied().collect();
        let beyond: Vec<_> = there.symmetric_difference(&mapped).collect();
        assert!(
            beyond.iter().all(|module| **module == "lib"),
            "{name}: not on the map, or not in the code: {beyond:?}"
        );

        let uses = uses(&files);
        let place = |module: &String| places.get(&**module);
        let upwards: Vec<_> = uses[&vec![]]
            .iter()
            .filter(|(user, used)| place(used) <= place(user))
            .collect();
        assert!(upwards.is_empty(), "{name}: {upwards:#?}");
        let edges = uses[&vec![]].len();
        assert!(edges >= least, "{name}: {edges}");
    }
}

#[test]
fn the_modules_of_a_folder_use_each_other_in_no_circle() {
    let mut found = Vec::new();
    let mut edges = 0;
    for (name, _) in CRATES {
        for (folder, uses) in uses(&files(name)) {
            edges += uses.len();
            let folder = folder.join("/");
            let named = |(user, used)| format!("{name}/{folder}: {user} uses {used}");
            found.extend(circles(uses).into_iter().map(named));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(edges >= 300, "{edges}");
}

/// The wall clock jumps, so it counts only where nothing else would do: for the date in `Retry-After`, which `clock` has.
#[test]
fn only_dates_read_the_wall_clock() {
    let files = files("retry-runtime").into_iter();
    let reading = files.filter(|(_, code)| code.contains("SystemTime::now"));
    let reading: BTreeSet<_> = reading.map(|(module, _)| module[0].clone()).collect();
    assert_eq!(reading, ["clock".to_owned()].into());
}

#[test]
fn circles_are_found_behind_lists_and_behind_names_of_the_folder() {
    let file = |module: &str, code: &str| {
        let module = module.split("::").filter(|part| !part.is_empty());
        (module.map(str::to_owned).collect(), code.to_owned())
    };
    let mut files = [
        file("", "pub use crate::{a::{b::B, A}, z};"),
        file("a", "pub use self::{b::{B}, c::C as D};"),
        file(
            "a::b",
            "use super::{C, d::{self, E}};\nfn x(y: crate::z::Y) {}",
        ),
        file("a::c", "use crate::a::d as e;"),
        file("a::d", "fn x() { super::super::z::y() }"),
        file("z", ""),
    ];
    let pair = |(user, used): (&str, &str)| (user.to_owned(), used.to_owned());
    let all = uses(&files);
    assert_eq!(all[&vec![]], [("a", "z")].map(pair).into());
    let inside = vec!["a".to_owned()];
    let mut expected = BTreeSet::from([("b", "c"), ("b", "d"), ("c", "d")].map(pair));
    assert_eq!(all[&inside], expected);
    assert!(circles(all[&inside].clone()).is_empty());
    files[4].1 += "use super::B;";
    expected.insert(pair(("d", "b")));
    assert_eq!(circles(uses(&files)[&inside].clone()), expected);
}

#[test]
fn the_macros_and_the_runtime_do_not_know_each_other() {
    for (name, _) in CRATES {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let ours = manifest.lines().filter(|line| {
            ["reattempt", "retry-macros", "retry-runtime"]
                .iter()
                .any(|package| line.starts_with(&format!("{package} =")))
        });
        assert_eq!(ours.collect::<Vec<_>>(), [""; 0], "{name}");
    }
}
