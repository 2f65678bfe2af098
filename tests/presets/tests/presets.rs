//! Files and variables override presets, at the start and at a reload.

use std::env::current_exe;
use std::fs;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use reattempt::config::{ConfigError, Source};
use reattempt::{Jitter, Outcome, Policy, Preset, observe, retry};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn sources_override_each_other_key_by_key_in_the_order_of_precedence() {
    const CODE: Policy = Policy::new().with_attempts(4).with_timeout(ms(100));
    static PAYMENTS: Preset = Preset::new("payments", CODE);
    static SEARCH: Preset = Preset::new("search", CODE);
    let source = Source::new([&PAYMENTS, &SEARCH])
        // Variables override files, even if they are named before the files.
        .with_env_from("RETRY", [("RETRY_PAYMENTS_ATTEMPTS", " 2 ")])
        .unwrap()
        .with_toml_text(
            "first.toml",
            "[payments]\nattempts = 5\ntimeout = '200ms'\njitter = 'equal'",
        )
        .with_toml_text("second.toml", "[payments]\ntimeout = '300ms'");
    source.apply().unwrap();
    let expected = CODE
        .with_attempts(2)
        .with_timeout(ms(300))
        .with_jitter(Jitter::Equal);
    assert_eq!(PAYMENTS.policy(), expected);
    assert_eq!(SEARCH.policy(), CODE);
}

#[test]
fn names_with_dots_and_dashes_are_tables_and_variables() {
    static DB: Preset = Preset::new("db", Policy::new());
    static READ: Preset = Preset::new("db.read-only", Policy::new());
    static MAX: Preset = Preset::new("db.max", Policy::new());
    let presets = || Source::new([&DB, &READ, &MAX]);
    for text in [
        "[db]\nattempts = 5\n[db.read-only]\nattempts = 6",
        "['db']\nattempts = 5\n['db.read-only']\nattempts = 6",
        "db.attempts = 5\ndb.read-only.attempts = 0x6",
        "\u{feff}[db]\r\nattempts = 5\r\nread-only = { attempts = 6 }\r\n",
    ] {
        presets()
            .with_toml_text("retry.toml", text)
            .apply()
            .unwrap();
        assert_eq!(DB.policy().attempts(), Some(5), "{text}");
        assert_eq!(READ.policy().attempts(), Some(6), "{text}");
        presets().apply().unwrap();
        assert_eq!(READ.policy(), Policy::new());
    }
    let variables = [
        ("RETRY_DB_MAX_DELAY", "1s"),
        ("RETRY_DB_READ_ONLY_MAX_DELAY", "2s"),
        ("RETRY_DB_MAX_MAX_DELAY", "3s"),
        ("RETRYING", "yes"),
    ];
    let source = presets().with_env_from("RETRY", variables).unwrap();
    source.apply().unwrap();
    let delays = [&DB, &READ, &MAX].map(|preset| preset.policy().max_delay());
    assert_eq!(delays, [ms(1000), ms(2000), ms(3000)]);
}

#[test]
fn a_preset_whose_name_ends_like_a_key_has_a_table() {
    static DB: Preset = Preset::new("db", Policy::new());
    static BASE: Preset = Preset::new("db.base", Policy::new());
    for text in [
        "[db]\nbase = '5ms'\n['db.base']\nattempts = 6",
        "[db.base]\nattempts = 6",
        "[db]\nattempts = 5\n[db.base]\nattempts = 6",
    ] {
        let source = Source::new([&DB, &BASE]).with_toml_text("retry.toml", text);
        source.apply().unwrap();
        assert_eq!(BASE.policy().attempts(), Some(6), "{text}");
    }
    assert_eq!(DB.policy().attempts(), Some(5));
}

#[test]
fn a_variable_of_two_presets_is_of_the_one_with_the_longer_name() {
    for names in [["db", "db.throttled"], ["db.throttled", "db"]] {
        let presets = names.map(|name| &*Box::leak(Box::new(Preset::new(name, Policy::new()))));
        let source = Source::new(presets)
            .with_env_from("RETRY", [("RETRY_DB_THROTTLED_BASE", "3s")])
            .unwrap();
        source.apply().unwrap();
        for preset in presets {
            let expected = match preset.name() {
                "db" => Policy::new(),
                _ => Policy::new().with_base(ms(3000)),
            };
            assert_eq!(preset.policy(), expected, "{names:?}");
        }
    }
}

#[test]
fn a_reload_reads_the_file_again_and_a_preset_that_is_gone_returns_to_its_code() {
    static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_attempts(4));
    static SEARCH: Preset = Preset::new("search", Policy::new());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("retry.toml");
    let write = |text: &str| fs::write(&path, text).unwrap();
    let attempts = || [&PAYMENTS, &SEARCH].map(|preset| preset.policy().attempts());

    write("[payments]\nattempts = 2\n[search]\nattempts = 'unlimited'");
    let source = Source::new([&PAYMENTS, &SEARCH])
        .with_toml_file(&path)
        .unwrap();
    assert_eq!(attempts(), [Some(4), Some(3)], "nothing is applied yet");
    source.apply().unwrap();
    assert_eq!(attempts(), [Some(2), None]);

    write("[payments]\nattempts = 6\n[search]\nattempts = 0");
    source.apply().unwrap_err();
    assert_eq!(attempts(), [Some(2), None], "all or nothing");

    write("[search]\nattempts = 5");
    source.apply().unwrap();
    assert_eq!(attempts(), [Some(4), Some(5)]);

    fs::remove_file(&path).unwrap();
    let error: ConfigError = source.apply().unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
    assert_eq!(attempts(), [Some(4), Some(5)]);
}

