//! Wrong configuration: its messages, and that it changes nothing.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::config::{MAX_FILE_BYTES, Source};
use reattempt::{Policy, Preset};

const PAYMENTS: Policy = Policy::new()
    .with_attempts(4)
    .with_timeout(Duration::from_secs(1))
    .with_deadline(Duration::from_secs(3));
const SEARCH: Policy = Policy::new().with_delays(&[Duration::from_millis(5)]);

/// Presets that no other test sets.
fn presets() -> [&'static Preset; 3] {
    [
        Box::leak(Box::new(Preset::new("payments", PAYMENTS))),
        Box::leak(Box::new(Preset::new("search", SEARCH))),
        Box::leak(Box::new(Preset::new("db.read-only", Policy::new()))),
    ]
}

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

const KEYS: &str = "the keys are `attempts`, `timeout`, `deadline`, `backoff`, `base`, `max_delay`, `factor`, \
                    `jitter`, `max_retry_after`";
const PRESETS: &str = "the presets are `payments`, `search`, `db.read-only`";
const IN_ENV: &str = "the presets are `PAYMENTS`, `SEARCH`, `DB_READ_ONLY`";

const IN_FILES: &[(&str, &str)] = &[
    // Names.
    (
        "[payment]|attempts = 2",
        "retry.toml:1: unknown preset `payment`; did you mean `payments`? PRESETS",
    ),
    (
        "[billing]|attempts = 2",
        "retry.toml:1: unknown preset `billing`; PRESETS",
    ),
    (
        "[db.read_only]|attempts = 2",
        "retry.toml:1: unknown preset `db.read_only`; did you mean `db.read-only`? PRESETS",
    ),
    (
        "[DB.read-only]|attempts = 2",
        "retry.toml:1: unknown preset `DB`; PRESETS",
    ),
    (
        "enabld = false",
        "retry.toml:1: unknown preset `enabld`; did you mean `enabled`? PRESETS",
    ),
    (
        "|[payments]|atempts = 2",
        "retry.toml:3: payments: unknown key `atempts`; did you mean `attempts`? KEYS",
    ),
    (
        "[payments]|colour = 2",
        "retry.toml:2: payments: unknown key `colour`; KEYS",
    ),
    (
        "[payments]|'a\\nb' = 2|\"c\\nd\" = 3",
        "retry.toml:2: payments: unknown key `a\\\\nb`; KEYS\nretry.toml:3: payments: unknown key `c\\nd`; KEYS",
    ),
    (
        "[payments]|enabled = false",
        "retry.toml:2: payments: unknown key `enabled`; KEYS",
    ),
    (
        "attempts = 2|[payments]",
        "retry.toml:1: `attempts` is in no preset; write it below `[payments]`",
    ),
    (
        "[payments]|delays = ['1s']",
        "retry.toml:2: payments: `delays` cannot be configured; a list of delays belongs in the code: \
         `Policy::with_delays`, or the attribute's `delays`",
    ),
    // Kinds.
    (
        "payments = 4",
        "retry.toml:1: `payments` is 4, expected a table; write `[payments]`",
    ),
    (
        "db = 4",
        "retry.toml:1: `db` is 4, expected a table; write `[db]`",
    ),
    (
        "[[payments]]|attempts = 2",
        "retry.toml:1: `payments` is a list, expected a table; write `[payments]`",
    ),
    (
        "enabled = 'false'",
        "retry.toml:1: `enabled` is \"false\", expected true or false",
    ),
    (
        "enabled = 0",
        "retry.toml:1: `enabled` is 0, expected true or false",
    ),
    (
        "[payments]|attempts = 'two'",
        "retry.toml:2: payments.attempts: found \"two\", expected a whole number from 1, or \"unlimited\"; \
         write 4, for example",
    ),
    (
        "[payments]|attempts = [2]",
        "retry.toml:2: payments.attempts: found a list, expected a whole number from 1, or \"unlimited\"; \
         write 4, for example",
    ),
    (
        "[payments]|timeout = 07:32:00",
        "retry.toml:2: payments.timeout: found a date or a time, expected a duration; write \"1.5s\", for example",
    ),
    (
        "[payments.timeout]|secs = 1",
        "retry.toml:1: payments.timeout: found a table, expected a duration; write \"1.5s\", for example",
    ),
    (
        "[payments]|jitter = true",
        "retry.toml:2: payments.jitter: found true, expected the name of a jitter; write \"full\", for example",
    ),
    // Ranges.
    (
        "[payments]|attempts = 0",
        "retry.toml:2: payments.attempts: `attempts` is 0, expected at least 1, as the first call counts; \
         write 1 for no retry",
    ),
    (
        "[payments]|attempts = -1",
        "retry.toml:2: payments.attempts: `attempts` is negative (-1), expected at least 1; \
         write 1 for no retry, or \"unlimited\"",
    ),
    (
        "[payments]|attempts = 1.5",
        "retry.toml:2: payments.attempts: found 1.5, expected a whole number from 1, or \"unlimited\"; \
         write 4, for example",
    ),
    (
        "[payments]|attempts = 0xFFFF_FFFF",
        "retry.toml:2: payments.attempts: `attempts` is out of range (4294967295), expected at most 4294967294; \
         write \"unlimited\" for no limit",
    ),
    (
        "[payments]|timeout = '1.5'",
        "retry.toml:2: payments.timeout: duration \"1.5\" has no unit; write \"1.5s\" or \"1.5ms\"",
    ),
    (
        "[payments]|deadline = '2d'",
        "retry.toml:2: payments.deadline: duration \"2d\" is above 24h; write \"24h\" or less",
    ),
    (
        "[payments]|factor = inf",
        "retry.toml:2: payments.factor: factor inf is not from 1 to 1000; write 2.0, for example",
    ),
    (
        "[payments]|jitter = 'Full'",
        "retry.toml:2: payments.jitter: unknown jitter \"Full\"; did you mean \"full\"? `jitter` is one of \"none\", \
         \"full\", \"equal\", \"decorrelated\"",
    ),
    // Together.
    (
        "[payments]|timeout = '5s'|deadline = '4s'",
        "retry.toml:2: payments: `timeout` (5s) is above `deadline` (4s in retry.toml:3); \
         a timeout is for one attempt, the deadline for all",
    ),
    (
        "[payments]|timeout = '5s'",
        "retry.toml:2: payments: `timeout` (5s) is above `deadline` (3s in the code); \
         a timeout is for one attempt, the deadline for all",
    ),
    (
        "[payments]||deadline = '500ms'",
        "retry.toml:3: payments: `timeout` (1s in the code) is above `deadline` (500ms); \
         a timeout is for one attempt, the deadline for all",
    ),
    (
        "[payments]|max_delay = '50ms'",
        "retry.toml:2: payments: `base` (100ms in the code) is above `max_delay` (50ms); \
         write a longer `max_delay`, or a shorter `base`",
    ),
    (
        "[search]|base = '50ms'",
        "retry.toml:2: search: `base` has no effect, since the code sets the delays; \
         write `backoff = \"exponential\"` too, or leave it out",
    ),
    // TOML.
    (
        "[payments]|attempts = 2|attempts = 3",
        "retry.toml:3: is not valid TOML: duplicate key",
    ),
    (
        "[payments]|[payments]",
        "retry.toml:2: is not valid TOML: duplicate key",
    ),
    (
        "[payments|attempts = 2",
        "retry.toml:1: is not valid TOML: unclosed table, expected `]`",
    ),
    (
        "[payments]|timeout = 1.5s",
        "retry.toml:2: is not valid TOML: invalid float; durations and words are in quotes, \"1.5s\"",
    ),
    (
        "[payments]|timeout = 5s",
        "retry.toml:2: is not valid TOML: string values must be quoted, expected literal string",
    ),
    (
        "[payments]|jitter = full",
        "retry.toml:2: is not valid TOML: invalid boolean, expected `false`; durations and words are in quotes, \"1.5s\"",
    ),
    // All at once.
    (
        "enabled = 1|[payments]|attempts = 0|timeout = '5'|[serch]",
        "retry.toml:1: `enabled` is 1, expected true or false\n\
         retry.toml:3: payments.attempts: `attempts` is 0, expected at least 1, as the first call counts; \
         write 1 for no retry\n\
         retry.toml:4: payments.timeout: duration \"5\" has no unit; write \"5s\" or \"5ms\"\n\
         retry.toml:5: unknown preset `serch`; did you mean `search`? PRESETS",
    ),
];

