//! Wrong settings of any size: the error is short, and made in time that grows with the size and not with its square.

mod in_code;
mod listed;

use std::time::{Duration, Instant};

use reattempt::Policy;
use reattempt::config::{ConfigError, Source};

use self::in_code::presets;
use self::listed::keys;

const MANY: usize = 60_000;
const LONG: usize = 20_000;

/// A debug build takes half a second for 60,000 tables. Work that grows with the square of the size takes minutes.
const SOON: Duration = Duration::from_secs(40);

/// A message has at most three texts of 60 characters or a name of 256, beside a list of keys. A character has up to ten
/// bytes, as in `\u{10ffff}`.
const LONGEST_LINE: usize = 4_000;

fn assert_short(line: &str) {
    assert!(line.len() < LONGEST_LINE, "{} bytes", line.len());
    assert!(!line.contains(char::is_control), "{line:?}");
}

fn refused(source: &Source) -> ConfigError {
    let began = Instant::now();
    let error = source.apply().unwrap_err();
    let took = began.elapsed();
    assert!(took < SOON, "{took:?}");
    let shown = error.to_string();
    shown.lines().for_each(assert_short);
    let lines = error.problems().len() + usize::from(error.more() > 0);
    assert_eq!(shown.lines().count(), lines);
    error
}

fn in_file(text: impl Into<String>) -> ConfigError {
    refused(&Source::new(presets()).with_toml_text("retry.toml", text))
}

fn in_variables(variables: impl IntoIterator<Item = (String, String)>) -> ConfigError {
    let source = Source::new(presets()).with_env_from("RETRY", variables);
    refused(&source.unwrap())
}

/// One line for each number.
fn lines(line: impl Fn(usize) -> String) -> String {
    (0..MANY).map(|n| line(n) + "\n").collect()
}

/// Asserts that the error has the first 20 mistakes and counts the others.
fn assert_twenty_of(mistakes: usize, error: &ConfigError) {
    assert_eq!(error.problems().len(), 20);
    assert_eq!(error.more(), mistakes - 20);
    let last = format!("\nand {} more mistakes", mistakes - 20);
    assert!(error.to_string().ends_with(&last), "{error}");
}

#[test]
fn of_sixty_thousand_unknown_tables_twenty_are_named_and_the_others_counted() {
    let error = in_file(lines(|n| format!("[t{n}]")));
    assert_twenty_of(MANY, &error);
    for (at, problem) in error.problems().iter().enumerate() {
        let start = format!("unknown preset `t{at}`; ");
        assert!(problem.message().starts_with(&start), "{problem}");
        assert_eq!(problem.line(), Some(at + 1));
    }
    assert!(error.to_string().len() < 2_000, "{error}");
}

#[test]
fn twenty_mistakes_are_all_named() {
    let of = |mistakes: usize| {
        let tables: Vec<_> = (0..mistakes).map(|n| format!("[t{n}]")).collect();
        in_file(tables.join("\n"))
    };
    let all = of(20);
    assert_eq!((all.problems().len(), all.more()), (20, 0));
    let error = of(21);
    assert_eq!((error.problems().len(), error.more()), (20, 1));
    assert_eq!(error.to_string(), format!("{all}\nand 1 more mistake"));
}

#[test]
fn many_wrong_names_in_and_above_the_tables_are_counted() {
    let keys = lines(|n| format!("key{n} = 2"));
    assert_twenty_of(MANY, &in_file(&*keys));
    assert_twenty_of(MANY, &in_file(format!("[payments]\n{keys}")));
    let tables = lines(|n| format!("[db.other{n}]\nattempts = 2"));
    assert_twenty_of(MANY, &in_file(tables));
    // What is in a table that is no preset is not a mistake too.
    assert_eq!(in_file(format!("[other]\n{keys}")).problems().len(), 1);
}

#[test]
fn many_tables_in_a_table_with_a_long_name_are_counted_soon() {
    let name = "long".repeat(100_000);
    let text = format!("[{name}]\n{}", lines(|n| format!("{n} = {{}}")));
    let error = in_file(text);
    assert_twenty_of(MANY, &error);
    let start = format!("retry.toml:2: unknown preset `{}…`; ", &name[..60]);
    assert!(error.to_string().starts_with(&start), "{error}");
}

#[test]
fn of_sixty_thousand_variables_that_are_no_settings_twenty_are_named() {
    for start in ["RETRY_T", "RETRY_PAYMENTS_T"] {
        let variables = (0..MANY).map(|n| (format!("{start}{n}"), String::new()));
        assert_twenty_of(MANY, &in_variables(variables));
    }
}

#[test]
fn mistakes_of_files_and_variables_are_counted_together() {
    let variables = (0..MANY).map(|n| (format!("RETRY_V{n}"), ""));
    let source = Source::new(presets())
        .with_toml_text("one.toml", "[a]\n[b]\n[c]")
        .with_toml_text("two.toml", lines(|n| format!("[t{n}]")))
        .with_toml_text("three.toml", "[d")
        .with_env_from("RETRY", variables)
        .unwrap();
    let error = refused(&source);
    assert_twenty_of(3 + MANY + 1 + MANY, &error);
    let problems = error.problems().iter();
    let of_one = problems.filter(|problem| problem.origin() == "one.toml");
    assert_eq!(of_one.count(), 3);
}

