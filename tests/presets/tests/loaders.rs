//! A service has its presets in its own configuration, read by `toml` alone, by figment, or by config-rs: what it reads, how
//! it reloads, and what each says of each mistake.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use reattempt::{
    Policy, Preset, Settings, SettingsError, configure, is_enabled, retry, set_enabled, testing,
};
use serde::Deserialize;

static PAYMENTS: Preset = Preset::new("payments", CODE.with_deadline(Duration::from_secs(3)));
static SEARCH: Preset = Preset::new("search", CODE);
const CODE: Policy = Policy::new().with_attempts(4);

/// All settings of the service.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct App {
    port: u16,
    retry: Retry,
}

#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Retry {
    enabled: Option<bool>,
    payments: Settings,
    search: Settings,
}

impl Retry {
    fn apply(&self) -> Result<(), SettingsError> {
        configure([(&PAYMENTS, self.payments), (&SEARCH, self.search)])?;
        if let Some(enabled) = self.enabled {
            set_enabled(enabled);
        }
        Ok(())
    }
}

type Loaded = Result<App, Box<dyn Error>>;

mod by_toml {
    use super::{Loaded, Path};

    pub(crate) fn load(file: &Path) -> Loaded {
        let text = std::fs::read_to_string(file)?;
        Ok(toml::from_str(&text)?)
    }
}

mod by_figment {
    use figment::Figment;
    use figment::providers::{Env, Format as _, Toml};

    use super::{Loaded, Path};

    pub(crate) fn load(file: &Path) -> Loaded {
        let app = Figment::new()
            .merge(Toml::file_exact(file))
            .merge(Env::prefixed("APP_").split("__"))
            .extract()?;
        Ok(app)
    }
}

mod by_config {
    use config::{Config, Environment, File};

    use super::{Loaded, Path};

    pub(crate) fn load(file: &Path) -> Loaded {
        let variables = Environment::with_prefix("APP")
            .prefix_separator("_")
            .separator("__")
            .try_parsing(true);
        let app = Config::builder()
            .add_source(File::from(file))
            .add_source(variables)
            .build()?
            .try_deserialize()?;
        Ok(app)
    }
}

type Load = fn(&Path) -> Loaded;

const LOADERS: [(&str, Load); 3] = [
    ("toml", by_toml::load),
    ("figment", by_figment::load),
    ("config", by_config::load),
];

fn reload(load: Load, file: &Path) -> Result<(), String> {
    let app = load(file).map_err(|error| error.to_string())?;
    app.retry.apply().map_err(|error| error.to_string())
}

fn in_code() -> [Policy; 2] {
    [CODE.with_deadline(Duration::from_secs(3)), CODE]
}

fn policies() -> [Policy; 2] {
    [PAYMENTS.policy(), SEARCH.policy()]
}

#[test]
fn a_service_reloads_its_presets_from_its_own_file() {
    #[retry(policy = SEARCH, budget = "none", on = "io::Error")]
    async fn search(attempts: &mut u32, during: impl Fn(u32)) -> io::Result<()> {
        *attempts += 1;
        during(*attempts);
        Err(io::ErrorKind::ConnectionReset.into())
    }

    for (name, load) in LOADERS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("app.toml");
        let put = |text: &str| {
            fs::write(&file, text).unwrap();
            reload(load, &file)
        };
        let service = async {
            put("port = 80\n[retry.payments]\nattempts = 2\n[retry.search]\ntimeout = '250ms'")
                .unwrap();
            let [payments, search_in_code] = in_code();
            let search_set = search_in_code
                .clone()
                .with_timeout(Duration::from_millis(250));
            assert_eq!(
                policies(),
                [payments.clone().with_attempts(2), search_set],
                "{name}"
            );

            // A call that runs keeps its policy, and the next one has the new one. The key that is gone is that of the code.
            let reloads = |attempt| {
                if attempt == 1 {
                    put("[retry.search]\nattempts = 6").unwrap();
                }
            };
            let mut attempts = 0;
            search(&mut attempts, reloads).await.unwrap_err();
            assert_eq!(attempts, 4, "{name}");
            assert_eq!(
                policies(),
                [payments.clone(), search_in_code.clone().with_attempts(6)],
                "{name}"
            );
            attempts = 0;
            search(&mut attempts, |_| ()).await.unwrap_err();
            assert_eq!(attempts, 6, "{name}");

            // A mistake beside settings that are right: nothing changes, retries are still on.
            let before = policies();
            put("[retry]\nenabled = false\nsearch.attempts = 5\npayments.atempts = 2").unwrap_err();
            put("[retry]\nenabled = false\nsearch.attempts = 5\npayments.timeout = '5s'")
                .unwrap_err();
            assert_eq!(policies(), before, "{name}");
            assert!(is_enabled(), "{name}");

            // An operator turns retries off by a button. A reload of a file without `enabled` does not turn them on again.
            set_enabled(false);
            put("[retry.search]\nattempts = 5").unwrap();
            assert!(!is_enabled(), "{name}");
            put("[retry]\nenabled = true").unwrap();
            assert!(is_enabled(), "{name}");
            assert_eq!(policies(), in_code(), "{name}");
        };
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(testing::Scope::new().run(service));
    }
}