#[test]
fn a_mistake_in_a_file_is_named_with_its_line() {
    for (text, expected) in IN_FILES {
        let expected = expected.replace("KEYS", KEYS).replace("PRESETS", PRESETS);
        assert_eq!(refused(text, &[]), expected, "{text}");
    }
}

const IN_VARIABLES: &[(&str, &str, &str)] = &[
    (
        "RETRY_PAYMENT_ATTEMPTS",
        "2",
        "unknown preset `payment`; did you mean `PAYMENTS`? PRESETS",
    ),
    ("RETRY_COUNT", "2", "unknown preset `count`; PRESETS"),
    (
        "RETRY_ENABLD",
        "false",
        "unknown preset `enabld`; did you mean `enabled`? PRESETS",
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
        "RETRY_PAYMENTS_TIMEOUT",
        "1500",
        "duration \"1500\" has no unit; write \"1500ms\" or \"1500s\"",
    ),
    (
        "RETRY_PAYMENTS_TIMEOUT",
        "5s",
        "`timeout` (5s) is above `deadline` (3s in the code); a timeout is for one attempt, the deadline for all",
    ),
    (
        "RETRY_PAYMENTS_DELAYS",
        "5s",
        "`delays` cannot be configured; a list of delays belongs in the code: `Policy::with_delays`, \
         or the attribute's `delays`",
    ),
    (
        "RETRY_ENABLED",
        "no",
        "`enabled` is \"no\", expected true or false",
    ),
];

