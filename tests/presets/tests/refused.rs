//! Wrong variables and sources: their messages, and that they change nothing. `files.rs` has the wrong files.

mod in_code;
mod listed;

use std::ffi::OsString;

use proptest::prelude::*;
use reattempt::config::Source;
use reattempt::{Policy, Preset};

use self::in_code::{PAYMENTS, SEARCH, presets};
use self::listed::keys;

/// The message for a file and variables. `|` stands for a line break in the file.
fn refused(text: &str, variables: &[(&str, &str)]) -> String {
    let presets = presets();
    let source = Source::new(presets).with_toml_text("retry.toml", text.replace('|', "\n"));
    let source = source
        .with_env_from("RETRY", variables.iter().copied())
        .unwrap();
    let error = source.apply().unwrap_err();
    assert_eq!(presets[0].policy(), PAYMENTS, "{error}");
    assert_eq!(presets[1].policy(), SEARCH, "{error}");
    assert_eq!(presets[2].policy(), Policy::new(), "{error}");
    error.to_string()
}

const IN_ENV: &str = "the presets are `PAYMENTS`, `SEARCH`, `DB_READ_ONLY`";

const IN_VARIABLES: &[(&str, &str, &str)] = &[
    (
        "RETRY_PAYMENT_ATTEMPTS",
        "2",
        "unknown preset `PAYMENT`; did you mean `PAYMENTS`? PRESETS",
    ),
    ("RETRY_COUNT", "2", "unknown preset `COUNT`; PRESETS"),
    (
        "RETRY_ENABLD",
        "false",
        "unknown preset `ENABLD`; did you mean `ENABLED`? PRESETS",
    ),
    (
        "RETRY_DB_ATTEMPTS",
        "2",
        "unknown preset `DB`; did you mean `DB_READ_ONLY`? PRESETS",
    ),
    (
        "RETRY_PAYMENTS_ATEMPTS",
        "2",
        "unknown key `atempts`; did you mean `attempts`? KEYS",
    ),
    (
        "RETRY_DB_READ_ONLY_MAXDELAY",
        "2s",
        "unknown key `maxdelay`; did you mean `max_delay`? KEYS",
    ),
    (
        "RETRY_PAYMENTS",
        "2",
        "has no key; write `RETRY_PAYMENTS_ATTEMPTS`, for example",
    ),
    (
        "RETRY_PAYMENTS_ATTEMPTS",
        "-1",
        "`attempts` is negative (-1), expected at least 1; write 1 for no retry, or \"unlimited\"",
    ),
    (
        "RETRY_PAYMENTS_ATTEMPTS",
        "",
        "found \"\", expected a whole number from 1, or \"unlimited\"; write 4, for example",
    ),
    (
        "RETRY_PAYMENTS_BUDGET_KIND",
        "7",
        "unknown kind \"7\"; `kind` is one of \"default\", \"aws\"",
    ),
    (
        "RETRY_PAYMENTS_TIMEOUT",
        "1500",
        "duration \"1500\" has no unit; write \"1500ms\" or \"1500s\"",
    ),
    (
        "RETRY_PAYMENTS_TIMEOUT",
        "5s",
        "`timeout` (5s) is above `deadline` (3s in the code); a timeout is for one attempt, the deadline for all: \
         write `deadline = \"5s\"` or more, or a shorter `timeout`",
    ),
    (
        "RETRY_PAYMENTS_DELAYS",
        "5s",
        "`delays` cannot be configured; a list of delays belongs in the code: `Policy::with_delays`, \
         or the attribute's `delays`",
    ),
    (
        "RETRY_PAYMENTS_NESTED",
        "add",
        "`nested` cannot be configured; what calls what is known in the code: `Policy::with_nested`, \
         or the attribute's `nested`",
    ),
    (
        "RETRY_ENABLED",
        "no",
        "`enabled` is \"no\", expected true or false without quotes; write `true`, or `false` to turn retries off",
    ),
];

