//! The errors of rustc and of the macro for wrong input.
//!
//! Each file of `fail` has one mistake, or modules with one each. Each begins with the first line of its message, and with
//! the number of its errors, if that is not one. `TRYBUILD=overwrite cargo test -p ui` writes the `.stderr` beside it. Never edit
//! that by hand.
//!
//! A file is a program for rustc to check. What it reports after types, such as moved values, is in files of its own.
//!
//! Mistakes that the macro alone reports are rows of `retry-macros/src/tests/refused.txt` and `lower/tests/refused.txt`. A few are
//! here too: what rustc makes of several errors, and of the callers of a function that has one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// No file compiles: if nothing has to run, trybuild checks all files in one run of cargo, on all cores.
#[test]
fn wrong_input_is_refused() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    // This file has shapes of real code.
    cases.compile_fail("corpus/refused.rs");
}

#[test]
fn each_mistake_has_the_message_of_its_first_line() {
    let mut mistakes = 0;
    let mut wrong = Vec::new();
    for file in files().unwrap() {
        match check(&file) {
            Ok(count) => mistakes += count,
            Err(error) => wrong.push(error),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(mistakes >= 100, "{mistakes}");
}

#[test]
fn each_refused_shape_of_real_code_has_one_error_on_its_line() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let source = fs::read_to_string(corpus.join("refused.rs")).unwrap();
    let marked = |(line, text): (usize, &str)| {
        let (_, message) = text.split_once(" //~ ")?;
        Some((line, message.to_owned()))
    };
    let mut expected: Vec<_> = (1..).zip(source.lines()).filter_map(marked).collect();
    let stderr = fs::read_to_string(corpus.join("refused.stderr")).unwrap();
    let mut message = None;
    let mut found = Vec::new();
    for line in stderr.lines() {
        message = error(line).map(str::to_owned).or(message);
        let place = line.trim_start().strip_prefix("--> corpus/refused.rs:");
        if let (Some(place), true) = (place, message.is_some()) {
            let line = place.split(':').next().unwrap().parse().unwrap();
            found.extend(message.take().map(|message| (line, message)));
        }
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// Excerpts of the standard library change with its version, and depend on whether its source is installed.
#[test]
fn few_messages_quote_the_standard_library() {
    let quotes = |file: &PathBuf| {
        let stderr = fs::read_to_string(file.with_extension("stderr")).unwrap_or_default();
        stderr.contains("--> $RUST") || stderr.contains("::: $RUST")
    };
    let quoting: Vec<_> = files().unwrap().into_iter().filter(quotes).collect();
    assert!(quoting.len() <= 5, "{quoting:?}");
}

/// Every mistake has a smaller span than the whole attribute. `mockall` copies it to expressions, where rustc refuses any attribute.
#[test]
fn no_error_points_at_the_whole_attribute() {
    let mut wrong = Vec::new();
    for file in files().unwrap() {
        let stderr = fs::read_to_string(file.with_extension("stderr")).unwrap();
        let lines: Vec<_> = stderr.lines().collect();
        let blamed = lines.windows(2).any(|pair| {
            let column = pair[0].find("| ").and_then(|_| pair[0].find("#[retry"));
            column.is_some_and(|column| {
                pair[1]
                    .get(column..)
                    .is_some_and(|rest| rest.starts_with('^'))
            })
        });
        if blamed && !file.ends_with("item-mockall.rs") {
            wrong.push(file);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A line that the compiler suggests has a `+` below it.
#[test]
fn no_message_suggests_a_private_name() {
    for file in files().unwrap() {
        let stderr = fs::read_to_string(file.with_extension("stderr")).unwrap();
        let lines: Vec<_> = stderr.lines().collect();
        let proposed = lines.windows(2).any(|pair| {
            let marks = pair[1].trim_start().strip_prefix('|').map(str::trim);
            let marked = marks.is_some_and(|marks| marks.starts_with(['+', '~']));
            marked && pair[0].contains("__private")
        });
        assert!(!proposed, "{}", file.display());
    }
}

/// The names in the code that the attribute and the derive generate. rustc adds one to a message, for the bound that does not hold.
/// What a user writes, as with `Policy::run`, has only bounds that are in the documentation.
const GENERATED: [&str; 45] = [
    "Advised",
    "By",
    "Call",
    "CallResult",
    "Carried",
    "CommitsOnce",
    "Cut",
    "Each",
    "FindsSelfAgain",
    "ForEachAttempt",
    "Foreign",
    "Forwards",
    "FromStopped",
    "HoldsPostgres",
    "HoldsRequest",
    "Inside",
    "IntoHint",
    "IsTracked",
    "IsTrackedThere",
    "Itself",
    "Lent",
    "LentAcrossThreads",
    "Level",
    "MayRunTwice",
    "Never",
    "OfClosure",
    "OnEnd",
    "Other",
    "Prepared",
    "ResultLike",
    "RunsOnce",
    "RunsTwice",
    "SaysNoEffect",
    "SiteSettings",
    "StartsAnew",
    "Stops",
    "Unshared",
    "ask",
    "ask_ok",
    "ends_of_both",
    "hint_in",
    "limit",
    "policy",
    "says_no_effect",
    "verdict_of",
];

#[test]
fn a_message_names_what_is_private_only_of_generated_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = BTreeSet::new();
    for file in files()
        .unwrap()
        .into_iter()
        .chain([folder.join("corpus/refused.rs")])
    {
        let stderr = fs::read_to_string(file.with_extension("stderr")).unwrap();
        for rest in stderr.split("__private").skip(1) {
            let path = rest
                .strip_prefix("::")
                .unwrap_or_else(|| panic!("{}: {rest}", file.display()));
            let path = path.strip_prefix("client::").unwrap_or(path);
            let end = path.find(|c: char| !c.is_alphanumeric() && c != '_');
            named.insert(path[..end.unwrap_or(path.len())].to_owned());
        }
    }
    assert_eq!(Vec::from_iter(&named), GENERATED);
}

fn files() -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fail");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the number of mistakes in the file.
fn check(file: &Path) -> Result<usize, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let source = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let stderr = fs::read_to_string(file.with_extension("stderr"))
        .map_err(|error| format!("{name}: .stderr: {error}"))?;
    let lines: Vec<_> = source.lines().map(str::trim_start).collect();
    let mut expected = Vec::new();
    let mut count = 0;
    for (at, line) in lines.iter().enumerate() {
        if let Some(message) = line.strip_prefix("//! expect: ") {
            let number = lines.get(at + 1);
            count += match number.and_then(|line| line.strip_prefix("//! errors: ")) {
                Some(number) => number.parse().map_err(|error| format!("{name}: {error}"))?,
                None => 1,
            };
            expected.push(message);
        }
    }
    if expected.is_empty() {
        return Err(format!("{name}: no line is a `//! expect: `"));
    }
    let mut errors: Vec<_> = stderr.lines().filter_map(error).collect();
    if errors.len() != count {
        return Err(format!(
            "{name}: {count} errors expected, found {errors:#?}"
        ));
    }
    for message in &expected {
        let Some(found) = errors.iter().position(|error| error == message) else {
            return Err(format!("{name}: expected `{message}`, found {errors:#?}"));
        };
        errors.remove(found);
    }
    Ok(expected.len())
}

/// The message of an `error: …` or `error[E0308]: …` line.
fn error(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("error")?;
    let rest = match rest.strip_prefix('[') {
        Some(code) => code.split_once(']')?.1,
        None => rest,
    };
    rest.strip_prefix(": ")
}