/// Long texts that are wrong as the value of any key and as its name.
fn long() -> Vec<String> {
    [
        // Digits, words and durations.
        ("", "9"),
        ("", "x"),
        ("-", "9"),
        ("1", "x"),
        ("1.", "9s"),
        ("1h", "3"),
        ("1s ", "3"),
        ("1s ", "y"),
        ("", "9s"),
        ("", "none "),
        // Characters of several bytes, at each place in a character.
        ("", "é"),
        ("1", "é"),
        ("12", "€"),
        ("", "\u{10ffff}"),
        // What a terminal would obey.
        ("", "\u{1b}[31m"),
        ("x", "\n"),
        ("1", "\u{202e}"),
    ]
    .map(|(start, piece)| start.to_owned() + &piece.repeat(LONG / piece.len()))
    .into()
}

/// The text in quotes, as TOML has it.
fn quoted(text: &str) -> String {
    let chars = text.chars().map(|char| {
        if char.is_control() {
            format!("\\u{:04x}", u32::from(char))
        } else {
            char.to_string()
        }
    });
    format!("\"{}\"", chars.collect::<String>())
}

fn assert_one(error: &ConfigError) {
    assert_eq!((error.problems().len(), error.more()), (1, 0), "{error}");
}

#[test]
fn a_long_value_is_cut_in_its_message() {
    for text in long() {
        let value = quoted(&text);
        assert_one(&in_file(format!("enabled = {value}")));
        assert_one(&in_file(format!("payments = {value}")));
        assert_one(&in_variables([("RETRY_ENABLED".to_owned(), text.clone())]));
        for key in keys().split('`').skip(1).step_by(2) {
            assert_one(&in_file(format!("[payments]\n{key} = {value}")));
            let variable = format!("RETRY_PAYMENTS_{}", key.to_uppercase());
            assert_one(&in_variables([(variable, text.clone())]));
            let policy = serde_json::json!({ key: text });
            let error = serde_json::from_value::<Policy>(policy).unwrap_err();
            assert_short(&error.to_string());
        }
    }
}

#[test]
fn a_long_number_is_cut_in_its_message() {
    let digits = "9".repeat(LONG);
    for number in [
        digits.clone(),
        format!("-{digits}"),
        format!("{digits}.5"),
        format!("0.1{digits}"),
        format!("0x{digits}"),
    ] {
        assert_one(&in_file(format!("enabled = {number}")));
        assert_one(&in_file(format!("payments = {number}")));
        for key in keys().split('`').skip(1).step_by(2) {
            assert_one(&in_file(format!("[payments]\n{key} = {number}")));
            let variable = format!("RETRY_PAYMENTS_{}", key.to_uppercase());
            assert_one(&in_variables([(variable, number.clone())]));
        }
    }
    // Leading zeros keep the value in the range of the integers.
    let zeros = "0".repeat(LONG);
    for number in [format!("-{zeros}5"), format!("{zeros}4294967295")] {
        assert_one(&in_variables([(
            "RETRY_PAYMENTS_ATTEMPTS".to_owned(),
            number,
        )]));
    }
}

#[test]
fn a_long_name_is_cut_in_its_message() {
    for text in long() {
        let name = quoted(&text);
        assert_one(&in_file(format!("{name} = 2")));
        assert_one(&in_file(format!("[{name}]")));
        assert_one(&in_file(format!("[db.{name}]\nattempts = 2")));
        assert_one(&in_file(format!("[payments]\n{name} = 2")));
        assert_one(&in_file(format!("[payments]\n{name} = 2\n{name} = 3")));
        for start in ["RETRY_", "RETRY_PAYMENTS_"] {
            let error = in_variables([(format!("{start}{text}"), "2".to_owned())]);
            assert_one(&error);
            let origin = error.problems()[0].origin();
            assert!(
                origin.starts_with(start) && origin.ends_with('…'),
                "{origin}"
            );
        }
        let policy = serde_json::json!({ text: 2 });
        let error = serde_json::from_value::<Policy>(policy).unwrap_err();
        assert_short(&error.to_string());
    }
}

/// The name of a variable is what an operator looks for, so it is whole.
#[test]
fn a_name_of_a_variable_is_not_cut_as_a_value_is() {
    let name = format!("RETRY_PAYMENTS_{}", "LONG_".repeat(40));
    let error = in_variables([(name.clone(), String::new())]);
    assert_eq!(error.problems()[0].origin(), name);
}

#[test]
fn a_long_text_that_is_not_toml_has_a_short_message() {
    for text in long() {
        for (before, after) in [
            ("", ""),
            ("[", ""),
            ("[payments]\n", " = 4"),
            ("[payments]\nbackoff = ", ""),
            ("[payments]\nbackoff = \"", ""),
            ("[payments]\nbackoff = \"\\", "\""),
        ] {
            let text = format!("{before}{text}{after}");
            let source = Source::new(presets()).with_toml_text("retry.toml", text);
            assert_one(&refused(&source));
        }
    }
    assert_one(&in_file(lines(|n| format!("t{n}"))));
    assert_one(&in_file("a.".repeat(LONG) + "a = 1"));
    assert_one(&in_file("a = ".to_owned() + &"[".repeat(LONG)));
    assert_one(&in_file("a = ".to_owned() + &"{a=".repeat(LONG)));
}
