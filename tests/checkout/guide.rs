//! The pages of the documentation agree with the manifests, with the repository and with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::markdown::{headings, quoted, read, root, table};

/// The features of a manifest, in order, each with the features and dependencies that it turns on.
fn features(manifest: &str) -> Vec<(&str, &str)> {
    let (_, features) = manifest.split_once("[features]\n").unwrap();
    let features = features.split("\n\n").next().unwrap().lines();
    let all = features.filter_map(|line| line.split_once(" = "));
    // It only says which of the others are on.
    all.filter(|(name, _)| *name != "default").collect()
}

/// The client of a feature of the runtime, and its version. It is the first dependency that the feature turns on.
fn client(manifest: &str, feature: &str) -> Option<String> {
    // The dependencies of these features are not clients.
    if ["macros", "testing"].contains(&feature) {
        return None;
    }
    let all = features(manifest);
    let (_, on) = all.iter().find(|(name, _)| *name == feature).unwrap();
    let dependency = quoted(&on.replace('"', "`"))
        .find_map(|item| Some(item.strip_prefix("dep:")?.to_owned()))?;
    let line = manifest
        .lines()
        .find(|line| line.starts_with(&format!("{dependency} = {{")))
        .unwrap();
    let value = |key: &str| {
        Some(
            line.split_once(&format!("{key} = \""))?
                .1
                .split('"')
                .next()
                .unwrap(),
        )
    };
    let package = value("package").unwrap_or(&dependency);
    let package = package.trim_end_matches("-core").trim_end_matches("_core");
    let mut parts = value("version").unwrap().split('.');
    let version = match (parts.next().unwrap(), parts.next()) {
        ("0", Some(minor)) => format!("0.{minor}"),
        (major, _) => major.to_owned(),
    };
    Some(format!("`{package}` {version}"))
}

#[test]
fn the_table_of_features_is_that_of_the_manifest() {
    let (manifest, runtime) = (read("Cargo.toml"), read("retry-runtime/Cargo.toml"));
    let rows = table(&read("src/lib.rs"), "| feature | version | gives |");
    let all = features(&manifest);
    let expected: Vec<_> = all
        .iter()
        .map(|(name, _)| {
            let client = client(&runtime, name);
            [
                format!("`{name}`"),
                client.unwrap_or_else(|| "–".to_owned()),
            ]
        })
        .collect();
    let found: Vec<_> = rows
        .iter()
        .map(|row| [row[0].clone(), row[1].clone()])
        .collect();
    assert_eq!(found, expected);
    // The row of a feature says what it turns on.
    for ((name, on), row) in all.iter().zip(&rows) {
        let brought: BTreeSet<_> = on
            .split('"')
            .skip(1)
            .step_by(2)
            .filter(|item| !item.contains(['/', ':']))
            .collect();
        let said = row[2].split_once("brings ").map(|(_, said)| said);
        let said: BTreeSet<_> = said.into_iter().flat_map(quoted).collect();
        assert_eq!(said, brought, "{name}");
    }
}

#[test]
fn lines_to_paste_into_a_manifest_have_the_version_and_features_of_this_crate() {
    let manifest = read("Cargo.toml");
    let names: Vec<_> = features(&manifest)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let (_, version) = manifest
        .split_once("[workspace.package]\nversion = \"")
        .unwrap();
    let version = version
        .split('"')
        .next()
        .unwrap()
        .rsplit_once('.')
        .unwrap()
        .0;
    let mut seen = 0;
    let mut all = pages();
    for path in [
        "README.md",
        "examples/deadpool_orders.rs",
        "examples/http2_post.rs",
        "examples/sea_orm_booking.rs",
    ] {
        all.insert(path.to_owned(), read(path));
    }
    for (path, page) in all {
        // In an example, it is in the words at its head.
        for line in page
            .lines()
            .filter_map(|line| line.split_once("reattempt = "))
        {
            let line = line.1;
            if line.starts_with("{ path") {
                continue;
            }
            seen += 1;
            assert!(line.contains(&format!("\"{version}\"")), "{path}: {line}");
            let listed = line
                .split_once("features = [")
                .map_or("", |(_, listed)| listed.split(']').next().unwrap());
            for feature in listed.split('"').skip(1).step_by(2) {
                assert!(names.contains(&feature), "{path}: {line}");
            }
        }
    }
    assert!(seen >= 6, "{seen}");
}

