//! The running service, as a browser shows it and as Prometheus scrapes it.
//!
//! `--screenshot` writes the picture in `docs/` again.

#![expect(
    clippy::float_cmp,
    reason = "counters are whole numbers, and the page shows a level as it was read"
)]

mod alerts;
mod browser;
mod buttons;
mod charts;
mod dashboard;
mod ends;
mod expected;
mod guide;
mod numbers;
mod page;
mod program;
mod prometheus;
mod queries;
mod readable;
mod same_origin;
mod shown;
mod tables;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use integrations::program::Program;
use integrations::suite::{self, Trial};
use integrations::{postgres, redis};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of a test. An error fails the test, as a panic does.
type Tested = Result<(), Failure>;

/// How long a test waits for something, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// The programs that the service starts.
const SERVERS: [Program; 2] = [redis::PROGRAM, postgres::PROGRAM];

/// The tests, by the programs that they need.
macro_rules! trials {
    ($($programs:expr => $($file:ident::$test:ident),+;)+) => {
        vec![$($(trial(concat!(stringify!($file), "::", stringify!($test)), &$programs, $file::$test),)+)+]
    };
}

fn main() -> ExitCode {
    if env::args().any(|given| given == "--screenshot") {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        return match take_picture(docs.join("service.png")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    let page = [&SERVERS[..], &browser::PROGRAMS].concat();
    let scraped = [&SERVERS[..], &[prometheus::PROGRAM]].concat();
    let alerted = [&scraped[..], &[alerts::PROMTOOL]].concat();
    suite::run(trials! {
        page =>
            page::the_page_shows_the_numbers_of_metrics,
            page::the_page_shows_what_a_test_scrapes_when_no_call_runs,
            buttons::each_upstream_gets_slow_flaky_dead_and_healthy_by_its_button,
            buttons::retries_stop_when_the_budget_is_empty_or_the_switch_is_off,
            page::the_policy_table_follows_a_reload,
            readable::every_text_on_the_page_can_be_read;
        SERVERS =>
            same_origin::other_web_pages_and_other_hosts_get_nothing_and_change_nothing,
            same_origin::the_own_page_and_programs_are_answered,
            ends::a_service_that_is_killed_leaves_no_server_behind,
            ends::a_service_whose_database_was_killed_ends_when_it_is_asked_to;
        scraped =>
            queries::every_query_names_what_is_recorded_and_returns_data,
            dashboard::every_panel_shows_what_its_title_says;
        alerted =>
            alerts::the_alert_for_a_commit_in_doubt_fires_at_the_first_and_at_a_later_one,
            alerts::each_alert_fires_while_an_upstream_is_dead;
        [] =>
            dashboard::panels_have_room_and_units,
            guide::the_guide_for_operators_names_every_failure,
            guide::each_section_of_the_guide_names_panels_parts_of_the_page_and_events_that_exist;
    })
}

/// A test that fails with the error that it returns.
fn trial<F: Future<Output = Tested>>(
    name: &str,
    programs: &[Program],
    test: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    suite::needing(name, programs, || async {
        if let Err(error) = test().await {
            panic!("{error}");
        }
    })
}

fn take_picture(file: PathBuf) -> Tested {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(page::take_picture(file))
}

/// Asks a program to end, as Control-C does, and waits for its end.
fn end(process: &mut std::process::Child) {
    let id = process.id().to_string();
    // It may have ended already, which is not an error here.
    let _: std::io::Result<_> = Command::new("kill")
        .args(["-TERM", &id])
        .stderr(Stdio::null())
        .status();
    let _: std::io::Result<_> = process.wait();
}
