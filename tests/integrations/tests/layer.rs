//! The layer of `tower` and the middleware of `reqwest-middleware`, as a gateway uses them.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Body, Bytes, Frame};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use integrations::proxy::{Proxy, To};
use integrations::until;
use integrations::upstream::{Upstream, Version};
use integrations::written::Written;
use reattempt::http_1::{StatusError, is_idempotent, set_attempt_headers};
use reattempt::testing::{Fault, Scope};
use reattempt::tower_0_5::{HttpRequests, RequestBody, Requests, RetryLayer, RetryService};
use reattempt::{
    Attempt, Budget, Budgets, Jitter, Outcome, Policy, Retryable, Stopped, WithoutLimits, deadline,
    retry, with_report,
};
use reqwest_middleware::ClientBuilder;
use tokio::sync::{Barrier, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tower::buffer::Buffer;
use tower::limit::ConcurrencyLimit;
use tower::util::BoxCloneService;
use tower::{Layer as _, Service, ServiceExt as _, service_fn};

const QUICK: Policy = Policy::new()
    .with_attempts(3)
    .with_base(Duration::from_millis(1));

/// Longer than any of these calls takes, if it ends.
const LONG: Duration = Duration::from_mins(1);

type Http = Client<HttpConnector, Full<Bytes>>;

fn http(version: Version) -> Http {
    let mut client = Client::builder(TokioExecutor::new());
    client.http2_only(matches!(version, Version::Two(_)));
    client.build_http()
}

fn get(url: &str) -> Request<Full<Bytes>> {
    Request::get(url).body(Full::default()).unwrap()
}

/// Sends one request by the layer, and one by the middleware.
async fn send_by(middleware: bool, version: Version, url: &str) -> u16 {
    if !middleware {
        let client = RetryLayer::new(QUICK).layer(http(version));
        return client.oneshot(get(url)).await.unwrap().status().as_u16();
    }
    let client = reqwest::Client::builder().no_proxy();
    let client = match version {
        Version::One => client,
        Version::Two(_) => client.http2_prior_knowledge(),
    };
    let client = ClientBuilder::new(client.build().unwrap()).with(RetryLayer::new(QUICK));
    client
        .build()
        .get(url)
        .send()
        .await
        .unwrap()
        .status()
        .as_u16()
}

fn busy(length: usize, retry_after: u32) -> Response<Full<Bytes>> {
    let response = Response::builder().status(503);
    let response = response.header("retry-after", retry_after);
    response.body(Full::from(vec![b'a'; length])).unwrap()
}

/// The body of the first answer would take the only stream of the connection until someone read it.
#[tokio::test]
async fn an_attempt_does_not_wait_for_the_answer_of_the_one_before() {
    for middleware in [false, true] {
        let version = Version::Two(1);
        let server = Upstream::start(version, |call, _| match call {
            0 => busy(3 << 20, 0),
            _ => Response::new(Full::from("done")),
        });
        let url = server.url();
        let sent = timeout(LONG, send_by(middleware, version, &url)).await;
        assert_eq!((sent, server.calls()), (Ok(200), 2), "{middleware}");
    }
}

/// Holds a permit until it is dropped.
struct Held(#[expect(dead_code, reason = "only its drop matters")] OwnedSemaphorePermit);

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_holds_a_permit_gives_it_back_before_the_wait() {
    let permits = Arc::new(Semaphore::new(1));
    let of_service = Arc::clone(&permits);
    let service = service_fn(move |_: Request<String>| {
        let permits = Arc::clone(&of_service);
        async move {
            let permit = permits.acquire_owned().await.unwrap();
            let response = Response::builder().status(503).header("retry-after", 10);
            Ok::<_, Infallible>(response.body(Held(permit)).unwrap())
        }
    });
    let client = RetryLayer::new(QUICK).layer(service);
    let began = Instant::now();
    let call = tokio::spawn(client.oneshot(Request::new(String::new())));
    let free = async {
        while permits.available_permits() == 1 {
            tokio::task::yield_now().await;
        }
        drop(permits.acquire().await.unwrap());
    };
    timeout(LONG, free).await.unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    // The last answer is that of the caller.
    let response = timeout(LONG, call).await.unwrap().unwrap().unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(permits.available_permits(), 0);
}

#[tokio::test]
async fn calls_that_wait_hold_up_no_other_on_their_connection() {
    const CALLS: usize = 150;
    let server = Upstream::start(Version::Two(1_000), |_, request| {
        match request.uri().path() {
            "/busy" => busy(64 << 10, 50),
            _ => Response::new(Full::from(vec![b'b'; 64 << 10])),
        }
    });
    let client = RetryLayer::new(QUICK).layer(http(Version::Two(1_000)));
    let url = format!("{}busy", server.url());
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(client.clone().oneshot(get(&url)));
    }
    until("all calls wait", async || server.calls() >= CALLS).await;
    // The answers are on their way.
    let read = async {
        let response = client.clone().oneshot(get(&server.url())).await.unwrap();
        response.into_body().collect().await.unwrap().to_bytes()
    };
    let read = timeout(Duration::from_secs(20), read).await;
    assert_eq!(read.expect("the connection is held up").len(), 64 << 10);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn calls_that_wait_leave_their_connection_to_others() {
    for middleware in [false, true] {
        const CALLS: usize = 40;
        let server = Upstream::start(Version::One, |_, _| busy(8 << 10, 50));
        let layered = RetryLayer::new(QUICK).layer(http(Version::One));
        let plain = reqwest::Client::builder().no_proxy().build().unwrap();
        let with_middleware = ClientBuilder::new(plain)
            .with(RetryLayer::new(QUICK))
            .build();
        let mut calls = JoinSet::new();
        for call in 1..=CALLS {
            if middleware {
                let request = with_middleware.get(server.url());
                calls.spawn(async move { drop(request.send().await) });
            } else {
                let request = layered.clone().oneshot(get(&server.url()));
                calls.spawn(async move { drop(request.await) });
            }
            until("the call waits", async || server.calls() == call).await;
        }
        assert!(server.connections() < CALLS / 2, "{}", server.connections());
    }
}

/// A server that shuts down answers each request on its connections with a 503. A middleware of `reqwest` cannot leave one.
#[tokio::test]
async fn a_retry_takes_another_connection_unless_the_server_says_when() {
    for (path, way, connections) in [
        ("503", "layer", 2),
        ("503/0", "layer", 1),
        ("429/0", "layer", 1),
        ("503", "middleware", 1),
        ("503", "middleware without a pool", 2),
    ] {
        let server = Upstream::start(Version::One, |call, request| {
            let response = match &request.uri().path()[1..] {
                _ if call > 0 => Response::builder(),
                "503" => Response::builder().status(503),
                path => Response::builder()
                    .status(&path[..3])
                    .header("retry-after", 0),
            };
            response.body(Full::from(vec![b'a'; 8 << 10])).unwrap()
        });
        let url = format!("{}{path}", server.url());
        let sent = if way == "middleware without a pool" {
            let client = reqwest::Client::builder().no_proxy();
            let client = client.pool_max_idle_per_host(0).build().unwrap();
            let client = ClientBuilder::new(client).with(RetryLayer::new(QUICK));
            let response = client.build().get(&url).send().await;
            response.unwrap().status().as_u16()
        } else {
            send_by(way == "middleware", Version::One, &url).await
        };
        assert_eq!((sent, server.calls()), (200, 2), "{path}, {way}");
        assert_eq!(server.connections(), connections, "{path}, {way}");
    }
}

/// Its server does not say how long the body is.
#[tokio::test(start_paused = true)]
async fn of_a_rest_without_an_end_at_most_16_kib_are_read() {
    static READ: AtomicU32 = AtomicU32::new(0);
    let service = service_fn(|_: Request<String>| {
        let endless = stream::repeat_with(|| {
            READ.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[0; 1024])))
        });
        let response = Response::builder().status(503);
        ready(Ok::<_, Infallible>(
            response.body(StreamBody::new(endless)).unwrap(),
        ))
    });
    let client = RetryLayer::new(QUICK.with_attempts(2)).layer(service);
    let sent = client.oneshot(Request::new(String::new())).await;
    assert_eq!(sent.unwrap().status(), 503);
    // That of the first answer. With the last frame, it is longer.
    assert_eq!(READ.load(Ordering::Relaxed), 17);
}

