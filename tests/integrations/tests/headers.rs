//! The headers in which a request has its attempt.

use std::sync::Mutex;
use std::time::Duration;

use http::{HeaderMap, Method, Request};
use integrations::grpc::{self, Service};
use integrations::loopback::{Answer, Loopback};
use integrations::written::Written;
use reattempt::deadline::header::{parse_grpc_timeout, parse_millis};
use reattempt::http_1::{ATTEMPT_NUMBER, IDEMPOTENCY_KEY, TIMEOUT_MS, set_attempt_headers};
use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
use reattempt::tonic_0_14::set_attempt_metadata;
use reattempt::{Attempt, Retryable as _, Verdict, retry, with_report};
use reqwest::{Body, Client, RequestBuilder};
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

fn text<'h>(headers: &'h HeaderMap, name: &http::HeaderName) -> &'h str {
    let mut values = headers.get_all(name).iter();
    let value = values.next().unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(values.next(), None, "{name} twice");
    value.to_str().unwrap()
}

/// The headers that each attempt of a call would send. All attempts fail.
#[retry(
    attempts = 3,
    base = "100ms",
    jitter = "none",
    timeout = "2s",
    deadline = "5s",
    budget = "none"
)]
async fn each(
    sent: &Mutex<Vec<HeaderMap>>,
    request: impl Fn() -> HeaderMap,
) -> std::io::Result<()> {
    sent.lock().unwrap().push(request());
    Err(std::io::ErrorKind::ConnectionReset.into())
}

async fn sent(request: impl Fn() -> HeaderMap) -> Vec<HeaderMap> {
    let sent = Mutex::default();
    each(&sent, request).await.unwrap_err();
    sent.into_inner().unwrap()
}

fn with_http() -> HeaderMap {
    let mut request = Request::post("http://10.0.0.7/").body(()).unwrap();
    set_attempt_headers(&mut request);
    request.headers().clone()
}

fn with_reqwest(change: impl Fn(RequestBuilder) -> RequestBuilder) -> HeaderMap {
    let request = change(client().post("http://10.0.0.7/"));
    let request = request.attempt_headers().build().unwrap();
    request.headers().clone()
}

fn with_tonic() -> HeaderMap {
    let mut metadata = MetadataMap::new();
    set_attempt_metadata(&mut metadata);
    metadata.into_headers()
}

#[tokio::test(start_paused = true)]
async fn each_attempt_sends_the_key_of_the_call_its_number_and_the_time_left() {
    for sent in [
        sent(with_http).await,
        sent(|| with_reqwest(|request| request)).await,
    ] {
        assert_eq!(sent.len(), 3);
        let key = text(&sent[0], &IDEMPOTENCY_KEY);
        assert_eq!(key.len(), 36, "a UUID without quotes: {key}");
        for (place, headers) in sent.iter().enumerate() {
            assert_eq!(headers.len(), 3, "{headers:?}");
            assert_eq!(text(headers, &IDEMPOTENCY_KEY), key);
            assert_eq!(text(headers, &ATTEMPT_NUMBER), (place + 1).to_string());
            assert_eq!(text(headers, &TIMEOUT_MS), "2000", "the timeout is nearest");
        }
    }
}

