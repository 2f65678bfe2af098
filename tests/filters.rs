//! Two layers with filters of their own, in a process of their own: `tracing` keeps the answers of filters in the thread,
//! and the answer to an `enabled!` without an event would else decide about our next line.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use reattempt::retry;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{format::FmtSpan, layer};
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What `sqlx` does after each query: it asks whether a layer wants a line, and then writes none. One layer wants it.
fn ask() {
    assert!(tracing::enabled!(target: "foreign", Level::DEBUG));
}

#[retry(attempts = 2, base = "0s", jitter = "none", budget = "none")]
async fn fails() -> io::Result<()> {
    ask();
    Err(io::ErrorKind::ConnectionReset.into())
}

#[retry(attempts = 2, base = "0s", jitter = "none", budget = "none")]
async fn succeeds_later() -> io::Result<()> {
    let first = reattempt::Attempt::current().is_some_and(|attempt| attempt.number() == 1);
    ask();
    if first {
        Err(io::ErrorKind::ConnectionReset.into())
    } else {
        Ok(())
    }
}

#[tokio::test]
async fn no_line_and_no_span_is_lost_after_a_foreign_question() {
    let (console, everything) = (Text::default(), Text::default());
    let (first, second) = (console.clone(), everything.clone());
    let filter = Targets::new()
        .with_default(LevelFilter::INFO)
        .with_target("reattempt", Level::TRACE);
    let lines = layer().with_ansi(false).with_span_events(FmtSpan::NEW);
    let subscriber = tracing_subscriber::registry()
        .with(lines.with_writer(move || first.clone()).with_filter(filter))
        .with(
            layer()
                .with_writer(move || second.clone())
                .with_filter(LevelFilter::TRACE),
        );
    tracing::subscriber::set_global_default(subscriber).unwrap();
    for _ in 0..3 {
        ask();
        fails().await.unwrap_err();
        let lines = console.take();
        let count = |part| lines.matches(part).count();
        assert_eq!(count("attempt failed, retrying"), 1, "{lines}");
        assert_eq!(count("gave up"), 1, "{lines}");
        assert_eq!(count("reattempt: new"), 3, "{lines}");
        ask();
        succeeds_later().await.unwrap();
        let lines = console.take();
        let count = |part| lines.matches(part).count();
        assert_eq!(count("succeeded after retry"), 1, "{lines}");
        assert_eq!(count("reattempt: new"), 3, "{lines}");
    }
}
