//! One version of `reqwest-middleware`: a client whose requests are retried, against a server that refuses, resets and stalls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::Extensions;
use http_body_util::Full;
use integrations::loopback::{self, Answer, GoesAway, Loopback};
use integrations::written::Written;
use reattempt::http_1::{ATTEMPT_NUMBER, IDEMPOTENCY_KEY, StatusError, TIMEOUT_MS};
use reattempt::{
    Budget, Budgets, Jitter, Outcome, Policy, Preset, Report, Retryable, Stopped, Verdict,
    deadline, retry, with_report,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::adapter::ResponseExt as _;
use super::chain::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next, RequestBuilder};
use super::client::{self, Body, Client, Method, Request, Response};
use super::middleware::{HttpRequests, RequestExt as _, Requests, RetryLayer};

const QUICK: Policy = Policy::new()
    .with_attempts(4)
    .with_base(Duration::from_millis(1));

const UNAVAILABLE: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy",
);
const UNAVAILABLE_FOR_A_SECOND: Answer = Answer::Bytes(
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n",
);
const NOT_FOUND: Answer =
    Answer::Bytes(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");

fn http() -> Client {
    // With a pool, an attempt could get the lost connection of the attempt before it.
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0);
    client.build().unwrap()
}

fn client(retry: RetryLayer) -> ClientWithMiddleware {
    ClientBuilder::new(http()).with(retry).build()
}

/// Sends the request, and returns the report of its call too.
async fn sent(request: RequestBuilder) -> (Result<Response, Error>, Report) {
    let (answered, report) = with_report(request.send()).await;
    (answered, report.expect("a request is a call"))
}

fn stopped(error: &Error) -> &Stopped {
    let Error::Middleware(error) = error else {
        panic!("{error:?}")
    };
    error.downcast_ref().expect("a `Stopped`")
}