/// A service of which all permits are taken.
fn full() -> ConcurrencyLimit<
    impl Service<Request<String>, Response = Response<String>, Error = Infallible, Future: Send>
    + Clone
    + Send,
> {
    let none = Arc::new(Semaphore::new(0));
    let service =
        service_fn(async |_: Request<String>| Ok::<_, Infallible>(Response::new(String::new())));
    ConcurrencyLimit::with_semaphore(service, none)
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_permit_is_a_part_of_the_call() {
    let request = || Request::new(String::new());
    let stopped = |sent: Result<_, Box<dyn Error + Send + Sync>>| {
        let stopped = sent.map(|_: Response<String>| ()).unwrap_err();
        stopped.downcast::<Stopped>().unwrap().outcome()
    };
    let hasty = RetryLayer::new(QUICK.with_timeout(Duration::from_millis(200)));
    let (sent, report) = with_report(timeout(LONG, hasty.layer(full()).oneshot(request()))).await;
    assert_eq!(stopped(sent.unwrap()), Outcome::Timeout);
    assert_eq!(report.unwrap().attempts(), 3);

    let bounded = RetryLayer::new(QUICK.with_deadline(Duration::from_millis(200)));
    let sent = timeout(LONG, bounded.layer(full()).oneshot(request())).await;
    assert_eq!(stopped(sent.unwrap()), Outcome::Deadline);

    let within = Duration::from_millis(200);
    let call = RetryLayer::new(QUICK).layer(full()).oneshot(request());
    let sent = timeout(LONG, deadline::scope(within, call)).await;
    assert_eq!(stopped(sent.unwrap()), Outcome::Deadline);
}

/// An attempt that was cut leaves no clone behind that still asks for a permit, and would get it in the wait.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_after_it_waited_for_a_permit_takes_none() {
    let permits = Arc::new(Semaphore::new(0));
    let service =
        service_fn(async |_: Request<String>| Ok::<_, Infallible>(Response::new(String::new())));
    let limited = ConcurrencyLimit::with_semaphore(service, Arc::clone(&permits));
    let waits = QUICK.with_timeout(Duration::from_millis(200));
    let waits = waits.with_delays(const { &[Duration::from_secs(1)] });
    let call = RetryLayer::new(waits)
        .layer(limited)
        .oneshot(Request::new(String::new()));
    let call = tokio::spawn(call);
    sleep(Duration::from_millis(500)).await;
    permits.add_permits(1);
    assert_eq!(permits.available_permits(), 1);
    assert_eq!(call.await.unwrap().unwrap().status(), 200);
}

