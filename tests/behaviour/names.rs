//! The name of a function, wherever a user reads it: reports, events, spans and `RetryEvent`.

use std::io;
use std::sync::Mutex;

use reattempt::{Budget, retry, with_report};
use tracing::Level;

use crate::events::{Log, assert_line};
use crate::script::{RESET, Script, Step};

struct Client;

const STOCK: &str = "Client::stock";

impl Client {
    #[retry(attempts = 1, name = STOCK)]
    async fn stock(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(attempts = 1, name = label)]
    async fn labelled(&self, label: &'static str, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(attempts = 1)]
    async fn send(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(attempts = 1, name = "Client::fetch")]
    async fn fetch(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }
}

#[async_trait::async_trait]
trait Sends: Sync {
    #[retry(attempts = 1)]
    async fn fetch(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }
}

struct Here;
impl Sends for Here {}

async fn name_in_report<F: Future>(future: F) -> String {
    let report = with_report(future).await.1;
    report.unwrap().function().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_report_names_a_method_with_its_module_or_as_its_key_says() {
    let script = Script::new([RESET]);
    let module = module_path!();
    #[rustfmt::skip]
    let cases = [
        (name_in_report(Client.send(&script)).await, format!("{module}::send")),
        (name_in_report(Here.fetch(&script)).await, format!("{module}::fetch")),
        (name_in_report(Client.fetch(&script)).await, "Client::fetch".to_owned()),
        (name_in_report(Client.stock(&script)).await, STOCK.to_owned()),
        (name_in_report(Client.labelled("Client::fast", &script)).await, "Client::fast".to_owned()),
    ];
    for (name, expected) in cases {
        assert_eq!(name, expected);
    }
}

/// A shop whose price cannot always be had.
#[derive(Default)]
struct App {
    /// The names in the events of `on_retry`.
    seen: Mutex<Vec<&'static str>>,
}

static ONE: Budget = Budget::ratio(0.0).with_capacity(1);

impl App {
    #[retry(attempts = 3, budget = "none", on_retry = |event| self.see(event.function()))]
    async fn price(&self, script: &Script) -> io::Result<usize> {
        tracing::info!("in the body");
        script.play().await
    }

    #[retry(attempts = 3, budget = ONE, on_retry = |event| self.see(event.function()))]
    async fn refused(&self, script: &Script) -> io::Result<usize> {
        script.play().await
    }

    #[retry(attempts = 2, budget = "none")]
    async fn around(&self, script: &Script) -> io::Result<usize> {
        self.price(script).await
    }

    #[retry(blocking, delays = ["1ms"], budget = "none", on_retry = |event| self.see(event.function()))]
    fn stock(&self) -> io::Result<usize> {
        Err(io::ErrorKind::ConnectionReset.into())
    }

    fn see(&self, function: &'static str) {
        self.seen.lock().unwrap().push(function);
    }
}

fn named(method: &str) -> String {
    format!("{}::{method}", module_path!())
}

/// The values of a field with text in a line: those of its spans from the outside in, and then that of the event.
fn values<'a>(line: &'a str, field: &str) -> Vec<&'a str> {
    let key = format!("{field}=\"");
    let after = line.split(&key).skip(1);
    after.map(|rest| rest.split('"').next().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn every_event_and_span_names_the_method() {
    let price = named("price");
    #[rustfmt::skip]
    let cases = [
        (&[RESET, Step::Succeed][..], &["attempt failed, retrying", "succeeded after retry"][..]),
        (&[RESET], &["attempt failed, retrying", "attempt failed, retrying", "gave up"]),
        (&[Step::Fail(io::ErrorKind::NotFound)], &["attempt failed, not retryable"]),
    ];
    for (steps, events) in cases {
        let log = Log::at(Level::TRACE);
        let _ = App::default()
            .price(&Script::new(steps.iter().copied()))
            .await;
        let (bodies, lines): (Vec<_>, Vec<_>) =
            (log.lines().into_iter()).partition(|line| line.contains("in the body"));
        assert!(!bodies.is_empty());
        for line in bodies {
            assert_line(&line, "INFO", &[" call{", ":attempt{"]);
            assert_eq!(values(&line, "function"), [&price, &price], "{line}");
            assert_eq!(values(&line, "otel.name"), [&price], "{line}");
        }
        assert_eq!(lines.len(), events.len(), "{lines:#?}");
        for (line, event) in lines.iter().zip(events) {
            assert!(line.contains(event), "{event}: {line}");
            assert!(line.contains(" call{"), "{line}");
            assert_eq!(values(line, "function"), [&price, &price], "{line}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_event_of_an_empty_budget_names_the_method() {
    let log = Log::listen();
    let _ = App::default().refused(&Script::new([RESET])).await;
    let last = log.lines().pop().unwrap();
    let empty = format!("the retry budget of `{}` is empty", named("refused"));
    assert_line(&last, "WARN", &[&empty]);
}

#[tokio::test(start_paused = true)]
async fn the_event_of_fewer_attempts_names_the_method() {
    let log = Log::listen();
    let _ = App::default().around(&Script::new([RESET])).await;
    let lines = log.lines();
    let mut fewer = lines.iter().filter(|line| line.contains("allowed="));
    let fewer = fewer.next().unwrap_or_else(|| panic!("{lines:#?}"));
    assert_eq!(values(fewer, "function").pop(), Some(&*named("price")));
}

#[tokio::test]
async fn the_events_of_a_blocking_method_name_it() {
    let log = Log::at(Level::TRACE);
    let app = App::default();
    app.stock().unwrap_err();
    let lines = log.lines();
    let messages = ["retrying", "blocks a thread", "gave up"];
    assert_eq!(lines.len(), messages.len(), "{lines:#?}");
    for (line, message) in lines.iter().zip(messages) {
        assert!(line.contains(message), "{message}: {line}");
        let names = values(line, "function");
        assert_eq!(names, [named("stock"), named("stock")], "{line}");
    }
    assert_eq!(*app.seen.lock().unwrap(), [named("stock")]);
}

#[tokio::test(start_paused = true)]
async fn on_retry_names_the_method() {
    let app = App::default();
    let _ = app.price(&Script::new([RESET])).await;
    assert_eq!(*app.seen.lock().unwrap(), [named("price"), named("price")]);
}
