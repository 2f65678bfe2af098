//! The pages that people read first are short, and their links lead somewhere.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use crate::markdown::{files, headings, part, quoted, read, root, table};

const README: &str = include_str!("../../README.md");
const SENTENCE: &str = "Retries for Rust functions, in one attribute.";

/// A page without its blocks of code.
fn prose(page: &str) -> String {
    let mut inside = false;
    let lines = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The targets of the links of a page, pictures included.
fn targets(page: &str) -> Vec<String> {
    let page = prose(page);
    let inline = page
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let named = page
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: "))
        .map(|(_, target)| target);
    inline.chain(named).map(str::to_owned).collect()
}

#[test]
fn the_page_for_operators_shows_the_screenshot() {
    let operating = fs::read_to_string(root().join("docs/OPERATING.md")).unwrap();
    let shows = |line: &str| line.starts_with("![") && line.ends_with("](service.png)");
    assert!(operating.lines().any(shows));
}

#[test]
fn targets_of_links_are_found_outside_of_code() {
    let page = "[two three](a/b c.md) – `four`\n```rust\n[no](link)\n```\n[five]: six\n";
    assert_eq!(targets(page), ["a/b c.md", "six"]);
}

#[test]
fn the_crate_is_introduced_with_one_sentence_everywhere() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let readme = README.lines().nth(2);
    assert_eq!(readme, Some(SENTENCE));
    assert_eq!(
        read("src/lib.rs").lines().next(),
        Some(&*format!("//! {SENTENCE}"))
    );
    let manifest = read("Cargo.toml");
    assert!(manifest.contains(&format!("\ndescription = \"{SENTENCE}\"\n")));
}

const MANIFEST: &str = include_str!("../../Cargo.toml");

fn features() -> BTreeSet<&'static str> {
    let features = MANIFEST.split_once("[features]\n").unwrap().1;
    let lines = features.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| Some(line.split_once(" = [")?.0))
        .filter(|name| *name != "default")
        .collect()
}

/// The names of a feature in a sentence: "the feature `a`", "with the features `a` and `b`".
#[test]
fn each_feature_that_a_page_or_the_rustdoc_names_exists() {
    let (exist, mut named) = (features(), 0);
    for (folder, end) in [
        ("docs", "md"),
        ("src", "md"),
        ("src", "rs"),
        ("retry-runtime/src", "rs"),
    ] {
        for (path, text) in files(&root().join(folder), end) {
            let sentences = ["feature `", "features `", "feature is `"]
                .into_iter()
                .flat_map(|words| text.split(words).skip(1));
            for sentence in sentences {
                let name = sentence.split('`').next().unwrap();
                assert!(
                    exist.contains(name),
                    "{}: no feature `{name}`",
                    path.display()
                );
                named += 1;
            }
        }
    }
    assert!(named >= 20, "{named}");
    let layers = read("src/guide/layers.md");
    for row in table(&layers, "| client | features | write |") {
        for name in quoted(&row[1]) {
            assert!(exist.contains(name), "no feature `{name}`");
        }
    }
}

#[test]
fn the_readme_names_each_feature_and_no_others() {
    let part = part("README.md", "features");
    let named = quoted(&part).filter(|name| !name.contains(' '));
    let expected = features();
    assert_eq!(
        named.collect::<BTreeSet<_>>(),
        expected,
        "README.md, `<!-- features -->`"
    );
    let minimum = MANIFEST
        .split_once("\nrust-version = \"")
        .unwrap()
        .1
        .split('"')
        .next()
        .unwrap();
    assert!(
        part.contains(minimum),
        "README.md, `<!-- features -->`: Rust {minimum}"
    );
}