/// The mistakes, each below `[retry.payments]`, whose deadline is 3s in the code.
#[rustfmt::skip]
const MISTAKES: &[(&str, &str)] = &[
    ("no unit", "timeout = '1.5'"),
    ("no unit at the end", "timeout = '1m 30'"),
    ("a number", "timeout = 1500"),
    ("no text", "timeout = 1.5s"),
    ("an unknown unit", "timeout = '5secnds'"),
    ("a blank in a number", "timeout = '1 5s'"),
    ("a negative duration", "timeout = '-5s'"),
    ("zero", "timeout = '0s'"),
    ("too long", "max_retry_after = '25h'"),
    ("too long to add up", "base = '18446744073709551615s 1000ms'"),
    ("an unknown key", "colour = 2"),
    ("a typing error in a key", "atempts = 2"),
    ("an unknown key of a budget", "budget.size = 2"),
    ("an unknown preset", "attempts = 2\n[retry.payment]\nattempts = 2"),
    ("an unknown word", "jitter = 'ful'"),
    ("the word of a budget that is no table", "budget = 'none'"),
    ("a wrong type", "attempts = 'two'"),
    ("a list", "attempts = [2]"),
    ("no attempt", "attempts = 0"),
    ("negative attempts", "attempts = -1"),
    ("half an attempt", "attempts = 1.5"),
    ("more attempts than can be counted", "attempts = 4294967295"),
    ("not a number", "factor = nan"),
    ("infinite", "budget.refill = inf"),
    ("a factor out of range", "factor = 0.5"),
    ("a number in quotes", "factor = '2'"),
    ("a flag in place of a number", "factor = true"),
    ("a number of tokens out of range", "budget.capacity = 268436"),
    ("negative tokens", "budget.retry_cost = -1"),
    ("half a token", "budget.capacity = 1.5"),
    ("a ratio out of range", "budget.ratio = 10"),
    ("two contradicting keys", "timeout = '2s'\ndeadline = '1s'"),
    ("two pairs of contradicting keys", "timeout = '2s'\ndeadline = '1s'\nhedge = '2s'"),
    ("a contradiction with the code", "timeout = '5s'"),
    ("a budget from two sources", "budget = { kind = 'aws', ratio = 0.1 }"),
    ("a key of the attribute alone", "delays = ['1s']"),
    ("months", "timeout = '5M'"),
    ("the word of no limit", "timeout = 'none'"),
    ("the word of a list", "backoff = 'delays'"),
    ("a budget without a token", "budget.capacity = 0"),
    ("a number of no budget", "budget = { kind = 'none', capacity = 1 }"),
    ("one number, set twice", "budget = { ratio = 0.5, reward = 1 }"),
    ("a base above the longest delay", "base = '30s'"),
    ("a hedge at the timeout", "timeout = '1s'\nhedge = '1s'"),
];

/// What one loader says of a file that has a mistake.
fn said(load: Load, file: &Path) -> String {
    let refused = || {
        let error = reload(load, file).expect_err("the mistake is refused");
        assert_eq!(policies(), in_code(), "nothing changes");
        error
    };
    let error = testing::Scope::new().run_blocking(refused).0;
    let folder = file.parent().unwrap().to_str().unwrap();
    // config-rs shows some paths from the working folder.
    let error = error.replace(folder, "FOLDER").replace("../", "");
    error.replace("..FOLDER", "FOLDER")
}

#[cfg(unix)]
#[test]
fn mistakes_in_files_are_refused_by_each_loader() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.toml");
    let mut page = String::new();
    let mut tell = |what: &str| {
        let _ = writeln!(page, "## {what}");
        for (name, load) in LOADERS {
            let _ = writeln!(page, "{name}: {}", said(load, &file).trim_end());
        }
        page.push('\n');
    };
    tell("no file");
    fs::write(&file, b"[retry.payments]\njitter = 'f\xFFll'").unwrap();
    tell("not UTF-8");
    for (what, text) in MISTAKES {
        fs::write(&file, format!("[retry.payments]\n{text}")).unwrap();
        tell(&format!("{what}\n{text}"));
    }
    insta::assert_snapshot!(page);
}