/// Nothing was sent while the service was not ready.
#[tokio::test(start_paused = true)]
async fn a_post_that_was_not_handed_over_in_time_is_sent_later() {
    let hasty = QUICK
        .with_attempts(5)
        .with_timeout(Duration::from_millis(100));
    let post = || Request::post("/").body(String::new()).unwrap();
    let permits = Arc::new(Semaphore::new(0));
    let service =
        service_fn(async |_: Request<String>| Ok::<_, Infallible>(Response::new(String::new())));
    let budget = Arc::new(Budget::new());
    let layer = RetryLayer::new(hasty.clone()).with_budget(Arc::clone(&budget));
    let limited = ConcurrencyLimit::with_semaphore(service, Arc::clone(&permits));
    let call = tokio::spawn(with_report(layer.layer(limited).oneshot(post())));
    sleep(Duration::from_millis(250)).await;
    // As after two refused connections.
    assert!(budget.level() >= 196.0, "{}", budget.level());
    permits.add_permits(1);
    let (sent, report) = call.await.unwrap();
    assert_eq!(sent.unwrap().status(), 200);
    assert_eq!(report.unwrap().attempts(), 3);

    // At last, the caller gets the timeout.
    let client = RetryLayer::new(hasty.clone()).layer(full());
    let (sent, report) = with_report(client.oneshot(post())).await;
    let stopped = sent.unwrap_err().downcast::<Stopped>().unwrap();
    assert_eq!(
        (stopped.outcome(), stopped.attempts()),
        (Outcome::Timeout, 5)
    );
    assert_eq!(report.unwrap().attempts(), 5);

    // One that was handed over may have run.
    let stalls = service_fn(|_: Request<String>| pending::<Result<Response<String>, ShopError>>());
    let client = RetryLayer::new(hasty).layer(stalls);
    let (sent, report) = with_report(client.oneshot(post())).await;
    assert!(sent.unwrap_err().is::<Stopped>());
    assert_eq!(report.unwrap().attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_shed_below_is_sent_when_there_is_room() {
    let permits = Arc::new(Semaphore::new(0));
    let service =
        service_fn(async |_: Request<String>| Ok::<_, Infallible>(Response::new(String::new())));
    let limited = ConcurrencyLimit::with_semaphore(service, Arc::clone(&permits));
    let patient = QUICK.with_attempts(5).with_base(Duration::from_secs(1));
    let client = RetryLayer::new(patient).layer(tower::load_shed::LoadShed::new(limited));
    let post = Request::post("/").body(String::new()).unwrap();
    let call = tokio::spawn(with_report(client.oneshot(post)));
    tokio::task::yield_now().await;
    permits.add_permits(1);
    let (sent, report) = call.await.unwrap();
    assert_eq!(sent.unwrap().status(), 200);
    assert_eq!(report.unwrap().attempts(), 2);
}

/// A service that fails to be ready the first time.
#[derive(Clone)]
struct ReadyLater(Arc<AtomicU32>);

impl Service<Request<String>> for ReadyLater {
    type Response = Response<String>;
    type Error = std::io::Error;
    type Future = Ready<Result<Response<String>, std::io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(std::io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        })
    }

    fn call(&mut self, _: Request<String>) -> Self::Future {
        ready(Ok(Response::new(String::new())))
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_fails_to_be_ready_is_asked_again() {
    let client = RetryLayer::new(QUICK).layer(ReadyLater(Arc::default()));
    let (sent, report) = with_report(client.oneshot(Request::new(String::new()))).await;
    assert_eq!(sent.unwrap().status(), 200);
    assert_eq!(report.unwrap().attempts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_a_pause_takes_no_permit() {
    static PAUSED: Budget = Budget::new().with_pause();
    let permits = Arc::new(Semaphore::new(1));
    let service = service_fn(async |request: Request<String>| {
        if request.uri().path() == "/slow" {
            pending::<()>().await;
        }
        let response = Response::builder().status(429).header("retry-after", 30);
        Ok::<_, Infallible>(response.body(String::new()).unwrap())
    });
    let service = ConcurrencyLimit::with_semaphore(service, Arc::clone(&permits));
    let client = RetryLayer::new(QUICK).with_budget(&PAUSED).layer(service);
    let mut calls = JoinSet::new();
    for _ in 0..3 {
        calls.spawn(client.clone().oneshot(Request::new(String::new())));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(permits.available_permits(), 1);
    }
}

/// In a test scope, an attempt may end with a response or an error in place of the service, which is not called then.
#[tokio::test(start_paused = true)]
async fn a_fault_of_a_layer_is_a_response_or_an_error() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let client = service_fn(move |_: Request<String>| {
        counted.fetch_add(1, Ordering::Relaxed);
        ready(Ok::<_, ShopError>(Response::new(String::new())))
    });
    let client = RetryLayer::new(QUICK).with_name("shop").layer(client);
    let busy = || Response::builder().status(503).body(String::new()).unwrap();
    let scope = Scope::new().with_fault("shop", Fault::ends_with(busy).first(1));
    let scope = scope.with_fault("shop", Fault::ends_with(|| ShopError::Busy).first(1));
    let (sent, log) = scope.run(client.oneshot(Request::new(String::new()))).await;
    assert_eq!(sent.unwrap().status(), 200);
    assert_eq!(log.calls()[0].report().attempts(), 3);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

/// An error of a service, with a verdict of its own.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, Retryable)]
enum ShopError {
    #[error("the shop is busy")]
    #[retryable(transient)]
    Busy,
    #[error("no such item")]
    #[retryable(permanent)]
    NoItem,
}

fn failing<E: Copy + Send + 'static>(
    error: E,
) -> impl Service<Request<String>, Response = Response<String>, Error = E, Future: Send> + Clone + Send
{
    service_fn(move |_: Request<String>| ready(Err::<Response<String>, _>(error)))
}

/// The types of services, as one writes them in a field.
struct Shop<S> {
    limited: RetryService<S>,
    client: RetryService<S, HttpRequests, WithoutLimits>,
}

fn shop<E: Copy + Retryable + Error + Send + Sync + 'static>(
    error: E,
) -> Shop<
    impl Service<Request<String>, Response = Response<String>, Error = E, Future: Send> + Clone + Send,
> {
    let unlimited: RetryLayer<HttpRequests, WithoutLimits> =
        RetryLayer::new(QUICK.without_limits());
    Shop {
        limited: RetryLayer::new(QUICK).layer(failing(error)),
        client: unlimited.layer(failing(error)),
    }
}

#[tokio::test(start_paused = true)]
async fn the_type_of_an_error_says_whether_it_is_retried() {
    let request = || Request::new(String::new());
    for (error, attempts) in [(ShopError::Busy, 3), (ShopError::NoItem, 1)] {
        let shop = shop(error);
        let (sent, report) = with_report(shop.limited.oneshot(request())).await;
        assert_eq!(sent.unwrap_err().downcast_ref(), Some(&error));
        assert_eq!(report.unwrap().attempts(), attempts);
        // Without limits, nothing else can be the error.
        let (sent, report) = with_report(shop.client.oneshot(request())).await;
        let error: ShopError = sent.unwrap_err();
        assert_eq!((report.unwrap().attempts(), error), (attempts, error));
    }
    // Also if that is a box.
    let boxed = failing(std::io::ErrorKind::ConnectionReset);
    let boxed = boxed.map_err(|kind| tower::BoxError::from(std::io::Error::from(kind)));
    let client = RetryLayer::new(QUICK.without_limits()).layer(boxed);
    let (sent, report) = with_report(client.oneshot(request())).await;
    let error: tower::BoxError = sent.unwrap_err();
    assert!(error.is::<std::io::Error>());
    assert_eq!(report.unwrap().attempts(), 3);
    // In a box, what this crate knows counts.
    let below = tower::ServiceBuilder::new().timeout(Duration::from_secs(1));
    let stalls = service_fn(|_: Request<String>| pending::<Result<Response<String>, ShopError>>());
    let client = RetryLayer::new(QUICK).layer(below.service(stalls));
    let (sent, report) = with_report(client.oneshot(request())).await;
    assert!(sent.unwrap_err().is::<tower::timeout::error::Elapsed>());
    assert_eq!(report.unwrap().attempts(), 3);
    // A service that sheds load has not run, so a POST is sent again.
    let client = RetryLayer::new(QUICK).layer(tower::load_shed::LoadShed::new(full()));
    let post = Request::post("/").body(String::new()).unwrap();
    let (sent, report) = with_report(client.oneshot(post)).await;
    assert!(
        sent.unwrap_err()
            .is::<tower::load_shed::error::Overloaded>()
    );
    assert_eq!(report.unwrap().attempts(), 3);
}

/// Only the body says whether a 429 can pass.
#[derive(Clone)]
struct Quotas;

type Answer = Response<Full<Bytes>>;

impl Requests<Request<String>, Answer> for Quotas {
    type Failure = StatusError;

    fn copy(&self, request: Request<String>) -> (Request<String>, Option<Request<String>>) {
        (request.clone(), Some(request))
    }

    fn is_idempotent(&self, request: &Request<String>) -> bool {
        is_idempotent(request.method(), request.headers())
    }

    async fn failure(
        &self,
        request: Option<&Request<String>>,
        response: &mut Answer,
    ) -> Option<StatusError> {
        assert_eq!(request.map(|request| request.uri().path()), Some("/"));
        let failure = StatusError::from_parts(response.status(), response.headers())?;
        let body = std::mem::take(response.body_mut()).collect().await;
        let body = body.unwrap_or_else(|never| match never {}).to_bytes();
        *response.body_mut() = body.clone().into();
        (body != "quota used up").then_some(failure)
    }
}

#[tokio::test(start_paused = true)]
async fn the_body_of_a_response_can_decide() {
    for (body, attempts) in [("slow down", 3), ("quota used up", 1)] {
        let service = service_fn(move |_: Request<String>| {
            let response = Response::builder().status(429).body(Full::from(body));
            ready(Ok::<_, Infallible>(response.unwrap()))
        });
        let client = RetryLayer::new(QUICK).with_requests(Quotas).layer(service);
        let (sent, report) = with_report(client.oneshot(Request::new(String::new()))).await;
        assert_eq!(report.unwrap().attempts(), attempts);
        let left = sent
            .unwrap()
            .into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes();
        assert_eq!(left, body);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_down_takes_no_retries_from_another() {
    static OF_HOSTS: Budgets<String> = Budgets::new(Budget::new().with_capacity(20));
    let service = service_fn(|request: Request<String>| {
        ready(match request.uri().host() {
            Some("down.example" | "DOWN.example") => Err(ShopError::Busy),
            _ => Ok(Response::builder().status(503).body(String::new()).unwrap()),
        })
    });
    for (layer, left) in [
        (RetryLayer::new(QUICK), 3),
        (RetryLayer::new(QUICK).with_budgets(&OF_HOSTS), 3),
        // One for all.
        (RetryLayer::new(QUICK).with_budget(Budget::new()), 1),
    ] {
        let client = layer.layer(service);
        let attempts = async |url: &str| {
            let request = Request::get(url).body(String::new()).unwrap();
            let (_, report) = with_report(client.clone().oneshot(request)).await;
            report.unwrap().attempts()
        };
        for _ in 0..100 {
            attempts("http://down.example:8080/").await;
        }
        assert_eq!(attempts("http://down.example:8080/").await, 1);
        assert_eq!(attempts("http://user@DOWN.example:8080/").await, 1);
        assert_eq!(attempts("http://other.example/").await, left);
        assert_eq!(attempts("http://other.example:8080/").await, left);
    }
}

#[tokio::test(start_paused = true)]
async fn the_key_of_a_client_repeats_no_post_of_a_proxy() {
    let service =
        service_fn(|_: Request<String>| ready(Err::<Response<String>, _>(ShopError::Busy)));
    let attempts = async |requests: &HttpRequests, request: http::request::Builder| {
        let client = RetryLayer::new(QUICK)
            .with_requests(requests.clone())
            .layer(service);
        let request = request.body(String::new()).unwrap();
        with_report(client.oneshot(request))
            .await
            .1
            .unwrap()
            .attempts()
    };
    for (requests, with_key) in [(HttpRequests::new(), 3), (HttpRequests::proxy(), 1)] {
        let post = Request::post("/").header("idempotency-key", "order-7");
        assert_eq!(attempts(&requests, post).await, with_key);
        assert_eq!(attempts(&requests, Request::post("/")).await, 1);
        assert_eq!(attempts(&requests, Request::put("/")).await, 3);
        assert_eq!(
            attempts(&requests, Request::put("/").header("if-match", "1")).await,
            1
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_that_only_reads_is_named_by_its_path() {
    let service =
        service_fn(|_: Request<String>| ready(Err::<Response<String>, _>(ShopError::Busy)));
    let requests =
        HttpRequests::proxy().with_idempotent(|method, path| method == "POST" && path == "/search");
    let client = RetryLayer::new(QUICK)
        .with_requests(requests)
        .layer(service);
    for (request, attempts) in [
        (Request::post("http://shop.example/search?q=tea"), 3),
        (Request::patch("http://shop.example/search"), 1),
        (Request::post("http://shop.example/order"), 1),
    ] {
        let call = client.clone().oneshot(request.body(String::new()).unwrap());
        let report = with_report(call).await.1.unwrap();
        assert_eq!(report.attempts(), attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn rules_of_the_requests_say_what_did_not_run_and_how_long_to_wait() {
    let millis = |_, headers: &HeaderMap| {
        let millis = headers.get("x-wait")?.to_str().ok()?.parse().ok()?;
        Some(Duration::from_millis(millis))
    };
    let refused =
        |refused: u16| HttpRequests::new().with_refusals(move |status, _| status == refused);
    let asked = |requests: HttpRequests| requests.with_retry_after(millis);
    for (requests, status, waits, attempts, waited) in [
        (HttpRequests::new(), 429, "1700", 1, 0),
        (asked(HttpRequests::new()), 429, "1700", 1, 0),
        (asked(refused(429)), 429, "1700", 3, 3_400),
        // Also in the last second of a limit, requests come no faster than the policy has them.
        (asked(refused(429)), 429, "0", 3, 3),
        // While a service moves, its load balancer answers so.
        (refused(404), 404, "", 3, 3),
        (refused(404), 400, "", 1, 0),
    ] {
        let service = service_fn(move |_: Request<String>| {
            let response = Response::builder().status(status).header("x-wait", waits);
            ready(Ok::<_, Infallible>(response.body(String::new()).unwrap()))
        });
        let policy = QUICK.with_jitter(Jitter::None);
        let layer = RetryLayer::new(policy).with_requests(requests);
        let began = Instant::now();
        let post = Request::post("/").body(String::new()).unwrap();
        let (sent, report) = with_report(layer.layer(service).oneshot(post)).await;
        assert_eq!(sent.unwrap().status(), status);
        assert_eq!(report.unwrap().attempts(), attempts);
        assert_eq!(began.elapsed(), Duration::from_millis(waited));
    }
}

/// A body that cannot be copied.
struct Streamed;

impl RequestBody for Streamed {
    fn copy(&self) -> Option<Self> {
        None
    }
}

#[derive(Debug, thiserror::Error, Retryable)]
#[error("no answer")]
#[retryable(transient)]
struct NoAnswer(#[source] ShopError);

#[tokio::test(start_paused = true)]
async fn events_and_errors_have_the_causes() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let (log, _guard) = Written::subscribe(tracing::Level::DEBUG);
    let service =
        service_fn(
            async |_: Request<String>| match CALLS.fetch_add(1, Ordering::Relaxed) {
                0 => Err(NoAnswer(ShopError::Busy)),
                _ => Ok(pending::<Response<String>>().await),
            },
        );
    let hasty = RetryLayer::new(QUICK.with_timeout(Duration::from_secs(1)));
    let client = hasty.with_name("shop 7").layer(service);
    let (sent, report) = with_report(client.oneshot(Request::new(String::new()))).await;
    assert_eq!(report.unwrap().function(), "shop 7");
    let stopped = sent.unwrap_err().downcast::<Stopped>().unwrap();
    let source = stopped.source().unwrap();
    assert!(source.is::<NoAnswer>(), "{source:?}");
    log.counts("no answer: the shop is busy", 1);

    let service =
        service_fn(|_: Request<Streamed>| ready(Err::<Response<String>, _>(ShopError::Busy)));
    let client = RetryLayer::new(QUICK).layer(service);
    client.oneshot(Request::new(Streamed)).await.unwrap_err();
    log.counts(
        "the shop is busy (the request cannot be copied, so it is sent once)",
        1,
    );

    let service =
        service_fn(|_: Request<String>| ready(Err::<Response<String>, _>(ShopError::Busy)));
    let client = RetryLayer::new(QUICK).layer(service);
    let post = Request::post("http://shop.example/").body(String::new());
    client.oneshot(post.unwrap()).await.unwrap_err();
    log.counts(
        "shop.example: the shop is busy (the request may not run twice)",
        1,
    );

    // Nothing ran, so it is sent again.
    let client = RetryLayer::new(QUICK).layer(tower::load_shed::LoadShed::new(full()));
    let post = Request::post("http://shed.example/").body(String::new());
    client.oneshot(post.unwrap()).await.unwrap_err();
    log.counts("shed.example: ", 3);
    log.counts("(the request may not run twice)", 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_above_counts_calls_that_wait_and_one_below_counts_attempts() {
    for above in [true, false] {
        let permits = Arc::new(Semaphore::new(1));
        let service = service_fn(|request: Request<String>| {
            let status = if request.uri().path() == "/busy" {
                503
            } else {
                200
            };
            let response = Response::builder().status(status).header("retry-after", 10);
            ready(Ok::<_, Infallible>(response.body(String::new()).unwrap()))
        });
        let layer = RetryLayer::new(QUICK);
        let client = if above {
            BoxCloneService::new(ConcurrencyLimit::with_semaphore(
                layer.layer(service),
                permits,
            ))
        } else {
            BoxCloneService::new(layer.layer(ConcurrencyLimit::with_semaphore(service, permits)))
        };
        let to = |path| {
            client
                .clone()
                .oneshot(Request::get(path).body(String::new()).unwrap())
        };
        let waits = tokio::spawn(to("/busy"));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        assert_eq!(to("/").await.unwrap().status(), 200);
        assert_eq!(began.elapsed() >= Duration::from_secs(10), above);
        assert_eq!(waits.await.unwrap().unwrap().status(), 503);
    }
}

#[tokio::test(start_paused = true)]
async fn a_load_shed_above_sheds_nothing_and_a_policy_with_hedge_makes_one_attempt() {
    let hasty = RetryLayer::new(QUICK.with_timeout(Duration::from_millis(200)));
    let client = tower::load_shed::LoadShed::new(hasty.layer(full()));
    let sent = client.oneshot(Request::new(String::new())).await;
    assert!(sent.unwrap_err().is::<Stopped>());

    let slow = service_fn(async |_: Request<String>| {
        sleep(Duration::from_secs(1)).await;
        Ok::<_, Infallible>(Response::new(String::new()))
    });
    let client = RetryLayer::new(QUICK.with_hedge(Duration::from_millis(10))).layer(slow);
    let (_, report) = with_report(client.oneshot(Request::new(String::new()))).await;
    assert_eq!(report.unwrap().attempts(), 1);
}

/// What the other body of an outer attempt has sent hangs, so the request of this one waits.
#[tokio::test(start_paused = true)]
async fn a_request_that_waits_for_the_other_of_two_ends_at_the_limits_of_its_own_layer() {
    #[retry(hedge = "20ms", attempts = 2, when = |_| true)]
    async fn hedged(
        both: &Barrier,
        service: BoxCloneService<Request<String>, Response<String>, Infallible>,
        (hedge_waits, limits): &(bool, Policy),
        ended: &Mutex<Option<(u128, Outcome, u32)>>,
    ) -> Result<(), tower::BoxError> {
        // What is sent before the hedge begins would prevent it.
        both.wait().await;
        let waits = Attempt::current().unwrap().is_hedge() == *hedge_waits;
        if waits {
            sleep(Duration::from_millis(1)).await;
        }
        let began = Instant::now();
        let post = Request::post("/").body(String::new())?;
        let long = QUICK.with_timeout(LONG);
        let layer = RetryLayer::new(if waits { limits.clone() } else { long });
        let (sent, report) = with_report(layer.layer(service).oneshot(post)).await;
        let stopped = sent.unwrap_err().downcast::<Stopped>().unwrap();
        if waits {
            let took = began.elapsed().as_millis();
            let attempts = report.unwrap().attempts();
            *ended.lock().unwrap() = Some((took, stopped.outcome(), attempts));
        }
        Err(stopped)
    }

    let timeout = QUICK.with_timeout(Duration::from_secs(1));
    let deadline = QUICK.with_deadline(Duration::from_secs(2));
    let twice = timeout.clone().with_delays(&[Duration::ZERO]);
    // Within a hedge, a call makes one attempt.
    for (limits, took, outcome, attempts) in [
        ((true, deadline), 2_000, Outcome::Deadline, 1),
        ((true, timeout), 1_000, Outcome::Timeout, 1),
        ((false, twice), 2_000, Outcome::Timeout, 2),
    ] {
        let (sent, ended) = (Arc::new(AtomicU32::new(0)), Mutex::default());
        let counted = Arc::clone(&sent);
        let hangs = BoxCloneService::new(service_fn(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            pending()
        }));
        let both = Barrier::new(2);
        let call = with_report(hedged(&both, hangs, &limits, &ended));
        let report = Scope::new().with_waits(true).run(call).await.0.1;
        let ended = ended.into_inner().unwrap();
        assert_eq!(ended, Some((took, outcome, attempts)));
        assert_eq!(sent.load(Ordering::Relaxed), 1, "only the other sends it");
        assert_eq!(report.unwrap().outcome(), Outcome::InDoubt);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_never_sent_is_not_in_doubt() {
    #[retry(attempts = 2, base = "1ms", when = |_| true)]
    async fn outer(policy: &Policy) -> Result<(), tower::BoxError> {
        let client = RetryLayer::new(policy.clone()).layer(full());
        client
            .oneshot(Request::post("/").body(String::new())?)
            .await?;
        Ok(())
    }
    let second = Duration::from_secs(1);
    for policy in [QUICK.with_deadline(second), QUICK.with_timeout(second)] {
        let (_, report) = with_report(outer(&policy)).await;
        assert_eq!(report.unwrap().attempts(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn headers_of_the_attempt_are_set_above_a_buffer_and_not_below() {
    fn with_headers(mut request: Request<String>) -> Request<String> {
        set_attempt_headers(&mut request);
        request
    }
    let service = service_fn(async |request: Request<String>| {
        let has = request.headers().contains_key("x-attempt-number");
        Ok::<_, Infallible>(Response::new(has.to_string()))
    });
    let (log, _guard) = Written::subscribe(tracing::Level::DEBUG);
    let above = Buffer::new(service, 4).map_request(with_headers);
    let below = Buffer::new(service.map_request(with_headers), 4);
    let by_layer = HttpRequests::new().with_attempt_headers();
    for (service, requests, has, warned) in [
        (BoxCloneService::new(above), HttpRequests::new(), "true", 0),
        (
            BoxCloneService::new(below.clone()),
            HttpRequests::new(),
            "false",
            1,
        ),
        (BoxCloneService::new(below), HttpRequests::new(), "false", 1),
        (
            BoxCloneService::new(Buffer::new(service, 4)),
            by_layer,
            "true",
            1,
        ),
    ] {
        let client = RetryLayer::new(QUICK)
            .with_requests(requests)
            .layer(service);
        let response = client.oneshot(Request::new(String::new())).await.unwrap();
        assert_eq!(response.body(), has);
        // One line for each place in the source that calls it.
        log.counts(
            "headers of an attempt are set outside of an attempt",
            warned,
        );
        log.counts("tests/layer.rs:", warned);
    }
}

/// 200 requests, 40 at once, to a service that is well, takes 100 ms and is called twice at once. All wait in our own process.
#[tokio::test(start_paused = true)]
async fn a_limit_below_makes_timeouts_of_our_own_queue() {
    const POLICY: Policy = QUICK.with_timeout(Duration::from_millis(400));
    let upstream = service_fn(async |request: Request<String>| {
        sleep(Duration::from_millis(100)).await;
        Ok::<_, Infallible>(Response::new(request.into_body()))
    });
    let succeed =
        async |client: BoxCloneService<Request<String>, Response<String>, tower::BoxError>| {
            let places = Arc::new(Semaphore::new(40));
            let mut calls = JoinSet::new();
            for _ in 0..200 {
                let (client, places) = (client.clone(), places.clone());
                calls.spawn(async move {
                    let _place = places.acquire_owned().await;
                    let client = client.oneshot(Request::new(String::new()));
                    client.await.is_ok()
                });
            }
            calls.join_all().await.into_iter().filter(|ok| *ok).count()
        };
    let above = RetryLayer::new(POLICY).layer(upstream);
    let above = ConcurrencyLimit::new(above, 2);
    assert_eq!(succeed(BoxCloneService::new(above)).await, 200);
    let below = ConcurrencyLimit::new(upstream, 2);
    let below = RetryLayer::new(POLICY).layer(below);
    let ok = succeed(BoxCloneService::new(below)).await;
    assert!(ok < 100, "{ok}");
}

#[tokio::test(start_paused = true)]
async fn the_headers_of_a_proxy_have_no_key_of_its_own() {
    let service = service_fn(async |request: Request<String>| {
        let headers = request.headers();
        assert_eq!(headers["x-attempt-number"], "1");
        let key = headers.get("idempotency-key");
        let key = key.map_or("", |key| key.to_str().unwrap());
        Ok::<_, Infallible>(Response::new(key.to_owned()))
    });
    for (requests, makes_key) in [(HttpRequests::new(), true), (HttpRequests::proxy(), false)] {
        let layer = RetryLayer::new(QUICK).with_requests(requests.with_attempt_headers());
        let client = layer.layer(service);
        let key = async |request: http::request::Builder| {
            let request = request.body(String::new()).unwrap();
            client.clone().oneshot(request).await.unwrap().into_body()
        };
        assert_eq!(!key(Request::post("/")).await.is_empty(), makes_key);
        let own = Request::post("/").header("idempotency-key", "order-7");
        assert_eq!(key(own).await, "order-7");
    }
}

/// The host at the other end is gone, and no one closes the connection.
#[tokio::test]
async fn a_dead_connection_of_http2_is_replaced_if_its_client_looks() {
    let server = Upstream::start(Version::Two(10), |_, _| Response::default());
    let port = server.address.port();
    for looks in [false, true] {
        let proxy = Proxy::start(move |_| To::Server(port)).await;
        let mut client = Client::builder(TokioExecutor::new());
        client.http2_only(true).timer(TokioTimer::new());
        if looks {
            client.http2_keep_alive_interval(Duration::from_millis(50));
            client.http2_keep_alive_timeout(Duration::from_millis(50));
        }
        let client: Http = client.build_http();
        let client = RetryLayer::new(QUICK.with_timeout(Duration::from_millis(500))).layer(client);
        let get = || {
            let request = Request::get(format!("http://127.0.0.1:{}/", proxy.port));
            client
                .clone()
                .oneshot(request.body(Full::default()).unwrap())
        };
        assert_eq!(get().await.unwrap().status(), 200);
        proxy.freeze();
        assert_eq!(get().await.is_ok(), looks);
    }
}