/// The pages of the documentation without their code, by the names that links of rustdoc use.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for (name, path) in [
        ("crate", "src/lib.rs"),
        ("crate::guide", "src/guide/README.md"),
        ("crate::guide::words", "src/guide/words.rs"),
        ("macro@crate::retry", "src/retry.md"),
        ("macro@crate::Retryable", "src/retryable.md"),
    ] {
        pages.insert(name.to_owned(), read(path));
    }
    for path in questions() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        pages.insert(
            format!("crate::guide::{name}"),
            fs::read_to_string(&path).unwrap(),
        );
    }
    pages
}

fn in_folder(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    paths
}

/// The pages of the guide without its index.
fn questions() -> impl Iterator<Item = PathBuf> {
    let pages = in_folder("src/guide", "md").into_iter();
    pages.filter(|path| !path.ends_with("README.md"))
}

#[test]
fn each_link_to_a_heading_leads_to_one() {
    let (pages, named) = (pages(), named_links());
    let inline = pages.iter().flat_map(|(from, page)| {
        let links = page.split("](").skip(1);
        links.map(|rest| (from.as_str(), rest.split(')').next().unwrap()))
    });
    let named = definitions(&named).into_values();
    let mut followed = 0;
    for (from, link) in inline.chain(named.map(|link| ("src/links", link))) {
        let Some((to, heading)) = link.split_once('#') else {
            continue;
        };
        if link.contains("://") {
            continue;
        }
        let to = match to {
            "" => from.to_owned(),
            "macro@retry" => "macro@crate::retry".to_owned(),
            "crate" => to.to_owned(),
            _ if to.starts_with("guide") => format!("crate::{to}"),
            _ => to.to_owned(),
        };
        let page = pages
            .get(&to)
            .unwrap_or_else(|| panic!("{from} links to {link}"));
        assert!(headings(page).contains(heading), "{from} links to {link}");
        followed += 1;
    }
    assert!(followed >= 20, "{followed}");
}

/// The links of the guide that have names, for rustdoc.
fn named_links() -> String {
    let files = in_folder("src/links", "md");
    let files = files.iter().map(|path| fs::read_to_string(path).unwrap());
    files.collect()
}

/// The definitions of links at the end of a page: `[name]: target`.
fn definitions(page: &str) -> BTreeMap<&str, &str> {
    page.lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: "))
        .collect()
}

/// rustdoc takes the targets of the folder `src/links`, and checks them. GitHub takes those of the page.
#[test]
fn each_link_of_the_guide_leads_to_the_same_place_in_rustdoc_and_on_github() {
    let links = named_links();
    let rustdoc = definitions(&links);
    let index = read("src/guide/mod.rs");
    for include in index.split("\n\n").filter(|item| item.contains(" {}")) {
        assert!(include.contains("../links/all.md"), "{include}");
    }
    let mut unused: BTreeSet<_> = rustdoc.keys().copied().collect();
    for path in in_folder("src/guide", "md") {
        let page = fs::read_to_string(&path).unwrap();
        let from = path.display();
        for inline in page.split("](").skip(1) {
            let to = inline.split(')').next().unwrap();
            assert!(
                to.starts_with("https://") || to.starts_with('#'),
                "{from} links to {to}"
            );
        }
        let github = definitions(&page);
        for named in page.split("][").skip(1) {
            let name = named.split(']').next().unwrap();
            assert!(github.contains_key(name), "{from} does not define {name}");
            assert!(
                rustdoc.contains_key(name),
                "no file in src/links defines {name}"
            );
        }
        for (name, to) in github {
            let Some(here) = rustdoc.get(name) else {
                continue;
            };
            assert!(
                page.contains(&format!("][{name}]")),
                "{from} does not use {name}"
            );
            unused.remove(name);
            let Some(item) = to.strip_prefix("https://docs.rs/reattempt/latest/reattempt/") else {
                assert_eq!(name, to, "{from}");
                let (file, heading) = to.split_once(".md").unwrap();
                assert_eq!(*here, format!("crate::guide::{file}{heading}"));
                let target = read(&format!("src/guide/{file}.md"));
                let heading = heading.strip_prefix('#');
                let exists = heading.is_none_or(|heading| headings(&target).contains(heading));
                assert!(exists, "{from} links to {to}");
                continue;
            };
            // `.ci/links` looks for the item.
            let last = name.rsplit([':', '#']).next().unwrap();
            assert!(
                item.contains(last) && here.contains(last),
                "{name}: {to}, {here}"
            );
        }
    }
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn each_page_of_the_guide_opens_with_the_question_that_the_index_lists() {
    let (index, module) = (read("src/guide/README.md"), read("src/guide/mod.rs"));
    let listed: Vec<_> = index
        .lines()
        .filter_map(|line| {
            let (question, rest) = line.strip_prefix("- [")?.split_once("][")?;
            Some((rest.split_once(".md]")?.0.to_owned(), question.to_owned()))
        })
        .collect();
    let mut pages: Vec<_> = questions()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let page = fs::read_to_string(path).unwrap();
            (name, page.lines().next().unwrap().to_owned())
        })
        .collect();
    for (name, question) in &pages {
        assert!(question.ends_with('?'), "{name}: {question}");
        let mut words = module.split(|c: char| !c.is_alphanumeric() && c != '_');
        assert!(words.any(|word| word == name), "{name}");
    }
    let mut sorted = listed.clone();
    sorted.sort();
    pages.sort();
    assert_eq!(sorted, pages);
    // A link whose text is a question has the words of the page's question.
    for (from, page) in self::pages() {
        for (name, question) in &listed {
            for target in [
                format!("](crate::guide::{name}"),
                format!("](guide::{name}"),
                format!("][{name}.md"),
            ] {
                for before in page.split(&target).take(page.matches(&target).count()) {
                    let text = before.rsplit_once('[').unwrap().1.replace('\n', " ");
                    assert!(!text.ends_with('?') || text == *question, "{from}: {text}");
                }
            }
        }
    }
}