#[test]
fn a_mistake_in_the_environment_is_named_with_its_variable() {
    for (variable, value, message) in IN_VARIABLES {
        let message = message.replace("KEYS", &keys()).replace("PRESETS", IN_ENV);
        let error = refused("", &[(variable, value)]);
        assert_eq!(error, format!("{variable}: {message}"));
    }
}

#[test]
fn a_variable_and_a_line_that_contradict_are_both_named() {
    let error = refused(
        "[payments]|deadline = '2s'",
        &[("RETRY_PAYMENTS_TIMEOUT", "5s")],
    );
    assert_eq!(
        error,
        "RETRY_PAYMENTS_TIMEOUT: `timeout` (5s) is above `deadline` (2s in retry.toml:2); \
         a timeout is for one attempt, the deadline for all: write `deadline = \"5s\"` or more, or a shorter `timeout`"
    );
    let error = refused("[payments]|atempts = 2", &[("RETRY_COUNT", "2")]);
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[test]
fn keys_of_a_budget_that_contradict_are_refused_at_the_second() {
    let error = refused(
        "[payments.budget]|kind = 'aws'|ratio = 0.5|capacity = 9",
        &[],
    );
    assert_eq!(
        error,
        "retry.toml:3: payments.budget: `kind` and `ratio` both choose the numbers; remove one of the two"
    );
}

#[test]
fn a_variable_without_a_key_is_of_the_preset_with_the_longest_name() {
    for names in [["p", "p-more"], ["p-more", "p"]] {
        let presets = names.map(|name| &*Box::leak(Box::new(Preset::new(name, Policy::new()))));
        let source = Source::new(presets)
            .with_env_from("RETRY", [("RETRY_P_MORE_ATEMPTS", "2")])
            .unwrap();
        let error = source.apply().unwrap_err().to_string();
        assert!(error.contains("unknown key `atempts`"), "{error}");
    }
}

#[test]
fn a_key_that_is_given_twice_in_one_place_is_refused() {
    let twice = "`attempts` is given twice, expected each key once; remove one of the two";
    let tables = "[db.read-only]|attempts = 2|['db.read-only']|attempts = 3";
    assert_eq!(
        refused(tables, &[]),
        format!("retry.toml:4: db.read-only.attempts: {twice}")
    );
    for values in [["2", "10"], ["10", "2"], ["2", "2"]] {
        let variables = values.map(|value| ("RETRY_PAYMENTS_ATTEMPTS", value));
        assert_eq!(
            refused("", &variables),
            format!("RETRY_PAYMENTS_ATTEMPTS: {twice}")
        );
    }
    let switch = ["true", "false"].map(|value| ("RETRY_ENABLED", value));
    assert_eq!(
        refused("", &switch),
        "RETRY_ENABLED: `enabled` is given twice, expected each key once; remove one of the two"
    );
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;

    let refused = |variables: [(OsString, OsString); 2]| {
        let source = Source::new(presets()).with_env_from("RETRY", variables);
        source.unwrap().apply().unwrap_err().to_string()
    };
    let value = OsString::from_vec(vec![b'2', 0xFF]);
    assert_eq!(
        refused([
            ("RETRY_PAYMENTS_ATTEMPTS".into(), value.clone()),
            ("OTHER".into(), value.clone())
        ]),
        "RETRY_PAYMENTS_ATTEMPTS: is not UTF-8, expected text in UTF-8; write `4`, `full` or `1.5s`, for example"
    );
    let name = OsString::from_vec(b"RETRY_PAYMENTS_ATTEMPT\xFF".to_vec());
    let error = refused([(name, "2".into()), (value, "2".into())]);
    let expected =
        "RETRY_PAYMENTS_ATTEMPT\u{FFFD}: unknown key `attempt\u{FFFD}`; did you mean `attempts`?";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_prefix_that_no_variable_has_is_refused() {
    for prefix in ["", "RETRY_", "retry", "A-B", "Ä"] {
        let error = Source::new(presets()).with_env(prefix).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "env: found \"{prefix}\", expected a prefix of `A` to `Z`, digits and `_`, without `_` at its end; \
                 write \"RETRY\", for example"
            )
        );
    }
}