#[test]
fn a_contradiction_within_the_code_is_not_reported() {
    static ODD: Preset = Preset::new(
        "odd",
        Policy::new().with_timeout(ms(9)).with_deadline(ms(5)),
    );
    let source = Source::new([&ODD]).with_toml_text("retry.toml", "[odd]\nattempts = 2");
    source.apply().unwrap();
    assert_eq!(ODD.policy().attempts(), Some(2));
}

#[test]
fn a_backoff_replaces_the_delays_of_the_code() {
    const DELAYS: Policy = Policy::new().with_delays(&[Duration::ZERO]);
    static LIST: Preset = Preset::new("list", DELAYS);
    let text = "[list]\nbackoff = 'constant'\nbase = '1s'\njitter = 'none'";
    let source = Source::new([&LIST]).with_toml_text("retry.toml", text);
    source.apply().unwrap();
    let policy = LIST.policy();
    assert_eq!(policy.attempts(), Some(2));
    assert_eq!(policy.delay_range(0, None), ms(1000)..=ms(1000));

    let others = Source::new([&LIST]).with_toml_text("retry.toml", "[list]\ntimeout = '1s'");
    others.apply().unwrap();
    assert_eq!(LIST.policy(), DELAYS.with_timeout(ms(1000)));
}

#[tokio::test(start_paused = true)]
async fn calls_take_their_policy_when_they_begin_and_keys_of_the_attribute_win() {
    static CALLS: Preset = Preset::new("calls", Policy::new().with_attempts(2));

    #[retry(policy = &CALLS, budget = "none")]
    async fn fails(calls: &AtomicU32, load: impl Fn(u32)) -> io::Result<()> {
        load(calls.fetch_add(1, Relaxed));
        Err(io::ErrorKind::ConnectionReset.into())
    }

    #[retry(policy = &CALLS, attempts = 3, budget = "none")]
    async fn thrice(calls: &AtomicU32) -> io::Result<()> {
        calls.fetch_add(1, Relaxed);
        Err(io::ErrorKind::ConnectionReset.into())
    }

    let load = |text: &str| {
        let source = Source::new([&CALLS]).with_toml_text("retry.toml", text);
        source.apply().unwrap();
    };
    let calls = AtomicU32::new(0);
    // The reload happens in the middle of the call.
    fails(&calls, |_| load("[calls]\nattempts = 5"))
        .await
        .unwrap_err();
    assert_eq!(calls.swap(0, Relaxed), 2);
    fails(&calls, |_| ()).await.unwrap_err();
    assert_eq!(calls.swap(0, Relaxed), 5);
    thrice(&calls).await.unwrap_err();
    assert_eq!(calls.swap(0, Relaxed), 3);
    let run = CALLS.run(async || Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset)));
    let (_, report) = observe(run).await;
    assert_eq!(report.unwrap().attempts(), 5);
}

/// As `docs/CONFIGURATION.md` says.
#[tokio::test(start_paused = true)]
async fn unlimited_attempts_remove_the_default_budget() {
    static ENDLESS: Preset = Preset::new("endless", Policy::new().with_max_delay(ms(1)));
    #[retry(policy = &ENDLESS)]
    async fn recovers(calls: &AtomicU32) -> io::Result<()> {
        match calls.fetch_add(1, Relaxed) {
            // The budget allows every retry of this call for two seconds.
            10_000 => Ok(()),
            _ => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
    for (attempts, expected) in [
        ("4294967294", Outcome::Budget),
        ("'unlimited'", Outcome::SuccessAfterRetry),
    ] {
        let text = format!("[endless]\nbase = '1ms'\nattempts = {attempts}");
        let source = Source::new([&ENDLESS]).with_toml_text("retry.toml", text);
        source.apply().unwrap();
        let (_, report) = observe(recovers(&AtomicU32::new(0))).await;
        assert_eq!(report.unwrap().outcome(), expected, "{attempts}");
    }
    let page = include_str!("../../../docs/CONFIGURATION.md");
    assert!(page.contains("`attempts = \"unlimited\"` removes the default budget too."));
}

/// The test sets variables for a child process.
#[test]
fn the_environment_of_the_process_is_read() {
    static WORKER: Preset = Preset::new("worker", Policy::new());
    const PREFIX: &str = "REATTEMPT_TEST";
    Source::new([&WORKER])
        .with_env(PREFIX)
        .unwrap()
        .apply()
        .unwrap();
    if std::env::var_os("REATTEMPT_TEST_WORKER_ATTEMPTS").is_some() {
        assert_eq!(WORKER.policy().attempts(), Some(7));
        return;
    }
    assert_eq!(WORKER.policy(), Policy::new());
    let status = Command::new(current_exe().unwrap())
        .args(["--exact", "the_environment_of_the_process_is_read"])
        .env("REATTEMPT_TEST_WORKER_ATTEMPTS", "7")
        .status();
    assert!(status.unwrap().success());
}