/// The words that a function of the runtime returns: `Self::Budget => "budget",`.
fn words(path: &str) -> Vec<String> {
    let source = read(path);
    let arms = source.lines().map(str::trim);
    arms.filter(|line| line.starts_with("Self::") && line.contains(" => \""))
        .map(|line| line.split('"').nth(1).unwrap().to_owned())
        .collect()
}

#[test]
fn the_index_has_each_key_outcome_and_verdict_and_texts_of_errors_that_exist() {
    let index = table(
        &read("src/guide/words.rs"),
        "| words | where they are explained |",
    );
    let row = |name: &str| {
        let row = index.iter().find(|row| row[0].contains(name)).unwrap();
        let links = row[1].split("](").map(|text| text.rsplit('[').next());
        let mut texts: Vec<_> = links.map(|text| text.unwrap().to_owned()).collect();
        texts.pop();
        texts
    };
    // A test of `reattempt-macros` holds this table to the keys.
    let keys = table(&read("src/retry.md"), "| key | value | default | meaning |");
    let keys: Vec<_> = keys.into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(row("keys"), keys);
    for (name, path, least) in [
        ("outcomes", "retry-runtime/src/stopped.rs", 12),
        ("verdicts", "retry-runtime/src/classify/verdict.rs", 6),
    ] {
        let words: Vec<_> = words(path).iter().map(|word| format!("`{word}`")).collect();
        assert!(words.len() >= least, "{words:?}");
        assert_eq!(row(name), words);
    }
    let mut said = ["stopped", "error", "call/events", "call/attempt"]
        .map(|file| read(&format!("retry-runtime/src/{file}.rs")))
        .concat();
    for path in in_folder("tests/ui/fail", "stderr") {
        said.push_str(&fs::read_to_string(path).unwrap());
    }
    said.push_str(&read("retry-macros/src/tests/refused.txt"));
    for text in row("errors") {
        for part in text.trim_matches('`').split(" … ") {
            assert!(said.contains(part), "{text}");
        }
    }
}

#[test]
fn each_test_that_a_promise_names_exists() {
    let rows = table(&read("src/guide/promises.md"), "| | promise | test |");
    assert_eq!(rows.len(), 12);
    for row in rows {
        for name in quoted(&row[2]) {
            assert!(root().join("tests").join(name).exists(), "{name}");
        }
    }
}

