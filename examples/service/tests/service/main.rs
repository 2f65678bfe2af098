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
    suite::run(vec![
        trial(
            "the_page_shows_the_numbers_of_metrics",
            &page,
            page::shows_numbers,
        ),
        trial(
            "the_page_shows_what_a_test_scrapes_when_no_call_runs",
            &page,
            page::shows_what_the_test_scrapes,
        ),
        trial(
            "each_upstream_gets_slow_flaky_dead_and_healthy_by_its_button",
            &page,
            buttons::make_upstreams_fail,
        ),
        trial(
            "retries_stop_when_the_budget_is_empty_or_the_switch_is_off",
            &page,
            buttons::stop_retries,
        ),
        trial(
            "the_policy_table_follows_a_reload",
            &page,
            page::follows_reload,
        ),
        trial(
            "every_text_on_the_page_can_be_read",
            &page,
            readable::in_every_theme,
        ),
        trial(
            "other_web_pages_and_other_hosts_get_nothing_and_change_nothing",
            &SERVERS,
            same_origin::guards_every_route,
        ),
        trial(
            "the_own_page_and_programs_are_answered",
            &SERVERS,
            same_origin::answers_its_own_page_and_programs,
        ),
        trial(
            "every_query_names_what_is_recorded_and_returns_data",
            &scraped,
            queries::name_what_is_recorded,
        ),
        trial(
            "each_alert_fires_while_an_upstream_is_dead",
            &[&scraped[..], &[alerts::PROMTOOL]].concat(),
            alerts::fire,
        ),
        trial(
            "every_panel_shows_what_its_title_says",
            &scraped,
            dashboard::panels_show_what_they_say,
        ),
        trial(
            "a_service_that_is_killed_leaves_no_server_behind",
            &SERVERS,
            ends::leaves_nothing_behind,
        ),
        trial(
            "a_service_whose_database_was_killed_ends_when_it_is_asked_to",
            &SERVERS,
            ends::does_not_wait_for_a_dead_database,
        ),
        trial("panels_have_room_and_units", &[], || async {
            dashboard::panels_have_room_and_units()
        }),
        trial(
            "the_guide_for_operators_names_every_failure",
            &[],
            || async { guide::names_every_failure() },
        ),
        trial(
            "each_section_of_the_guide_names_panels_parts_of_the_page_and_events_that_exist",
            &[],
            || async { guide::names_panels_parts_and_events() },
        ),
    ])
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
