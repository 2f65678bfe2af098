//! One version of `reqwest` against a server that resets, stalls, refuses, throttles and truncates.

use std::time::{Duration, Instant};

use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use integrations::loopback::{Answer, Loopback, nobody};
use reattempt::{Outcome, Policy, Retryable as _, Verdict, retry, with_report};

use super::adapter::{RequestError, RequestExt as _, ResponseExt as _, is_retryable};
use super::client::{self, Client, Method, Request, RequestBuilder, Response};
use futures::FutureExt as _;
use futures::future::BoxFuture;

fn http() -> Client {
    // With a pool, an attempt could get the lost connection of the attempt before it.
    Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .build()
        .unwrap()
}

/// A function as a user writes it. The attribute has no rule, so the error type decides.
#[retry(attempts = 3, base = "1ms", timeout = "20s")]
async fn fetch(url: &str) -> Result<String, RequestError> {
    let response = http().get(url).send().await?.check()?;
    Ok(response.text().await?)
}

const UNAVAILABLE: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n",
);
const NOT_FOUND: Answer =
    Answer::Bytes(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
const TRUNCATED: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nhalf");
const RESET_IN_BODY: Answer =
    Answer::BytesThenReset(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
const TRUNCATED_CHUNK: Answer =
    Answer::Bytes(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\nhalf");
const STALL_IN_BODY: Answer =
    Answer::BytesThenStall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");

#[tokio::test]
async fn failures_of_a_bad_network_are_retried() {
    const CASES: [(&str, &[Answer]); 6] = [
        ("reset", &[Answer::Reset, Answer::Reset]),
        ("close", &[Answer::Close, Answer::Close]),
        ("truncated body", &[TRUNCATED, TRUNCATED]),
        ("reset in the body", &[RESET_IN_BODY, RESET_IN_BODY]),
        ("truncated chunk", &[TRUNCATED_CHUNK, TRUNCATED_CHUNK]),
        ("stall", &[Answer::Stall, STALL_IN_BODY]),
    ];
    for (what, script) in CASES {
        let server = Loopback::start_skipping(script).await;
        let body = fetch(&server.url()).await;
        assert_eq!(body.unwrap(), "done", "{what}");
        assert_eq!(server.calls(), 3, "{what}");
    }
}

#[tokio::test]
async fn the_client_s_own_timeout_is_transient() {
    let server = Loopback::start(&[Answer::Stall]).await;
    let request = http().get(server.url()).timeout(Duration::from_millis(50));
    let error = request.send().await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    assert_eq!(error.verdict(), Verdict::Transient);
    // Also as the source of another error.
    assert_eq!(std::io::Error::other(error).verdict(), Verdict::Transient);
    // It costs as much as a timeout of the call, 6 tokens of 200, of which some came back meanwhile.
    let server = Loopback::start(&[Answer::Stall, Answer::Stall]).await;
    let request = || http().get(server.url()).timeout(Duration::from_millis(50));
    let call = Policy::new()
        .with_attempts(2)
        .run(|| request().send_checked());
    let (_, report) = with_report(call).await;
    let level = report.unwrap().budget_level().unwrap();
    assert!((194.0..197.0).contains(&level), "{level}");
}

#[tokio::test]
async fn a_call_waits_for_the_delay_that_the_server_asks_for() {
    let server = Loopback::start(&[UNAVAILABLE]).await;
    let begun = Instant::now();
    assert_eq!(fetch(&server.url()).await.unwrap(), "done");
    assert!(
        begun.elapsed() >= Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(server.calls(), 2);
}

#[tokio::test]
async fn an_answer_that_stays_the_same_is_not_retried() {
    let server = Loopback::start(&[NOT_FOUND]).await;
    let RequestError::Status(error) = fetch(&server.url()).await.unwrap_err() else {
        panic!("no status")
    };
    assert_eq!(error.status(), 404);
    assert_eq!(error.verdict(), Verdict::Permanent);
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn error_for_status_keeps_the_verdict() {
    let server = Loopback::start(&[UNAVAILABLE, NOT_FOUND]).await;
    for verdict in [Verdict::Transient, Verdict::Permanent] {
        let response = http().get(server.url()).send().await.unwrap();
        let error = response.error_for_status().unwrap_err();
        assert_eq!((error.verdict(), error.hint()), (verdict, None));
    }
}

#[retry(
    attempts = 3,
    base = "1ms",
    when_ok = "is_retryable",
    on = "client::Error"
)]
async fn respond(url: &str) -> Result<Response, client::Error> {
    http().get(url).send().await
}

#[tokio::test]
async fn when_ok_retries_a_response_that_is_a_failure() {
    let server = Loopback::start(&[UNAVAILABLE, Answer::Reset]).await;
    assert_eq!(respond(&server.url()).await.unwrap().status(), 200);
    assert_eq!(server.calls(), 3);

    let server = Loopback::start(&[NOT_FOUND]).await;
    assert_eq!(respond(&server.url()).await.unwrap().status(), 404);
    assert_eq!(server.calls(), 1);

    // If no attempt is left, the caller gets the last response.
    let server = Loopback::start(&[UNAVAILABLE; 3]).await;
    assert_eq!(respond(&server.url()).await.unwrap().status(), 503);
    assert_eq!(server.calls(), 3);
}

/// A function with the error type of most programs.
#[retry(
    attempts = 3,
    base = "1ms",
    on = "client::Error | reattempt::http_1::StatusError"
)]
async fn fetch_anyhow(url: &str) -> anyhow::Result<String> {
    use anyhow::Context as _;
    let response = http().get(url).send().await.context("sending")?;
    let response = response.check().context("answered")?;
    response.text().await.context("reading")
}

#[tokio::test]
async fn on_finds_both_kinds_of_failure_under_anyhow() {
    const SCRIPT: [Answer; 2] = [Answer::Reset, TRUNCATED];
    let server = Loopback::start(&SCRIPT).await;
    assert_eq!(fetch_anyhow(&server.url()).await.unwrap(), "done");
    assert_eq!(server.calls(), 3);
    let server = Loopback::start(&[NOT_FOUND]).await;
    fetch_anyhow(&server.url()).await.unwrap_err();
    assert_eq!(server.calls(), 1);
}

/// A function that must not run twice.
#[retry(attempts = 3, base = "1ms", idempotent = false)]
async fn post_once(url: &str) -> Result<String, RequestError> {
    let response = http().post(url).send().await?.check()?;
    Ok(response.text().await?)
}

/// An outer function, which says nothing.
#[retry(attempts = 3, base = "1ms", when = |_| true)]
async fn post_within(url: &str) -> Result<String, RequestError> {
    post_once(url).await
}

#[tokio::test]
async fn a_request_that_may_have_run_is_not_retried_with_idempotent_false() {
    for answer in [&[Answer::Reset], &[TRUNCATED], &[UNAVAILABLE]] as [&'static [Answer]; 3] {
        let servers = (Loopback::start(answer).await, Loopback::start(answer).await);
        post_once(&servers.0.url()).await.unwrap_err();
        post_within(&servers.1.url()).await.unwrap_err();
        let calls = (servers.0.calls(), servers.1.calls());
        assert_eq!(calls, (1, 1), "{answer:?}");
    }
}

#[tokio::test]
async fn an_attempt_that_is_cut_gives_the_error_of_the_adapter() {
    let server = Loopback::start_skipping(&[Answer::Stall; 3]).await;
    let RequestError::Stopped(stopped) = fetch(&server.url()).await.unwrap_err() else {
        panic!("not stopped")
    };
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 3)
    );
}

