//! Events reach the crate `log` if no subscriber is set and `tracing` passes them on. A subscriber in the same
//! process would take them, so this is its own test binary.

use std::io;
use std::sync::{Mutex, Once};
use std::time::Duration;

use log::{LevelFilter, Log, Metadata, Record};
use reattempt::retry;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Lines;

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let line = format!("{} {}", record.level(), record.args());
        LINES.lock().unwrap().push(line);
    }

    fn flush(&self) {}
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Lines).unwrap();
        log::set_max_level(LevelFilter::Debug);
    });
}

/// The lines of one function. Each test has its own function.
fn lines(function: &str) -> Vec<String> {
    let field = format!("function={function:?}");
    let mut lines = LINES.lock().unwrap().clone();
    lines.retain(|line| line.contains(&field));
    lines
}

#[tokio::test(start_paused = true)]
async fn events_reach_the_crate_log() {
    #[retry(attempts = 2, on = "io::Error", name = "fails")]
    async fn fails() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }

    listen();
    fails().await.unwrap_err();
    let lines = lines("fails");
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(
        lines[0].starts_with("DEBUG attempt failed, retrying"),
        "{lines:#?}"
    );
    assert!(lines[1].starts_with("WARN gave up"), "{lines:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_storm_does_not_flood_the_crate_log() {
    #[retry(attempts = 2, delays = ["0s"], on = "io::Error", budget = "none", name = "storm")]
    async fn storm() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }

    listen();
    for _ in 0..100 {
        storm().await.unwrap_err();
    }
    assert_eq!(lines("storm").len(), 20);
    tokio::time::advance(Duration::from_secs(1)).await;
    storm().await.unwrap_err();
    let lines = lines("storm");
    assert_eq!(lines.len(), 22, "{lines:#?}");
    for line in &lines[20..] {
        assert!(line.contains("left_out=90"), "{line}");
    }
}