/// The draft of the standard is about these two. A key of a GET would go to every server, and to its logs.
#[tokio::test(start_paused = true)]
async fn only_post_and_patch_send_a_key() {
    let methods = [
        (Method::POST, true),
        (Method::PATCH, true),
        (Method::GET, false),
        (Method::HEAD, false),
        (Method::PUT, false),
        (Method::DELETE, false),
    ];
    for (method, has_key) in methods {
        let plain = sent(|| {
            let mut request = Request::new(());
            *request.method_mut() = method.clone();
            set_attempt_headers(&mut request);
            request.headers().clone()
        });
        let of_reqwest = sent(|| {
            let request = client().request(method.clone(), "http://10.0.0.7/");
            request.attempt_headers().build().unwrap().headers().clone()
        });
        for headers in [plain.await, of_reqwest.await].concat() {
            assert_eq!(headers.contains_key(IDEMPOTENCY_KEY), has_key, "{method}");
            assert!(headers.contains_key(ATTEMPT_NUMBER), "{method}");
            assert!(headers.contains_key(TIMEOUT_MS), "{method}");
        }
    }
    // As the guide says.
    let own = sent(|| {
        let key = Attempt::current().unwrap().idempotency_key().to_string();
        let request = client().get("http://10.0.0.7/");
        let request = request.header(IDEMPOTENCY_KEY, key).attempt_headers();
        request.build().unwrap().headers().clone()
    });
    let own = own.await;
    let keys: Vec<_> = own
        .iter()
        .map(|headers| text(headers, &IDEMPOTENCY_KEY))
        .collect();
    assert_eq!(keys, [keys[0]; 3]);
}

#[tokio::test(start_paused = true)]
async fn another_call_has_another_key() {
    let (one, other) = (sent(with_http).await, sent(with_http).await);
    let keys = [&one[0], &other[0]].map(|headers| text(headers, &IDEMPOTENCY_KEY));
    assert_ne!(keys[0], keys[1]);
}

#[tokio::test(start_paused = true)]
async fn the_time_left_is_that_of_the_deadline_where_that_is_nearest() {
    #[retry(
        attempts = 2,
        deadline = "1s",
        base = "300ms",
        jitter = "none",
        budget = "none"
    )]
    async fn call(sent: &Mutex<Vec<HeaderMap>>) -> std::io::Result<()> {
        sent.lock().unwrap().push(with_http());
        Err(std::io::ErrorKind::ConnectionReset.into())
    }
    let sent = Mutex::default();
    call(&sent).await.unwrap_err();
    let sent = sent.into_inner().unwrap();
    let left = |headers| parse_millis(text(headers, &TIMEOUT_MS)).unwrap();
    assert_eq!(left(&sent[0]), Duration::from_secs(1));
    assert_eq!(left(&sent[1]), Duration::from_millis(700));
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_no_time_is_sent() {
    #[retry(attempts = 1)]
    async fn call() -> std::io::Result<[HeaderMap; 2]> {
        Ok([with_http(), with_tonic()])
    }
    let [http, tonic] = call().await.unwrap();
    assert!(!http.contains_key(TIMEOUT_MS), "{http:?}");
    assert!(!tonic.contains_key("grpc-timeout"), "{tonic:?}");
}