/// `tests/behaviour/hints.rs` holds it.
#[test]
fn each_page_that_bounds_a_wait_by_max_delay_says_that_a_hint_may_exceed_it() {
    let pages = [
        "README.md",
        "src/retry.md",
        "docs/MIGRATING.md",
        "docs/COMPARISON.md",
    ]
    .map(PathBuf::from);
    let mut bounds = 0;
    for page in in_folder("src/guide", "md").into_iter().chain(pages) {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for part in text
            .replace("\n|", "\n\n")
            .replace("\n- ", "\n\n")
            .split("\n\n")
        {
            let words = part.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = words.to_lowercase();
            let bound = ["no wait", "no delay", "longest delay"]
                .into_iter()
                .any(|bound| words.contains(bound));
            if bound && words.contains("`max_delay`") && !words.contains("unless you set") {
                let honest = words.replace('[', "").contains("without a hint");
                assert!(honest, "{}: {words}", page.display());
                bounds += 1;
            }
        }
    }
    assert_eq!(bounds, 8);
}

/// The exceptions are behaviour that a test of `tests/` shows.
#[test]
fn each_sentence_with_an_exception_names_it_and_a_test_shows_it() {
    for (page, sentence, file, test) in [
        (
            "src/guide/budgets.md",
            "If that attempt timed out, it returns a [`Stopped`][Stopped] of [`Outcome::Budget`][Outcome::Budget].",
            "behaviour/stopped_calls.rs",
            "a_refusal_after_a_timeout_has_the_error_before_it_as_its_source",
        ),
        (
            "src/guide/deadlines.md",
            "| the same; a function without limits of its own finishes its attempt |",
            "behaviour/inherited.rs",
            "a_function_without_limits_stops_retrying_at_the_deadline_around_it",
        ),
        (
            "src/guide/promises.md",
            "if the outer one begins each attempt within the `max_delay` of the inner one.",
            "behaviour/nested.rs",
            "failed_retries_are_forgotten_after_the_functions_own_max_delay",
        ),
        (
            "src/guide/promises.md",
            "A retry allocates only within another call, with decorrelated jitter, or for an observer: `on_retry`, \
             `on_end`, `with_report` or a span.",
            "cost.rs",
            "a_retry_allocates_once_with_decorrelated_jitter_or_if_somebody_listens",
        ),
        (
            "src/retry.md",
            "that of `before_retry` runs before each retry.",
            "behaviour/hooks.rs",
            "on_retry_runs_before_the_wait_and_before_retry_after_it",
        ),
    ] {
        let words: Vec<_> = read(page).split_whitespace().map(str::to_owned).collect();
        assert!(words.join(" ").contains(sentence), "{page}: {sentence}");
        let tests = read(&format!("tests/{file}"));
        assert!(tests.contains(&format!("fn {test}(")), "{file}: {test}");
    }
}

#[test]
fn the_table_of_events_has_each_message_that_is_emitted_and_no_other() {
    let rows = table(&read("src/guide/seeing.md"), "| level | message | when |");
    let mut listed: Vec<_> = rows.iter().map(|row| row[1].as_str()).collect();
    let source = |file| read(&format!("retry-runtime/src/{file}.rs"));
    let events = source("call/events") + &source("trace/mod");
    let (events, _) = events.split_once("mod tests {").unwrap();
    // Elsewhere, a message has a line of its own.
    let others = source("site/given") + &source("adapters/http/headers");
    let others = others.lines().filter(|line| line.trim().starts_with('"'));
    // A message is a text of several words, without a placeholder.
    let code = events.lines().chain(others);
    let code = code.filter(|line| !line.trim().starts_with("//"));
    let texts = code.filter_map(|line| line.split('"').nth(1));
    let mut emitted: Vec<_> = texts
        .filter(|text| text.contains(' ') && !text.contains('{'))
        .collect();
    listed.sort_unstable();
    emitted.sort_unstable();
    assert_eq!(listed, emitted);
}

#[test]
fn the_guide_lists_every_example() {
    let rows = table(
        &read("src/guide/README.md"),
        "| example | package | shows |",
    );
    let listed: BTreeSet<_> = rows
        .iter()
        .flat_map(|row| quoted(&row[0]))
        .map(str::to_owned)
        .collect();
    let entries = fs::read_dir(root().join("examples")).unwrap();
    let there = entries.map(|entry| {
        entry
            .unwrap()
            .path()
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    });
    assert_eq!(listed, there.collect());
}
