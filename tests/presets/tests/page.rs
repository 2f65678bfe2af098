//! Makes each mistake on `docs/CONFIGURATION.md`, and compares its message. `messages.rs` looks for messages that are not
//! on the page.

mod in_code;
#[cfg(unix)]
mod unreadable;

use std::ffi::OsString;
use std::fs;
use std::panic::catch_unwind;

use reattempt::config::{ConfigError, Source};
use reattempt::{Policy, Preset};

use self::in_code::presets;

const PAGE: &str = include_str!("../../../docs/CONFIGURATION.md");

/// The rows of all tables with this first heading: the first cell, and the message.
fn rows(heading: &str) -> Vec<(&'static str, &'static str)> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in PAGE.lines() {
        let Some(cells) = line
            .strip_prefix("| ")
            .and_then(|line| line.strip_suffix(" |"))
        else {
            inside &= line.starts_with("|--");
            continue;
        };
        let (first, second) = cells.split_once(" | ").unwrap();
        if inside {
            let message = second
                .strip_prefix("``")
                .and_then(|text| text.strip_suffix("``"));
            rows.push((first, message.unwrap_or(second).trim()));
        }
        inside |= first == heading && second == "message";
    }
    assert!(!rows.is_empty(), "{heading}");
    rows
}

/// The lines of code in a cell.
fn code(cell: &str) -> String {
    cell.split("<br>")
        .map(|line| line.trim_matches('`'))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The only message of an error.
fn message(error: &ConfigError) -> String {
    let [problem] = error.problems() else {
        panic!("{error}");
    };
    problem.message().to_owned()
}

/// The wrong rows of the page: the first cell, and the expected message.
fn wrong(heading: &str, said: impl Fn(&'static str) -> String) -> Vec<String> {
    let rows = rows(heading).into_iter();
    let wrong = rows.filter_map(|(cell, quoted)| {
        let said = said(cell);
        let same = match quoted.strip_suffix('…') {
            Some(start) => said.starts_with(start),
            None => said == quoted,
        };
        (!same).then(|| format!("| {cell} | `` {said} `` |"))
    });
    wrong.collect()
}

fn assert_right(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "the page ought to say\n{}",
        wrong.join("\n")
    );
}

#[test]
fn each_mistake_in_a_file_has_the_message_of_the_page() {
    let said = |text: String| {
        let source = Source::new(presets()).with_toml_text("retry.toml", text);
        message(&source.apply().unwrap_err())
    };
    let mut all = wrong("the file", |cell| said(code(cell)));
    all.extend(wrong("below `[payments]`", |cell| {
        said(format!("[payments]\n{}", code(cell)))
    }));
    assert_right(&all);
}

#[test]
fn each_mistake_in_a_variable_has_the_message_of_the_page() {
    assert_right(&wrong("variable", |cell| {
        let variables = code(cell);
        let variables = variables.lines().map(|line| line.split_once('=').unwrap());
        let source = Source::new(presets()).with_env_from("RETRY", variables);
        message(&source.unwrap().apply().unwrap_err())
    }));
}

#[cfg(unix)]
#[test]
fn each_file_and_source_that_is_refused_has_the_message_of_the_page() {
    use std::os::unix::ffi::OsStringExt as _;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| {
        let path = folder.path().join(name);
        message(&Source::new([]).with_toml_file(path).unwrap_err())
    };
    let file = |name: &str, content: &[u8]| {
        fs::write(folder.path().join(name), content).unwrap();
        at(name)
    };
    assert_right(&wrong("mistake", |cell| match cell {
        "the file is not there" => at("none"),
        "the user of the process may not read it" => {
            unreadable::make(&folder.path().join("secret"));
            at("secret")
        }
        "a file in the place of a folder" => {
            fs::write(folder.path().join("file"), "").unwrap();
            at("file/retry.toml")
        }
        "a folder in its place" => {
            message(&Source::new([]).with_toml_file(folder.path()).unwrap_err())
        }
        "a device or a pipe in its place" => {
            message(&Source::new([]).with_toml_file("/dev/null").unwrap_err())
        }
        "a file above 1 MiB" => file("large", &vec![b'#'; 2_000_000]),
        "a file with a byte that is no text" => file("bytes", b"\xFF"),
        "a variable with a byte that is no text" => {
            let variable = ("RETRY_PAYMENTS_BASE", OsString::from_vec(vec![0xFF]));
            let source = Source::new(presets()).with_env_from("RETRY", [variable]);
            message(&source.unwrap().apply().unwrap_err())
        }
        "`.with_env(\"retry\")`" => message(&Source::new([]).with_env("retry").unwrap_err()),
        "`db-read` and `db.read` in one source" => {
            static DASH: Preset = Preset::new("db-read", Policy::new());
            static DOT: Preset = Preset::new("db.read", Policy::new());
            message(&Source::new([&DASH, &DOT]).apply().unwrap_err())
        }
        "two presets with the name `payments` in one source" => {
            let [first, _, _] = presets();
            let [second, _, _] = presets();
            message(&Source::new([first, second]).apply().unwrap_err())
        }
        "the same preset twice in one source" => {
            let [preset, _, _] = presets();
            message(&Source::new([preset, preset]).apply().unwrap_err())
        }
        "settings for a source without presets" => {
            let source = Source::new([]).with_toml_text("retry.toml", "[payments]");
            message(&source.apply().unwrap_err())
        }
        other => panic!("no test makes this mistake: {other}"),
    }));
}

#[test]
fn each_name_that_a_preset_cannot_have_has_the_message_of_the_page() {
    assert_right(&wrong("in the code", |cell| {
        let name = cell.split('"').nth(1).unwrap();
        let panic = catch_unwind(|| Preset::new(name, Policy::new())).unwrap_err();
        (*panic.downcast::<&str>().unwrap()).to_owned()
    }));
}

#[test]
fn each_mistake_in_a_policy_of_serde_has_the_message_of_the_page() {
    assert_right(&wrong("JSON", |cell| {
        let error = serde_json::from_str::<Policy>(&code(cell))
            .unwrap_err()
            .to_string();
        // serde adds the place.
        error
            .split_once(" at line")
            .map_or(error.clone(), |(message, _)| message.to_owned())
    }));
}

#[test]
fn the_page_has_every_key_with_its_default() {
    let defaults = serde_json::to_value(Policy::new()).unwrap();
    let keys: Vec<_> = PAGE
        .lines()
        .skip_while(|line| *line != "## Keys")
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            let key = cells.next()?.trim_end_matches('`');
            let default = cells
                .nth(2)?
                .trim_end_matches(" |")
                .trim_matches(['`', '"']);
            Some((key, default))
        })
        .take_while(|(key, _)| !key.contains('['))
        .collect();
    for (key, default) in &keys {
        match defaults.get(key) {
            Some(serde_json::Value::String(text)) => {
                let read = |text: &str| {
                    let json = serde_json::json!({ *key: text });
                    serde_json::from_value::<Policy>(json).unwrap()
                };
                assert_eq!(read(text), read(default), "{key}");
            }
            Some(number) => assert_eq!(&number.to_string(), default, "{key}"),
            None if *key == "throttled_base" => assert_eq!(*default, "ten times `base"),
            None if *key == "budget" => assert_eq!(*default, "one for each function"),
            None => assert_eq!(*default, "none", "{key}"),
        }
    }
    // The message about an unknown key lists the keys in the same order.
    let listed: Vec<_> = keys.iter().map(|(key, _)| format!("`{key}`")).collect();
    assert!(
        PAGE.contains(&format!("the keys are {}\n", listed.join(", "))),
        "{listed:?}"
    );
}