#[tokio::test(start_paused = true)]
async fn outside_of_a_call_nothing_is_sent() {
    for headers in [with_http(), with_reqwest(|request| request), with_tonic()] {
        assert!(headers.is_empty(), "{headers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_of_another_form_is_replaced_and_logged() {
    let (written, _guard) = Written::subscribe(tracing::Level::DEBUG);
    for headers in sent(|| {
        let mut request = Request::new(());
        let soon = "soon".parse().unwrap();
        request.headers_mut().insert(TIMEOUT_MS, soon);
        set_attempt_headers(&mut request);
        request.headers().clone()
    })
    .await
    {
        assert_eq!(text(&headers, &TIMEOUT_MS), "2000");
    }
    let log = written.take();
    assert!(log.contains("a header with a deadline is ignored"), "{log}");
}

#[test]
fn each_place_that_sets_them_outside_of_an_attempt_is_named_once() {
    let (written, _guard) = Written::subscribe(tracing::Level::INFO);
    let mut request = Request::new(());
    for times in [1, 0] {
        let first = line!() + 1;
        set_attempt_headers(&mut request);
        set_attempt_metadata(&mut MetadataMap::new());
        drop(client().get("http://10.0.0.7/").attempt_headers());
        let log = written.take();
        for line in [first, first + 1, first + 2] {
            let place = format!("an attempt place=tests/integrations/tests/headers.rs:{line}:");
            assert_eq!(log.matches(&place).count(), times, "{log}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_and_a_shorter_time_that_are_set_are_kept_and_a_number_is_replaced() {
    fn own(request: RequestBuilder) -> RequestBuilder {
        let request = request.header(IDEMPOTENCY_KEY, "\"order-7\"");
        request
            .header(ATTEMPT_NUMBER, "own")
            .header(TIMEOUT_MS, "1")
    }
    // The headers are visible for a body that is a stream, too.
    let stream = || Body::wrap(http_body_util::Full::new(&b"order"[..]));
    let streamed = |request| own(request).body(stream());
    for sent in [
        sent(|| with_reqwest(own)).await,
        sent(|| with_reqwest(streamed)).await,
    ] {
        for (place, headers) in sent.iter().enumerate() {
            assert_eq!(headers.len(), 3, "{headers:?}");
            assert_eq!(text(headers, &IDEMPOTENCY_KEY), "\"order-7\"");
            assert_eq!(text(headers, &ATTEMPT_NUMBER), (place + 1).to_string());
            assert_eq!(text(headers, &TIMEOUT_MS), "1");
        }
    }
    let metadata = sent(|| {
        let mut metadata = MetadataMap::new();
        for name in [
            "idempotency-key",
            "grpc-previous-rpc-attempts",
            "grpc-timeout",
        ] {
            metadata.insert(name, "own".parse().unwrap());
        }
        set_attempt_metadata(&mut metadata);
        metadata.into_headers()
    });
    let name = |name: &'static str| http::HeaderName::from_static(name);
    for (previous, headers) in metadata.await.iter().enumerate() {
        assert_eq!(text(headers, &name("idempotency-key")), "own");
        let told = headers.get("grpc-previous-rpc-attempts");
        let expected = (previous > 0).then(|| previous.to_string());
        assert_eq!(
            told.map(|value| value.to_str().unwrap().to_owned()),
            expected
        );
        // "own" is no time.
        let left = parse_grpc_timeout(text(headers, &name("grpc-timeout")));
        assert_eq!(left, Some(Duration::from_secs(2)));
    }
}

/// A proxy passes on what its client set.
#[tokio::test(start_paused = true)]
async fn a_server_is_never_promised_more_time_than_is_left() {
    let http = sent(|| {
        let mut request = Request::get("http://10.0.0.7/").body(()).unwrap();
        for time in ["5000", "7000"] {
            request
                .headers_mut()
                .append(TIMEOUT_MS, time.parse().unwrap());
        }
        set_attempt_headers(&mut request);
        request.headers().clone()
    });
    for headers in http.await {
        assert_eq!(text(&headers, &TIMEOUT_MS), "2000");
    }
    let grpc = sent(|| {
        let mut metadata = MetadataMap::new();
        metadata.insert("grpc-timeout", "5S".parse().unwrap());
        set_attempt_metadata(&mut metadata);
        metadata.into_headers()
    });
    let name = http::HeaderName::from_static("grpc-timeout");
    for headers in grpc.await {
        let left = parse_grpc_timeout(text(&headers, &name));
        assert_eq!(left, Some(Duration::from_secs(2)));
    }
}

/// `send` returns the error of the builder, and no other error.
#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_built_keeps_its_error() {
    #[retry(attempts = 1)]
    async fn build(client: &Client) -> Result<(), RequestError> {
        let request = client.post("/no/base").attempt_headers();
        request.send().await?.check()?;
        Ok(())
    }
    let client = client();
    let expected = client.post("/no/base").build().unwrap_err();
    let error = build(&client).await.unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        format!("{:?}", RequestError::from(expected))
    );
}

#[tokio::test(start_paused = true)]
async fn grpc_has_names_of_its_own() {
    let sent = sent(with_tonic).await;
    let name = |name: &'static str| http::HeaderName::from_static(name);
    let key = text(&sent[0], &name("idempotency-key"));
    for (previous, headers) in sent.iter().enumerate() {
        assert_eq!(text(headers, &name("idempotency-key")), key);
        let left = parse_grpc_timeout(text(headers, &name("grpc-timeout")));
        assert_eq!(left, Some(Duration::from_secs(2)));
        let expected = (previous > 0).then(|| previous.to_string());
        let told = headers.get("grpc-previous-rpc-attempts");
        assert_eq!(
            told.map(|value| value.to_str().unwrap().to_owned()),
            expected
        );
    }
}

/// The requests go to a real server, which reads the headers.
#[tokio::test]
async fn a_server_gets_them() {
    #[retry(attempts = 2, base = "1ms", timeout = "5s")]
    async fn post(client: &Client, url: &str) -> Result<u16, RequestError> {
        let request = client.post(url).body("order").attempt_headers();
        Ok(request.send().await?.check()?.status().as_u16())
    }
    let server = Loopback::start(&[Answer::Reset]).await;
    assert_eq!(post(&client(), &server.url()).await.unwrap(), 200);
    let requests = server.requests();
    assert_eq!(requests.len(), 2, "{requests:#?}");
    for (place, request) in requests.iter().enumerate() {
        let number = format!("x-attempt-number: {}", place + 1);
        for line in [number.as_str(), "idempotency-key: ", "x-timeout-ms: "] {
            assert!(request.contains(line), "{line}: {request}");
        }
        assert!(!request.contains("reattempt"), "{request}");
    }
}

/// With `grpc-timeout`, the server and the client give up at the same time. Whichever is first, it is a timeout
/// that the call retries.
#[tokio::test]
async fn a_grpc_server_that_gives_up_first_is_asked_again() {
    #[retry(attempts = 3, base = "1ms", timeout = "20s", budget = "none")]
    async fn check(client: &HealthClient<Channel>) -> Result<(), reattempt::Error<Status>> {
        let mut request = tonic::Request::new(HealthCheckRequest::default());
        set_attempt_metadata(request.metadata_mut());
        client.clone().check(request).await?;
        Ok(())
    }
    let same_time = Service::start(|_| Some(grpc::stall())).await;
    let stalls = |_| Some(Status::unknown("stall"));
    let server_first = Service::start_hurried(Duration::from_millis(5), stalls).await;
    for service in [same_time, server_first] {
        let (result, report) = with_report(check(&service.client())).await;
        let error = result.unwrap_err();
        assert_eq!(report.unwrap().attempts(), 3, "{error}");
        assert_eq!(service.calls(), 3);
    }
}

/// As the guide's page on deadlines says: the channel reads the time left, too.
#[tokio::test(start_paused = true)]
async fn a_channel_may_end_an_attempt_at_the_same_instant_as_its_limit() {
    static TOKENS: reattempt::Budget = reattempt::Budget::new().with_refill(0.0);

    #[retry(attempts = 2, timeout = "1s", budget = TOKENS)]
    async fn check(channel: &Channel) -> Result<(), reattempt::Error<Status>> {
        let mut request = tonic::Request::new(HealthCheckRequest::default());
        set_attempt_metadata(request.metadata_mut());
        HealthClient::new(channel.clone()).check(request).await?;
        Ok(())
    }

    let (ours, _theirs) = tokio::io::duplex(1 << 16);
    let mut ours = Some(hyper_util::rt::TokioIo::new(ours));
    let connect = tower::service_fn(move |_| {
        std::future::ready(ours.take().ok_or(Status::unavailable("once")))
    });
    let channel = Endpoint::from_static("http://a.example").connect_with_connector_lazy(connect);
    let (ended, report) = with_report(check(&channel)).await;
    let error = ended.unwrap_err();
    assert!(
        matches!(&error, reattempt::Error::Failed(status) if status.code() == Code::Cancelled),
        "{error:?}"
    );
    assert_eq!(error.verdict(), Verdict::Transient);
    let report = report.unwrap();
    assert_eq!(report.attempts(), 2);
    assert_eq!(report.budget_level(), Some(194.0), "as after a timeout");
}