#[test]
fn presets_of_the_same_name_are_refused() {
    static DASH: Preset = Preset::new("db-read", Policy::new());
    static DOT: Preset = Preset::new("db.read", Policy::new());
    static DOT_TOO: Preset = Preset::new("db.read", Policy::new());
    let message = |presets: [&'static Preset; 2]| {
        let error = Source::new(presets).apply().unwrap_err();
        error.to_string()
    };
    assert_eq!(
        message([&DASH, &DOT]),
        "presets: `db-read` and `db.read` are both `DB_READ` in the environment, expected a name for each; \
         rename one of them"
    );
    assert_eq!(
        message([&DOT, &DOT_TOO]),
        "presets: two presets have the name `db.read`, expected a name for each; rename one of them"
    );
    assert_eq!(
        message([&DOT, &DOT]),
        "presets: `db.read` is given twice, expected each preset once; remove one from `Source::new`"
    );
}

#[test]
fn each_problem_can_be_taken_apart() {
    let source = Source::new(presets()).with_toml_text("retry.toml", "\nattempts = 2");
    let source = source.with_env_from("APP", [("APP_COUNT", "2")]).unwrap();
    let error = source.apply().unwrap_err();
    let [first, second] = error.problems() else {
        panic!("{error}");
    };
    assert_eq!((first.origin(), first.line()), ("retry.toml", Some(2)));
    assert!(first.message().starts_with("`attempts` is in no preset"));
    assert_eq!((second.origin(), second.line()), ("APP_COUNT", None));
}

#[test]
fn settings_that_contradict_each_other_come_after_all_other_mistakes() {
    let text = "[payments]|timeout = '5s'|deadline = '4s'|[search]|atempts = 2";
    let error = refused(text, &[("RETRY_COUNT", "2")]);
    let places = error
        .lines()
        .map(|line| line.split_once(": ").expect("a place").0);
    assert_eq!(
        places.collect::<Vec<_>>(),
        ["retry.toml:5", "RETRY_COUNT", "retry.toml:2"]
    );
}

/// Pieces of TOML, right and wrong.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[payments]\n".to_owned()),
        Just("[db.read-only]\n".to_owned()),
        Just("enabled = ".to_owned()),
        Just("attempts = ".to_owned()),
        Just("timeout = '".to_owned()),
        Just("deadline = '1m 30s'\n".to_owned()),
        "[0-9]{1,30}",
        "[a-z.\\[\\]{}='\"#\\\\µ\r\n\t -]{0,8}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn whatever_is_written_is_applied_or_refused_in_one_line_for_each_mistake(
        text in texts(),
        variable in "(PAYMENTS_|DB_READ_ONLY_|)(ATTEMPTS|FACTOR|JITTER|TIMEOUT|[A-Z_\n]{0,6})",
        value in "[0-9a-z.\n-]{0,40}",
    ) {
        let presets = presets();
        let source = Source::new(presets).with_toml_text("retry.toml", text);
        let source = source.with_env_from("RETRY", [(format!("RETRY_{variable}"), value)]).unwrap();
        match source.apply() {
            Ok(()) => {}
            Err(error) => {
                prop_assert_eq!(error.to_string().lines().count(), error.problems().len(), "{}", error);
                prop_assert!(!error.problems().is_empty());
                prop_assert_eq!(presets[0].policy(), PAYMENTS);
            }
        }
    }
}

#[test]
fn a_source_goes_to_other_threads() {
    fn assert_goes<T: Send + Sync + Clone + 'static>(_: &T) {}
    assert_goes(&Source::new(presets()));
}
