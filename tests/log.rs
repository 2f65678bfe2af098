//! Events reach the crate `log` where no subscriber is set and `tracing` hands them on. A subscriber in the same
//! process would take them, so this is a test of its own.

use std::io;
use std::sync::Mutex;

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

#[tokio::test(start_paused = true)]
async fn events_reach_the_crate_log() {
    #[retry(attempts = 2, on = "io::Error", name = "fails")]
    async fn fails() -> io::Result<()> {
        Err(io::ErrorKind::ConnectionReset.into())
    }

    log::set_logger(&Lines).unwrap();
    log::set_max_level(LevelFilter::Debug);
    fails().await.unwrap_err();
    let lines = LINES.lock().unwrap();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(
        lines[0].starts_with("DEBUG attempt failed, retrying"),
        "{lines:#?}"
    );
    assert!(lines[1].starts_with("WARN gave up"), "{lines:#?}");
    assert!(lines[1].contains(r#"function="fails""#), "{lines:#?}");
}