/// The version of Rust that the locked version of a crate needs, without a zero at its end.
fn rust_of(name: &str, version: &str) -> String {
    let output = |command: &mut Command| {
        let output = command.current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let rustc = output(Command::new("rustc").arg("-vV"));
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Without the platform, cargo downloads the crates of all others.
    let metadata = output(Command::new(cargo).args([
        "metadata",
        "--locked",
        "--format-version=1",
        "--filter-platform",
        host.unwrap(),
    ]));
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let package = packages.find(|package| {
        let locked = package["version"].as_str().unwrap();
        package["name"] == name && locked.starts_with(version)
    });
    let rust = package.unwrap()["rust_version"].as_str().unwrap();
    rust.trim_end_matches(".0").to_owned()
}

#[test]
fn the_front_pages_name_the_newest_rust_that_a_client_needs() {
    let newest = rust_of("sqlx", "0.9.");
    assert_eq!(newest, rust_of("sea-orm", "2."));
    let said = format!(", or {newest} with `sqlx-0_9` or `sea-orm-2`.");
    assert!(README.contains(&said), "{said}");
    let front = include_str!("../../src/lib.rs");
    // Without it, a project of edition 2021 gets clients that need a newer Rust than it has.
    for page in [README, front] {
        assert!(page.contains(r#"`resolver = "3"`"#), "{page}");
    }
    for name in ["sqlx-0_9", "sea-orm-2"] {
        let row = front
            .lines()
            .find(|line| line.starts_with(&format!("//! | `{name}` |")));
        let said = format!("; Rust {newest} |");
        assert!(row.unwrap().ends_with(&said), "{name}: {said}");
    }
}

#[test]
fn the_readme_asks_the_questions_of_the_guide() {
    let mut asked = 0;
    for link in prose(README).split('[').skip(1) {
        let Some((text, rest)) = link.split_once("](") else {
            continue;
        };
        let (target, _) = rest.split_once(')').unwrap();
        if !text.ends_with('?') || !target.starts_with("src/guide/") {
            continue;
        }
        let page = fs::read_to_string(root().join(target)).unwrap();
        assert_eq!(page.lines().next(), Some(text), "{target}");
        asked += 1;
    }
    assert!(asked >= 7, "{asked}");
}

/// A reader of the page alone must know that a call may end after one attempt, and where to read why.
#[test]
fn both_first_pages_name_the_budget_and_its_outcome() {
    let crate_docs = include_str!("../../src/lib.rs")
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n");
    let outcome = format!("the outcome `{}`", reattempt::Outcome::Budget);
    for (page, explained) in [
        (README, "src/guide/budgets.md"),
        (&crate_docs, "guide::budgets"),
    ] {
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "retry budget",
            &outcome,
            &format!("[Why did my call fail after one attempt?]({explained})"),
        ] {
            assert!(words.contains(part), "{explained}: {part}");
        }
    }
}

/// The pages whose links are followed.
fn pages() -> Vec<PathBuf> {
    let mut pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .map(|name| root().join(name))
        .to_vec();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

#[test]
fn every_relative_link_leads_to_a_file_and_to_a_heading_of_it() {
    let mut broken = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for target in targets(&text) {
            if target.contains("://") {
                continue;
            }
            followed += 1;
            let (file, anchor) = match target.split_once('#') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (&*target, None),
            };
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let leads = path.exists()
                && anchor.is_none_or(|anchor| {
                    headings(&fs::read_to_string(&path).unwrap_or_default()).contains(anchor)
                });
            if !leads {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(followed > 60, "{followed}");
}

/// A bullet of the README, with the name and the file of a test that shows it.
struct Bullet {
    title: &'static str,
    file: &'static str,
    test: &'static str,
}

const BULLETS: [Bullet; 5] = [
    Bullet {
        title: "A repeated POST is asked about.",
        file: "tests/integrations/tests/own_commits.rs",
        test: "a_lost_commit_runs_once_whatever_the_rules_say",
    },
    Bullet {
        title: "A retry budget for every function",
        file: "tests/behaviour/budget.rs",
        test: "without_a_key_a_function_makes_100_retries_while_everything_fails",
    },
    Bullet {
        title: "Nested retries add up instead of multiplying.",
        file: "tests/behaviour/nested_trees.rs",
        test: "every_chain_of_up_to_six_calls_makes_one_call_and_the_sum_of_all_retries",
    },
    Bullet {
        title: "Deadlines are inherited",
        file: "tests/behaviour/inherited.rs",
        test: "an_inner_call_keeps_the_deadline_around_it",
    },
    Bullet {
        title: "Presets change while the program runs",
        file: "tests/presets/tests/presets.rs",
        test: "calls_take_their_policy_when_they_begin_and_keys_of_the_attribute_win",
    },
];

#[test]
fn the_readme_has_these_bullets_and_each_has_a_test() {
    let section = part("README.md", "bullets");
    let titles: Vec<_> = section
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("**"))
        .map(|(title, _)| title)
        .collect();
    assert_eq!(titles, BULLETS.map(|bullet| bullet.title));
    for Bullet { title, file, test } in BULLETS {
        assert!(read(file).contains(test), "{title} {file} has no `{test}`");
    }
}

/// The tables are made by `cargo run -p peers -- --write`.
#[test]
fn the_readme_has_the_costs_of_the_page_on_performance() {
    let costs = part("README.md", "costs");
    let [small, compiler] = ["small", "compiler"].map(|name| part("docs/PERFORMANCE.md", name));
    let row = |table: &str, title: &str| -> Vec<String> {
        let row = table
            .lines()
            .find(|line| line.starts_with(&format!("| {title}")));
        let row = row.unwrap_or_else(|| panic!("docs/PERFORMANCE.md: no row `{title}`"));
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let [ours, run, backon] =
        ["`#[retry]`", "`Policy::run`", "backon"].map(|title| row(&small, title));
    let [one, other, by_hand] =
        ["`#[retry]`", "backon-macros", "by hand"].map(|title| row(&compiler, title));
    for expected in [
        format!(
            "| {} ({} without macros) | {} |",
            ours[3], run[3], backon[3]
        ),
        format!("| {} kB more | {} kB more |", ours[4], backon[4]),
        format!(
            "(by hand {} bytes) | {} bytes | {} bytes, by `backon-macros` |",
            by_hand[4], one[4], other[4]
        ),
    ] {
        assert!(
            costs.contains(&expected),
            "README.md, `<!-- costs -->`: {expected}"
        );
    }
}