fn payment(client: &Client, url: &str) -> RequestBuilder {
    client.post(url)
}

macro_rules! sends {
    ($SENDS:ident: $($name:ident($client:ident, $url:ident) $request:expr;)*) => {
        $(
            #[retry(attempts = 3, base = "1ms")]
            async fn $name($client: &Client, $url: &str) -> Result<(), RequestError> {
                $request.await?;
                Ok(())
            }
        )*

        const $SENDS: &[(&str, fn(String) -> BoxFuture<'static, bool>)] = &[$((
            stringify!($name),
            |url| async move { $name(&http(), &url).await.is_ok() }.boxed(),
        )),*];
    };
}

// The rows of the guide.
sends! { LISTED:
    by_a_variable(client, url) {
        let method: Method = "POST".parse().unwrap();
        client.request(method, url).send()
    };
    as_a_value(client, url) client.execute(Request::new(Method::POST, url.parse().unwrap()));
    by_a_path(client, url) Client::post(client, url).send();
    in_a_function(client, url) payment(client, url).send();
}

#[retry(blocking, attempts = 3, base = "1ms")]
fn while_blocking(url: &str) -> Result<(), RequestError> {
    let client = client::blocking::Client::builder().no_proxy().build()?;
    client.post(url).send()?;
    Ok(())
}

