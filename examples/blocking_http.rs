//! An HTTP client that blocks its thread, `ureq`, in a program without async: `#[retry(blocking)]`.
//!
//! ```text
//! cargo run -p integrations --example blocking_http
//! ```
//!
//! The server is in this program, on a thread of its own. It resets a connection, stalls, and answers 503 for a moment.

use std::time::{Duration, Instant};

use integrations::loopback::{Answer, Loopback};
use reattempt::{Attempt, RetryEvent, Retryable, Stopped, Verdict, retry};
use ureq::Agent;

#[derive(Debug, thiserror::Error, Retryable)]
enum Failure {
    #[error(transparent)]
    #[retryable(with = "verdict_of")]
    Http(#[from] ureq::Error),
    #[error(transparent)]
    #[retryable(forward)]
    Stopped(#[from] Stopped), // what the `deadline` needs
}

/// The verdicts of `ureq`'s errors. An error that is not here is not retried.
fn verdict_of(error: &ureq::Error) -> Verdict {
    match error {
        ureq::Error::Io(error) => error.verdict(),
        ureq::Error::Timeout(_)
        | ureq::Error::ConnectionFailed
        | ureq::Error::StatusCode(500..=599) => Verdict::Transient,
        ureq::Error::StatusCode(429) => Verdict::Throttled,
        ureq::Error::StatusCode(_) => Verdict::Permanent,
        _ => Verdict::Unknown,
    }
}

/// Gets a page. Nothing can stop a blocked thread, so the client itself has the timeout of an attempt.
#[retry(blocking, attempts = 5, base = "50ms", deadline = "8s", on_retry = tell)]
fn fetch(agent: &Agent, url: &str) -> Result<String, Failure> {
    let left = Attempt::current().and_then(|attempt| attempt.remaining());
    let limit = left
        .unwrap_or(Duration::MAX)
        .min(Duration::from_millis(500));
    let request = agent.get(url).config().timeout_global(Some(limit)).build();
    Ok(request.call()?.body_mut().read_to_string()?)
}

fn tell(event: &RetryEvent<'_, Failure>) {
    let failure = event.error().map_or_else(String::new, ToString::to_string);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

const BUSY: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
);
const MISSING: Answer =
    Answer::Bytes(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Only the server uses this runtime.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let agent: Agent = Agent::config_builder().proxy(None).build().into();

    println!("A server that resets the connection, stalls, and answers 503 before it answers:");
    let server = runtime.block_on(Loopback::start(&[Answer::Reset, Answer::Stall, BUSY]));
    let began = Instant::now();
    let body = fetch(&agent, &server.url())?;
    println!("  {body:?} after {} requests", server.calls());
    assert_eq!((&*body, server.calls()), ("done", 4));
    assert!(
        began.elapsed() >= Duration::from_millis(500),
        "the stalled attempt reached its limit"
    );

    println!("A page that is not there:");
    let server = runtime.block_on(Loopback::start(&[MISSING]));
    let error = fetch(&agent, &server.url()).unwrap_err();
    println!(
        "  {error} ({}) after {} request",
        error.verdict(),
        server.calls()
    );
    assert_eq!(server.calls(), 1);
    Ok(())
}