/// A layer, what is sent by it, what the server answers, the text or the verdict that the caller gets, how the call ends, and how often
/// the server was asked.
type Ends = (
    RetryLayer,
    Ask,
    &'static [Answer],
    Result<(u16, &'static str), Verdict>,
    Outcome,
    u32,
);
type Ask = fn(&ClientWithMiddleware, &str) -> RequestBuilder;

macro_rules! ends {
    ($($layer:expr, $ask:expr, $script:expr => $gets:expr, $outcome:ident, $calls:literal;)*) => {
        [$(($layer, $ask, &$script, $gets, Outcome::$outcome, $calls)),*]
    };
}

/// An answer with this status.
macro_rules! answer {
    ($head:literal) => {
        Answer::Bytes(
            concat!(
                "HTTP/1.1 ",
                $head,
                "\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            .as_bytes(),
        )
    };
}

const BUSY: Answer = answer!("429 Too Many Requests");
const IN_USE: Answer = answer!("409 Conflict");
const KEPT: Answer = answer!("500 Internal Server Error\r\nidempotent-replayed: true");

#[tokio::test]
async fn a_call_ends_with_the_response_or_the_error_of_its_last_attempt() {
    static EMPTY: Budget = Budget::aws().with_capacity(1).with_retry_cost(2);
    static SHOP: Preset = Preset::new("shop", QUICK.with_attempts(2));
    let quick = || RetryLayer::new(QUICK);
    let throttled = || RetryLayer::new(QUICK.with_throttled_base(Duration::from_millis(1)));
    let not_run = HttpRequests::new().with_refusals(|status, _| status == 429);
    let begun = Instant::now();
    let get: Ask = |client, url| client.get(url);
    let post: Ask = |client, url| client.post(url);
    let keyed: Ask = |client, url| client.post(url).header(IDEMPOTENCY_KEY, "once");
    let cases: [Ends; 9] = ends! {
        quick(), get, [UNAVAILABLE_FOR_A_SECOND] => Ok((200, "done")), SuccessAfterRetry, 2;
        quick(), get, [UNAVAILABLE; 4] => Ok((503, "busy")), AttemptsExhausted, 4;
        quick(), get, [UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, Answer::Reset] => Err(Verdict::Transient), AttemptsExhausted, 4;
        // An answer that stays the same is a success of the call.
        quick(), get, [NOT_FOUND] => Ok((404, "")), Success, 1;
        quick().with_budget(&EMPTY), get, [UNAVAILABLE; 20] => Ok((503, "busy")), Budget, 1;
        // A preset is a policy too.
        RetryLayer::new(&SHOP), get, [UNAVAILABLE; 4] => Ok((503, "busy")), AttemptsExhausted, 2;
        // A POST runs again after a 429 if the server says that it did not run.
        throttled(), post, [BUSY] => Ok((429, "")), NotRetryable, 1;
        throttled().with_requests(not_run), post, [BUSY] => Ok((200, "done")), SuccessAfterRetry, 2;
        // A failure that the server keeps for the key ends the call.
        quick(), keyed, [Answer::Reset, KEPT] => Ok((500, "")), SuccessAfterRetry, 2;
    };
    for (layer, ask, script, gets, outcome, calls) in cases {
        let server = Loopback::start(script).await;
        let (response, report) = sent(ask(&client(layer), &server.url())).await;
        let of = format!("{script:?}, {gets:?}");
        match response {
            Ok(response) => {
                let status = response.status().as_u16();
                let text = response.text().await.unwrap();
                assert_eq!(gets, Ok((status, &*text)), "{of}");
            }
            Err(error) => {
                assert!(matches!(error, Error::Reqwest(_)), "{of}: {error:?}");
                assert_eq!(gets, Err(error.verdict()), "{of}");
            }
        }
        let seen = (report.outcome(), report.attempts(), server.calls());
        assert_eq!(seen, (outcome, calls, calls as usize), "{of}");
    }
    assert!(
        begun.elapsed() >= Duration::from_secs(1),
        "the first one has waited"
    );
}

/// The wait ended only after the deadline, on a machine that stood still. The response was dropped before the wait.
#[tokio::test]
async fn a_call_that_is_late_gives_the_status_of_its_last_attempt() {
    let server = Loopback::start(&[UNAVAILABLE]).await;
    let refused = Arc::new(Notify::new());
    let told = Arc::clone(&refused);
    let policy = Policy::new()
        .with_base(Duration::from_secs(2))
        .with_jitter(Jitter::None)
        .with_deadline(Duration::from_secs(10));
    let retry =
        RetryLayer::new(policy).with_requests(HttpRequests::new().with_retry_after(move |_, _| {
            told.notify_one();
            None
        }));
    let ((response, report), ()) = tokio::join!(sent(client(retry).get(server.url())), async {
        refused.notified().await;
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(20)).await;
        tokio::time::resume();
    });
    let Error::Middleware(error) = response.unwrap_err() else {
        panic!("the error is not of the client")
    };
    let status = error.downcast::<StatusError>().unwrap().status();
    assert_eq!(status, 503);
    assert_eq!(report.outcome(), Outcome::Deadline);
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn a_post_is_retried_if_it_has_a_key_or_if_nothing_ran() {
    let client = client(RetryLayer::new(QUICK));
    for script in [&[UNAVAILABLE] as &'static [Answer], &[Answer::Reset]] {
        for (key, expected) in [(None, 1), (Some("order-7"), 2)] {
            let server = Loopback::start(script).await;
            let mut request = client.post(server.url()).body("order");
            if let Some(key) = key {
                request = request.header(IDEMPOTENCY_KEY, key);
            }
            let _ = request.send().await;
            assert_eq!(server.calls(), expected, "{script:?} {key:?}");
        }
        for method in [Method::PATCH, Method::PUT] {
            let server = Loopback::start(script).await;
            let expected = if method.is_idempotent() { 2 } else { 1 };
            let request = client.request(method.clone(), server.url());
            let _ = request.body("order").send().await;
            assert_eq!(server.calls(), expected, "{script:?} {method}");
        }
    }
    let url = format!("http://{}/", loopback::nobody());
    let (response, report) = sent(client.post(url).body("order")).await;
    assert_eq!(response.unwrap_err().verdict(), Verdict::Refused);
    assert_eq!(report.attempts(), 4);
}

/// A status that each gateway means in its own way, so its verdict is unknown.
const UNKNOWN: Answer =
    Answer::Bytes(b"HTTP/1.1 530 Unknown\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");

#[tokio::test]
async fn what_is_said_of_all_requests_decides_in_place_of_their_methods() {
    for (said, method, script, calls) in [
        (
            Some(true),
            Method::POST,
            &[Answer::Reset] as &'static [Answer],
            2,
        ),
        (Some(true), Method::POST, &[UNKNOWN], 2),
        (Some(true), Method::GET, &[NOT_FOUND], 1),
        (Some(false), Method::GET, &[Answer::Reset], 1),
        (None, Method::GET, &[Answer::Reset], 2),
        (None, Method::GET, &[UNKNOWN], 1),
    ] {
        let mut retry = RetryLayer::new(QUICK);
        if let Some(said) = said {
            retry = retry.with_idempotent(said);
        }
        let server = Loopback::start(script).await;
        let _ = client(retry)
            .request(method.clone(), server.url())
            .send()
            .await;
        assert_eq!(server.calls(), calls, "{said:?} {method} {script:?}");
    }
}

/// If the first one was carried out, a second one would fail with 412, as if someone else had been faster.
#[tokio::test]
async fn a_request_that_may_run_only_once_by_its_condition_is_retried_as_a_post() {
    let client = client(RetryLayer::new(QUICK));
    let conditions = [
        ("if-match", "\"1\""),
        ("if-none-match", "*"),
        ("if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ];
    for (name, value) in conditions {
        for (method, key, expected) in [
            (Method::PUT, None, 1),
            (Method::DELETE, None, 1),
            (Method::PUT, Some("order-7"), 2),
            // The condition of a request that only reads is about its answer.
            (Method::GET, None, 2),
        ] {
            for script in [&[UNAVAILABLE] as &'static [Answer], &[Answer::Reset]] {
                let server = Loopback::start(script).await;
                let mut request = client.request(method.clone(), server.url());
                request = request.header(name, value);
                if let Some(key) = key {
                    request = request.header(IDEMPOTENCY_KEY, key);
                }
                let _ = request.send().await;
                assert_eq!(server.calls(), expected, "{script:?} {method} {name}");
            }
        }
        let url = format!("http://{}/", loopback::nobody());
        let (response, report) = sent(client.put(url).header(name, value)).await;
        assert_eq!(response.unwrap_err().verdict(), Verdict::Refused);
        assert_eq!(report.attempts(), 4);
    }
}

#[tokio::test]
async fn a_409_is_retried_if_an_attempt_with_the_same_key_may_still_run() {
    for (method, key, script, status, calls) in [
        (
            Method::POST,
            Some("order-7"),
            &[Answer::Reset, IN_USE][..],
            200,
            3,
        ),
        // Without a key it is the answer, and so it is in the first attempt.
        (Method::PUT, None, &[Answer::Reset, IN_USE], 409, 2),
        (Method::POST, Some("order-7"), &[IN_USE], 409, 1),
    ] {
        let server = Loopback::start(script).await;
        let client = client(RetryLayer::new(QUICK));
        let request = client.request(method, server.url()).body("order");
        let keyed = |request: RequestBuilder, key| request.header(IDEMPOTENCY_KEY, key);
        let response = key.into_iter().fold(request, keyed).send().await;
        assert_eq!(response.unwrap().status(), status);
        assert_eq!(server.calls(), calls);
    }
}

#[tokio::test]
async fn a_stream_is_sent_once() {
    let server = Loopback::start(&[UNAVAILABLE]).await;
    let stream = Body::wrap(Full::new(&b"order"[..]));
    let (response, report) = sent(
        client(RetryLayer::new(QUICK))
            .put(server.url())
            .body(stream),
    )
    .await;
    assert_eq!(response.unwrap().status(), 503);
    assert_eq!((report.attempts(), server.calls()), (1, 1));
    assert_eq!(report.outcome(), Outcome::AttemptsExhausted);
}

#[tokio::test]
async fn a_post_that_a_goaway_leaves_out_is_sent_again_and_one_that_has_begun_is_not() {
    // Without the retries of `reqwest`.
    let http = Client::builder().no_proxy().http2_prior_knowledge();
    let http = http.retry(client::retry::never()).build().unwrap();
    let client = ClientBuilder::new(http.clone())
        .with(RetryLayer::new(QUICK))
        .build();
    for (goaway, verdict, calls) in [
        (&[(0, 2)], Verdict::Refused, 2),
        (&[(1, 2)], Verdict::Transient, 1),
    ] as [(&'static [(u8, u8)], Verdict, usize); 2]
    {
        let server = GoesAway::start(goaway).await;
        let error = http.post(server.url()).body("order").send().await;
        assert_eq!(error.unwrap_err().verdict(), verdict, "{goaway:?}");
        let server = GoesAway::start(goaway).await;
        let response = client.post(server.url()).body("order").send().await;
        assert_eq!(response.is_ok(), calls == 2, "{response:?}");
        assert_eq!(server.calls(), calls, "{goaway:?}");
    }
}

#[derive(Debug, thiserror::Error, Retryable)]
#[retryable(forward)]
enum FetchError {
    #[error("no answer")]
    Send(#[from] Error),
    #[error("the status is a failure")]
    Status(#[from] StatusError),
}

#[retry(attempts = 4, base = "1ms")]
async fn fetch(client: &ClientWithMiddleware, url: &str) -> Result<(), FetchError> {
    client.get(url).send().await?.check()?;
    Ok(())
}

#[tokio::test]
async fn retries_of_a_request_and_of_the_function_around_it_add() {
    let client = client(RetryLayer::new(QUICK));
    for script in [
        &[UNAVAILABLE; 20] as &'static [Answer],
        &[Answer::Reset; 20],
    ] {
        let server = Loopback::start(script).await;
        fetch(&client, &server.url()).await.unwrap_err();
        assert_eq!(server.calls(), 7);
    }
}

#[tokio::test]
async fn a_refused_retry_ends_the_function_around_too() {
    let impatient = QUICK.with_max_retry_after(Duration::from_millis(10));
    let client = client(RetryLayer::new(impatient));
    let server = Loopback::start(&[UNAVAILABLE_FOR_A_SECOND; 20]).await;
    let (_, report) = with_report(fetch(&client, &server.url())).await;
    assert_eq!(report.unwrap().outcome(), Outcome::HintTooLong);
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn a_host_that_is_down_takes_no_retries_from_another() {
    static OF_HOSTS: Budgets<String> = Budgets::new(Budget::new().with_capacity(20));
    for retry in [
        RetryLayer::new(QUICK),
        RetryLayer::new(QUICK).with_budgets(&OF_HOSTS),
    ] {
        let client = client(retry);
        let down = format!("http://{}/", loopback::nobody());
        for _ in 0..100 {
            client.get(&down).send().await.unwrap_err();
        }
        let (_, report) = sent(client.get(&down)).await;
        assert_eq!(report.outcome(), Outcome::Budget);
        let server = Loopback::start(&[UNAVAILABLE, UNAVAILABLE]).await;
        let response = client.get(server.url()).send().await.unwrap();
        assert_eq!((response.status().as_u16(), server.calls()), (200, 3));
    }
}

#[tokio::test]
async fn a_request_keeps_to_the_deadline_around_it() {
    let patient = QUICK.with_timeout(Duration::from_secs(50));
    let client = client(RetryLayer::new(patient));
    let server = Loopback::start_skipping(&[Answer::Stall; 20]).await;
    let within = Duration::from_secs(20);
    let begun = tokio::time::Instant::now();
    let response = deadline::scope(within, client.get(server.url()).send()).await;
    assert!(begun.elapsed() < Duration::from_secs(50));
    let error = response.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Deadline);
    assert_eq!(server.calls(), 1);

    // The same deadline ends the function around.
    let url = server.url();
    let around = deadline::scope(within, with_report(fetch(&client, &url)));
    let (result, report) = around.await;
    assert_eq!(report.unwrap().outcome(), Outcome::Deadline);
    let FetchError::Send(error) = result.unwrap_err() else {
        panic!("no answer is no status")
    };
    assert_eq!(stopped(&error).outcome(), Outcome::Deadline);
    assert_eq!(server.calls(), 2);
}

#[retry(attempts = 3, base = "1ms", on = "Stopped")]
async fn fetch_stopped(client: &ClientWithMiddleware, url: &str) -> anyhow::Result<()> {
    client.get(url).send().await?;
    Ok(())
}

#[tokio::test]
async fn a_timeout_of_all_attempts_is_a_stopped_that_the_function_around_understands() {
    let hasty = QUICK
        .with_attempts(2)
        .with_timeout(Duration::from_secs(20))
        // For that long, the function around knows of the retries of a request.
        .with_max_delay(Duration::from_hours(1));
    let client = client(RetryLayer::new(hasty));
    let server = Loopback::start_skipping(&[Answer::Stall; 20]).await;
    let error = client.get(server.url()).send().await.unwrap_err();
    assert_eq!(stopped(&error).outcome(), Outcome::Timeout);
    assert_eq!(error.verdict(), Verdict::Transient);
    assert_eq!(server.calls(), 2);

    fetch_stopped(&client, &server.url()).await.unwrap_err();
    // Two attempts in the first one around, and one in each later one.
    assert_eq!(server.calls(), 2 + 4);
}

#[test]
fn rules_and_verdicts_look_into_the_error_of_a_middleware() {
    let of = |error: anyhow::Error| Error::Middleware(error);
    assert_eq!(of(anyhow::anyhow!("no token")).verdict(), Verdict::Unknown);
    let busy = http::Response::builder()
        .status(503)
        .header("retry-after", "2");
    let busy = reattempt::http_1::check(busy.body(()).unwrap()).unwrap_err();
    let busy = of(anyhow::Error::new(busy).context("the token service"));
    assert_eq!(busy.verdict(), Verdict::Transient);
    assert_eq!(busy.hint(), Some(Duration::from_secs(2)));
    // Also as the source of another error.
    let inside = std::io::Error::other(busy);
    assert_eq!(inside.verdict(), Verdict::Transient);
}

#[tokio::test]
async fn reports_have_the_name_that_the_user_gave() {
    let server = Loopback::start(&[]).await;
    let named = client(RetryLayer::new(QUICK).with_name("payments"));
    let (_, report) = sent(named.get(server.url())).await;
    assert_eq!(report.function(), "payments");
    let line = line!() + 1;
    let unnamed = client(RetryLayer::new(QUICK));
    let (_, report) = sent(unnamed.get(server.url())).await;
    let place = format!("{}:{line}:", file!());
    assert!(
        report.function().starts_with(&place),
        "{}",
        report.function()
    );
}

#[tokio::test]
async fn each_attempt_tells_the_server_its_number_and_the_time_left() {
    let retry = RetryLayer::new(QUICK.with_timeout(Duration::from_secs(9)));
    let client = client(retry.with_requests(HttpRequests::new().with_attempt_headers()));
    let server = Loopback::start(&[UNAVAILABLE]).await;
    client.get(server.url()).send().await.unwrap();
    let heads = server.requests();
    assert_eq!(heads.len(), 2);
    for (number, head) in (1..).zip(&heads) {
        assert!(
            head.contains(&format!("{ATTEMPT_NUMBER}: {number}\r\n")),
            "{head}"
        );
        assert!(head.contains(&format!("{TIMEOUT_MS}: ")), "{head}");
    }

    // The key that it sets itself makes no request idempotent.
    let server = Loopback::start(&[UNAVAILABLE]).await;
    client
        .post(server.url())
        .body("order")
        .send()
        .await
        .unwrap();
    assert_eq!(server.calls(), 1);
    assert!(server.requests()[0].contains(&format!("{IDEMPOTENCY_KEY}: ")));

    let server = Loopback::start(&[]).await;
    let plain = self::client(RetryLayer::new(QUICK));
    plain.get(server.url()).send().await.unwrap();
    assert!(!server.requests()[0].contains(ATTEMPT_NUMBER.as_str()));
}

/// What a middleware writes into the extensions of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Passed(u32);

/// Counts the requests that pass it, and writes the number into the extensions. It notes what it finds there after.
#[derive(Clone, Default)]
struct Counts {
    passed: Arc<AtomicU32>,
    found: Arc<Mutex<Vec<Option<Passed>>>>,
}

#[async_trait::async_trait]
impl Middleware for Counts {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response, Error> {
        let before = extensions.get().copied();
        self.found.lock().unwrap().push(before);
        extensions.insert(Passed(self.passed.fetch_add(1, Ordering::Relaxed) + 1));
        let response = next.run(request, extensions).await;
        self.found.lock().unwrap().push(extensions.get().copied());
        response
    }
}

#[tokio::test]
async fn middlewares_behind_see_each_attempt_and_those_before_see_the_call() {
    let (before, behind) = (Counts::default(), Counts::default());
    let client = ClientBuilder::new(http())
        .with(before.clone())
        .with(RetryLayer::new(QUICK))
        .with(behind.clone())
        .build();
    let server = Loopback::start(&[UNAVAILABLE; 2]).await;
    client.get(server.url()).send().await.unwrap();
    let [one, three] = [1, 3].map(|number| Some(Passed(number)));
    assert_eq!(*before.found.lock().unwrap(), [None, three]);
    // Each attempt starts from what the middleware before wrote.
    let found = behind.found.lock().unwrap();
    let starts: Vec<_> = found.iter().step_by(2).collect();
    assert_eq!(starts, [&one; 3]);
}

#[tokio::test]
async fn a_request_keeps_its_extensions_where_it_says_its_attempt_or_has_a_policy() {
    for way in ["attempt_headers", "send_with"] {
        let counts = Counts::default();
        let client = ClientBuilder::new(http()).with(counts.clone()).build();
        let server = Loopback::start(&[UNAVAILABLE]).await;
        let request = || client.get(server.url()).with_extension(Passed(7));
        if way == "send_with" {
            request().send_with(&QUICK).await.unwrap();
        } else {
            let ask = || request().attempt_headers().send_checked();
            QUICK.run(ask).await.unwrap();
            assert!(server.requests()[1].contains(&format!("{ATTEMPT_NUMBER}: 2\r\n")));
        }
        let found = counts.found.lock().unwrap();
        let starts: Vec<_> = found.iter().step_by(2).collect();
        assert_eq!(starts, [&Some(Passed(7)); 2], "{way}");
    }
}

#[tokio::test]
async fn a_dropped_request_is_dropped_at_once() {
    let server = Loopback::start(&[Answer::Stall]).await;
    let request = client(RetryLayer::new(QUICK)).get(server.url()).send();
    let cut = tokio::time::timeout(Duration::from_millis(50), request);
    let (cut, report) = with_report(cut).await;
    cut.unwrap_err();
    assert_eq!(report.unwrap().outcome(), Outcome::Dropped);
}

/// What events say of a request that no server takes.
async fn written(retry: RetryLayer) -> String {
    let (written, _guard) = Written::subscribe(tracing::Level::INFO);
    let url = format!("http://me:secret@{}/path?token=secret", loopback::nobody());
    client(retry).get(url).send().await.unwrap_err();
    written.take()
}

#[tokio::test]
async fn events_leave_secrets_of_the_url_out_and_everything_if_silent() {
    let said = written(RetryLayer::new(QUICK).with_name("payments")).await;
    assert!(
        said.contains("payments") && said.contains("gave up"),
        "{said}"
    );
    assert!(
        said.contains("/path)") && !said.contains("secret"),
        "{said}"
    );
    let said = written(RetryLayer::new(QUICK).with_sensitive(true)).await;
    assert!(said.contains("(sensitive)"), "{said}");
    assert!(
        !said.contains("secret") && !said.contains("/path"),
        "{said}"
    );
    assert_eq!(written(RetryLayer::new(QUICK.with_silent(true))).await, "");
}

/// Only the body says whether a 503 can pass.
struct Maintenance;

#[derive(Debug, thiserror::Error, Retryable)]
#[error("the shop is closed")]
#[retryable(transient)]
struct Closed;

impl Requests<Request, Response> for Maintenance {
    type Failure = Closed;

    fn copy(&self, request: Request) -> (Request, Option<Request>) {
        let copy = request.try_clone();
        (request, copy)
    }

    fn is_idempotent(&self, request: &Request) -> bool {
        request.method().is_idempotent()
    }

    async fn failure(&self, _: Option<&Request>, response: &mut Response) -> Option<Closed> {
        response.status().is_server_error().then_some(())?;
        let text = response.chunk().await.ok()??;
        (text == "busy").then_some(Closed)
    }
}

#[tokio::test]
async fn requests_of_your_own_decide_by_the_body() {
    const CLOSED: Answer = Answer::Bytes(
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 5\r\nconnection: close\r\n\r\nuntil",
    );
    let retry = || RetryLayer::new(QUICK).with_requests(Maintenance);
    let client = || ClientBuilder::new(http()).with(retry()).build();
    let server = Loopback::start(&[UNAVAILABLE, CLOSED]).await;
    let (response, report) = sent(client().get(server.url())).await;
    assert_eq!(response.unwrap().status(), 503);
    assert_eq!((report.attempts(), server.calls()), (2, 2));
}

#[tokio::test]
async fn a_server_that_makes_its_unix_socket_late_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let http = Client::builder().unix_socket(path.as_path());
    let client = ClientBuilder::new(http.build().unwrap()).with(RetryLayer::new(
        Policy::new()
            .with_unlimited_attempts()
            .with_base(Duration::from_millis(1))
            .with_max_delay(Duration::from_millis(5)),
    ));
    let request = client.build().get("http://shop.example/");
    let (sent, served) = tokio::join!(sent(request), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let Answer::Bytes(answer) = NOT_FOUND else {
            unreachable!()
        };
        assert!(stream.read(&mut [0; 512]).await.unwrap() > 0);
        stream.write_all(answer).await.unwrap();
        stream
    });
    drop(served);
    let (response, report) = sent;
    assert_eq!(response.unwrap().status(), 404);
    assert!(report.attempts() > 1);
}