#[retry(attempts = 3, base = "1ms", before_retry = async {
    client.post(url).send().await.unwrap_err();
})]
async fn after_a_post(client: &Client, url: &str) -> Result<(), RequestError> {
    client.get(url).send().await?;
    Ok(())
}

#[tokio::test]
async fn a_post_that_the_attribute_does_not_see_is_sent_again() {
    let server = Loopback::start(&[Answer::Reset; 5]).await;
    after_a_post(&http(), &server.url()).await.unwrap_err();
    assert_eq!(server.calls(), 5, "three attempts, and a POST before two");
    for (name, send) in LISTED {
        let server = Loopback::start(&[Answer::Reset]).await;
        assert!(send(server.url()).await, "{name}");
        assert_eq!(server.calls(), 2, "{name}");
    }
    let server = Loopback::start(&[Answer::Reset]).await;
    let url = server.url();
    let sent = tokio::task::spawn_blocking(move || while_blocking(&url));
    sent.await.unwrap().unwrap();
    assert_eq!(server.calls(), 2);
}

/// The error of your own body may ask for a delay, as that of an upstream does.
#[tokio::test]
async fn the_hint_is_that_of_the_cause() {
    let busy = http::Response::builder().status(503);
    let busy = busy.header("retry-after", "2").body(()).unwrap();
    let cause = reattempt::http_1::check(busy).unwrap_err();
    let verdict = cause.verdict();
    let frames = futures::stream::iter([Err::<Frame<Bytes>, _>(cause)]);
    let body = client::Body::wrap(StreamBody::new(frames));
    let response = Response::from(http::Response::new(body));
    let error = response.bytes().await.unwrap_err();
    assert_eq!(error.hint(), Some(Duration::from_secs(2)));
    assert_eq!(error.verdict(), verdict);
}

/// The connection was open, and the server may act on the part that it has.
#[tokio::test]
async fn a_post_whose_body_cannot_be_read_is_sent_once() {
    let refused = async || http().get(format!("http://{}", nobody())).send().await;
    let causes: [fn(client::Error) -> Box<dyn std::error::Error + Send + Sync>; 2] = [
        |error| error.into(),
        |_| std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into(),
    ];
    for of in causes {
        let server = Loopback::start(&[]).await;
        let run = Policy::new().run(async || {
            let cause = of(refused().await.unwrap_err());
            let frames = futures::stream::iter([Ok(Frame::data(Bytes::from("part"))), Err(cause)]);
            let body = client::Body::wrap(StreamBody::new(frames));
            Ok::<_, RequestError>(http().post(server.url()).body(body).send().await?)
        });
        let error = run.with_idempotent(false).await.unwrap_err();
        assert_eq!(error.verdict(), Verdict::Transient, "{error:?}");
        assert_eq!(server.calls(), 1, "{error:?}");
    }
}

/// Without `when_ok`. A handler's own answer, of `http` or `axum`, is none of a client.
#[retry(attempts = 3, base = "1ms", budget = "none", on = "client::Error")]
async fn bare(url: &str) -> Result<Response, client::Error> {
    http().get(url).send().await
}

#[retry(attempts = 3, base = "1ms", on = "client::Error")]
async fn handler(url: &str) -> Result<http::Response<client::Body>, client::Error> {
    Ok(http().get(url).send().await?.into())
}

#[tokio::test]
async fn a_bare_response_is_a_failure_if_its_status_is_one() {
    const BUSY: Answer =
        Answer::Bytes(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    for (script, status, calls) in [
        (&[BUSY, BUSY], 200, 3),
        (&[BUSY; 3], 503, 3),
        (&[NOT_FOUND], 404, 1),
    ] as [(&'static [Answer], u16, usize); 3]
    {
        let server = Loopback::start(script).await;
        let response = bare(&server.url()).await.unwrap();
        assert_eq!(
            (response.status().as_u16(), server.calls()),
            (status, calls)
        );
    }
    let server = Loopback::start(&[BUSY]).await;
    assert_eq!(handler(&server.url()).await.unwrap().status(), 503);
}