const VARIABLES: &[(&str, &str, &[u8])] = &[
    ("no unit", "APP_RETRY__PAYMENTS__TIMEOUT", b"1500"),
    (
        "a blank in a number",
        "APP_RETRY__PAYMENTS__TIMEOUT",
        b"1 5s",
    ),
    ("a typing error", "APP_RETRY__PAYMENTS__ATEMPTS", b"2"),
    ("an unknown preset", "APP_RETRY__PAYMENT__ATTEMPTS", b"2"),
    ("zero", "APP_RETRY__PAYMENTS__ATTEMPTS", b"0"),
    ("too many", "APP_RETRY__PAYMENTS__ATTEMPTS", b"4294967295"),
    ("not UTF-8", "APP_RETRY__PAYMENTS__ATTEMPTS", b"2\xFF"),
];

/// Runs as another process, whose variables are those of one case.
#[test]
#[ignore = "run by the tests of variables, with variables"]
fn with_variables() {
    let file = std::env::var_os("FILE_OF_TEST").unwrap();
    for (name, load) in &LOADERS[1..] {
        let ((), _) =
            testing::Scope::new().run_blocking(|| match reload(*load, Path::new(&file)) {
                Ok(()) => println!("{name}: {:?}", policies().map(|policy| policy.attempts())),
                Err(error) => {
                    assert_eq!(policies(), in_code());
                    println!("{name}: {}", error.trim_end());
                }
            });
    }
    println!("## end");
}

/// What figment and config-rs say with this variable and this file.
fn said_with(variable: &str, value: OsString, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.toml");
    fs::write(&file, text).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "loaders::with_variables",
            "--ignored",
            "--nocapture",
        ])
        .env(variable, value)
        .env("FILE_OF_TEST", &file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, said) = text.split_once("figment: ").unwrap();
    let (said, _) = said.split_once("## end").unwrap();
    format!("figment: {said}")
}

#[test]
fn a_variable_overrides_one_key_of_the_file() {
    let text = "[retry.payments]\nattempts = 2\n[retry.search]\nattempts = 3";
    let said = said_with("APP_RETRY__PAYMENTS__ATTEMPTS", "5".into(), text);
    assert_eq!(
        said,
        "figment: [Some(5), Some(3)]\nconfig: [Some(5), Some(3)]\n"
    );
}

#[cfg(unix)]
#[test]
fn mistakes_in_variables_are_refused_by_each_loader() {
    use std::os::unix::ffi::OsStringExt as _;

    let mut page = String::new();
    for (what, variable, value) in VARIABLES {
        let said = said_with(variable, OsString::from_vec(value.to_vec()), "");
        assert!(!said.contains("Some("), "{said}");
        let value = String::from_utf8_lossy(value);
        let _ = writeln!(page, "## {what}\n{variable}={value}\n{said}");
    }
    insta::assert_snapshot!(page);
}

/// What the guide shows of the loaders and of their messages is what stands in this file, and what they said above.
#[test]
fn the_guide_shows_these_loaders_and_their_messages() {
    let guide = include_str!("../../../src/guide/configuring.md");
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut said = include_str!("loaders.rs").to_owned();
    for of in ["files", "variables"] {
        let name = format!("presets__loaders__mistakes_in_{of}_are_refused_by_each_loader.snap");
        said += &fs::read_to_string(snapshots.join(name)).unwrap();
    }
    let said = said.replace("FOLDER/", "");
    let mut shown = 0;
    for block in guide.split("```text\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for line in block.lines() {
            assert!(said.contains(line.trim()), "{line}");
            shown += 1;
        }
    }
    assert_eq!(shown, 5);
}

#[test]
fn config_reads_the_number_of_a_variable_only_if_it_parses_variables() {
    let variable = ("APP_RETRY__PAYMENTS__ATTEMPTS", "5");
    let variable = [variable].map(|(name, value)| (name.to_owned(), value.to_owned()));
    for parses in [false, true] {
        let variables = config::Environment::with_prefix("APP")
            .prefix_separator("_")
            .separator("__")
            .try_parsing(parses)
            .source(Some(variable.clone().into()));
        let read = config::Config::builder().add_source(variables).build();
        let app = read.unwrap().try_deserialize::<App>();
        assert_eq!(app.is_ok(), parses, "{app:?}");
    }
}