#[test]
fn a_mistake_in_the_environment_is_named_with_its_variable() {
    for (variable, value, message) in IN_VARIABLES {
        let message = message.replace("KEYS", KEYS).replace("PRESETS", IN_ENV);
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
         a timeout is for one attempt, the deadline for all"
    );
    let error = refused("[payments]|atempts = 2", &[("RETRY_COUNT", "2")]);
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;

    let value = OsString::from_vec(vec![b'2', 0xFF]);
    let source = Source::new(presets());
    let variables = [("RETRY_PAYMENTS_ATTEMPTS", value.clone()), ("OTHER", value)];
    let error = source.with_env_from("RETRY", variables).unwrap().apply();
    assert_eq!(
        error.unwrap_err().to_string(),
        "RETRY_PAYMENTS_ATTEMPTS: is not UTF-8, expected text in UTF-8"
    );
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
    let error = Source::new([&DASH, &DOT]).apply().unwrap_err();
    assert_eq!(
        error.to_string(),
        "presets: `db-read` and `db.read` are both `DB_READ` in the environment; rename one of them"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str| {
        let path = folder.path().join(name);
        let error = Source::new(presets()).with_toml_file(&path).unwrap_err();
        let shown = path.display().to_string();
        let text = error.to_string();
        let text = text
            .strip_prefix(&shown)
            .unwrap_or_else(|| panic!("{text}"));
        text.to_owned()
    };

    let missing = refused("missing.toml");
    assert!(
        missing.starts_with(": cannot be read: No such file"),
        "{missing}"
    );

    fs::create_dir(folder.path().join("folder.toml")).unwrap();
    assert_eq!(
        refused("folder.toml"),
        ": is a folder, expected a TOML file"
    );

    fs::write(folder.path().join("bad.toml"), b"[payments]\nname = '\xFF'").unwrap();
    assert_eq!(
        refused("bad.toml"),
        ":2: has a byte that is not UTF-8, expected text in UTF-8"
    );

    fs::write(folder.path().join("large.toml"), vec![b'#'; 10_000_000]).unwrap();
    assert_eq!(
        refused("large.toml"),
        ": has more than 1048576 bytes, expected at most 1 MiB"
    );
    let largest = usize::try_from(MAX_FILE_BYTES).unwrap();
    fs::write(folder.path().join("largest.toml"), vec![b'#'; largest]).unwrap();
    let largest = Source::new(presets()).with_toml_file(folder.path().join("largest.toml"));
    largest.unwrap().apply().unwrap();

    // The path leads through a file, which fails for root too.
    let through = refused("bad.toml/retry.toml");
    assert!(
        through.starts_with(": cannot be read: Not a directory"),
        "{through}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.toml");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        println!("skipped: no permission stops this user, who is root");
        return;
    }
    let error = Source::new(presets()).with_toml_file(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cannot be read: Permission denied")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_a_file_is_not_opened() {
    let error = Source::new(presets())
        .with_toml_file("/dev/zero")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "/dev/zero: is not a regular file, expected a TOML file"
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
