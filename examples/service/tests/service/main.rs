//! The running service: what a browser shows of it, and what Prometheus gets from it.
//!
//! `--screenshot` writes the picture in `docs/` anew.

mod browser;
mod dashboard;
mod guide;
mod numbers;
mod page;
mod program;
mod prometheus;
mod readable;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use std::{env, fs};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a test returns: an error fails it, as a panic does.
type Tested = Result<(), Failure>;

/// How long anything may take, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs that a test starts, and the Debian packages that have them.
type Needed = [(&'static str, &'static str)];

/// What the service starts.
const SERVERS: &Needed = &[("redis-server", "redis-server"), ("initdb", "postgresql")];
const BROWSER: &Needed = &[
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
];
const PROMETHEUS: &Needed = &[("prometheus", "prometheus")];

fn main() -> ExitCode {
    let (own, others): (Vec<_>, Vec<_>) = env::args().partition(|given| given == "--screenshot");
    if !own.is_empty() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        return match run(page::take_picture(docs.join("service.png"))) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let page = [SERVERS, BROWSER].concat();
    let scraped = [SERVERS, PROMETHEUS].concat();
    let trials = vec![
        trial("the_page_shows_the_numbers_of_metrics", &page, || {
            run(page::shows_numbers())
        }),
        trial("each_button_has_its_effect", &page, || {
            run(page::buttons_act())
        }),
        trial("the_policy_table_follows_a_reload", &page, || {
            run(page::follows_reload())
        }),
        trial("every_text_on_the_page_can_be_read", &page, || {
            run(readable::in_every_theme())
        }),
        trial("every_query_returns_data", &scraped, || {
            run(dashboard::queries_return_data())
        }),
        trial(
            "panels_have_room_and_units",
            &[],
            dashboard::panels_have_room_and_units,
        ),
        trial(
            "the_guide_for_operators_names_every_failure",
            &[],
            guide::names_every_failure,
        ),
    ];
    libtest_mimic::run(&Arguments::from_iter(others), trials).exit_code()
}

/// A test that is ignored where a program is missing. Where the variable `CI` is set, it fails there.
fn trial(name: &str, needed: &Needed, test: impl FnOnce() -> Tested + Send + 'static) -> Trial {
    let missing = needed.iter().filter(|(program, _)| !is_installed(program));
    let missing: Vec<_> = missing
        .map(|(program, package)| format!("`{program}` (apt-get install {package})"))
        .collect();
    Trial::ignorable_test(name, move || {
        if missing.is_empty() {
            test().map_err(|error| Failed::from(error.to_string()))?;
            return Ok(Completion::Completed);
        }
        let reason = format!("not installed: {}", missing.join(", "));
        if env::var_os("CI").is_some() {
            return Err(reason.into());
        }
        Ok(Completion::ignored_with(reason))
    })
}

/// Whether a program is on the path, or where Debian puts those of Postgres.
fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut folders =
        env::split_paths(&path).chain(versions.map(|version| version.path().join("bin")));
    folders.any(|folder| folder.join(program).is_file())
}

fn run(test: impl Future<Output = Tested>) -> Tested {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(test)
}

/// Asks a program to end, as control-C does, and waits until it has.
fn end(process: &mut std::process::Child) {
    let id = process.id().to_string();
    // It may have ended already, which is no error here.
    let _: std::io::Result<_> = Command::new("kill")
        .args(["-TERM", &id])
        .stderr(Stdio::null())
        .status();
    let _: std::io::Result<_> = process.wait();
}
