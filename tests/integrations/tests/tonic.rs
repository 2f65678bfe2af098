//! gRPC against a real server in this process, over loopback.

use std::collections::HashSet;
use std::time::Duration;

use integrations::grpc::{self, Service, endpoint};
use integrations::loopback;
use reattempt::tower_0_5::{GrpcRequests, RetryLayer, RetryService};
use reattempt::{Budget, Outcome, Policy, Retryable as _, Verdict, with_report};
use tonic::body::Body;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::{ErrorDetails, StatusExt as _};
use tower::Layer as _;

#[path = "tonic"]
mod v0_14 {
    use {tonic as client, tonic_health as health};

    mod version;
}

#[path = "tonic"]
mod v0_13 {
    use {tonic_0_13 as client, tonic_health_0_13 as health};

    mod version;
}

#[tokio::test]
async fn a_layer_retries_the_calls_of_a_channel() {
    let policy = Policy::new().with_attempts(3);
    let layer = RetryLayer::new(policy.with_base(Duration::from_millis(1)));
    let script = |call| (call < 3).then(|| Status::unavailable("deploying"));
    let reads = HashSet::from(["/grpc.health.v1.Health/Check".to_owned()]);
    for (idempotent, calls) in [(true, 3), (false, 1)] {
        let service = Service::start(script).await;
        let mut requests = GrpcRequests::new();
        if idempotent {
            let reads = reads.clone();
            requests = requests.with_idempotent(move |path| reads.contains(path));
        }
        let channel = endpoint(service.address).connect_lazy();
        let retried = layer.clone().with_requests(requests).layer(channel);
        let answer = HealthClient::new(retried)
            .check(HealthCheckRequest::default())
            .await;
        assert_eq!((answer.is_ok(), service.calls()), (idempotent, calls));
    }
    // Without a connection, nothing ran.
    let channel = endpoint(loopback::nobody()).connect_lazy();
    let retried = layer.with_requests(GrpcRequests::new()).layer(channel);
    let mut client = HealthClient::new(retried);
    let (answer, report) = with_report(client.check(HealthCheckRequest::default())).await;
    assert!(answer.is_err());
    assert_eq!(report.unwrap().attempts(), 3);
}

/// The layer with these requests, whose policy has no limit of its own.
fn retried(policy: Policy, service: &Service) -> HealthClient<RetryService<Channel, GrpcRequests>> {
    let requests = GrpcRequests::new().with_idempotent(|_| true);
    let layer = RetryLayer::new(policy.with_base(Duration::from_millis(1)));
    HealthClient::new(
        layer
            .with_requests(requests)
            .layer(endpoint(service.address).connect_lazy()),
    )
}

#[tokio::test]
async fn the_deadline_of_a_request_is_that_of_its_call() {
    let service = Service::start(|_| Some(Status::unknown("stall"))).await;
    let mut client = retried(Policy::new(), &service);
    let mut request = tonic::Request::new(HealthCheckRequest::default());
    request.set_timeout(Duration::from_millis(300));
    let (answer, report) = with_report(client.check(request)).await;
    let report = report.unwrap();
    assert_eq!((report.attempts(), service.calls()), (1, 1));
    assert_eq!(report.outcome(), Outcome::Deadline);
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
}

#[tokio::test]
async fn a_limit_of_a_layer_has_the_code_that_grpc_has_for_it() {
    static PAUSED: Budget = Budget::new().with_pause();
    let service = Service::start(|_| Some(grpc::stall())).await;
    let hasty = Policy::new().with_timeout(Duration::from_secs(20));
    let answer = retried(hasty, &service)
        .check(HealthCheckRequest::default())
        .await;
    let status = answer.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    assert_eq!(status.verdict(), Verdict::Transient, "{status:?}");

    // The budget is in a pause that leaves no time.
    let service = Service::start(|_| {
        let (code, later) = (Code::ResourceExhausted, Duration::from_secs(30));
        let details = ErrorDetails::with_retry_info(Some(later));
        Some(Status::with_error_details(code, "slow down", details))
    });
    let service = service.await;
    let bounded = RetryLayer::new(Policy::new().with_deadline(Duration::from_secs(20)));
    let bounded = bounded
        .with_budget(&PAUSED)
        .with_requests(GrpcRequests::new());
    let mut client = HealthClient::new(bounded.layer(endpoint(service.address).connect_lazy()));
    for code in [Code::ResourceExhausted, Code::Unavailable] {
        let answer = client.check(HealthCheckRequest::default()).await;
        assert_eq!(answer.unwrap_err().code(), code);
    }
    assert_eq!(service.calls(), 1);

    // A call below was cancelled.
    let below = tower::service_fn(async |_: http::Request<Body>| {
        let run = Policy::new().run(async || Err::<http::Response<Body>, _>("never"));
        let run = run.when_any(|_| true).or_stopped();
        let stopped = run.with_cancel(std::future::ready(())).await.unwrap_err();
        Err::<http::Response<Body>, tower::BoxError>(stopped.into_failed().unwrap_err().into())
    });
    let layer = RetryLayer::new(Policy::new()).with_requests(GrpcRequests::new());
    let answer = HealthClient::new(layer.layer(below))
        .check(HealthCheckRequest::default())
        .await;
    assert_eq!(answer.unwrap_err().code(), Code::Cancelled);
}

#[tokio::test]
async fn services_of_grpc_have_budgets_of_their_own() {
    static SERVICES: reattempt::Budgets<String> = reattempt::Budgets::new(Budget::new());
    let service = Service::start(|_| Some(Status::unavailable("deploying"))).await;
    let requests = GrpcRequests::new().with_idempotent(|_| true);
    let layer = RetryLayer::new(Policy::new()).with_budgets(&SERVICES);
    let channel = endpoint(service.address).connect_lazy();
    let mut client = HealthClient::new(layer.with_requests(requests).layer(channel));
    client
        .check(HealthCheckRequest::default())
        .await
        .unwrap_err();
    assert_eq!(service.calls(), 3);
    assert!(SERVICES.of("grpc.health.v1.Health").level() < 200.0);
    assert!(SERVICES.of("other.Service").level() >= 200.0);
}

/// The layer knows the errors of `tonic`, also as those of a service below.
#[tokio::test(start_paused = true)]
async fn a_status_of_a_service_below_decides() {
    for (code, attempts) in [(Code::Unavailable, 3), (Code::InvalidArgument, 1)] {
        let service = tower::service_fn(move |_: http::Request<Body>| {
            std::future::ready(Err::<http::Response<Body>, _>(Status::new(code, "below")))
        });
        let requests = GrpcRequests::new().with_idempotent(|_| true);
        let layer = RetryLayer::new(Policy::new()).with_requests(requests);
        let mut client = HealthClient::new(layer.layer(service));
        let call = client.check(HealthCheckRequest::default());
        let (answer, report) = with_report(call).await;
        assert_eq!(answer.unwrap_err().code(), code);
        assert_eq!(report.unwrap().attempts(), attempts);
    }
}

/// The layer reports no limit of its own then.
#[tokio::test]
async fn without_limits_the_error_is_that_of_the_channel() {
    use tower::Service as _;

    #[derive(Clone)]
    struct Late;

    #[derive(Debug, thiserror::Error, reattempt::Retryable)]
    #[error("the time is over")]
    #[retryable(permanent)]
    struct TimeIsOver(#[from] tonic::TimeoutExpired);

    impl tower::Service<http::Request<Body>> for Late {
        type Response = http::Response<Body>;
        type Error = TimeIsOver;
        type Future = std::future::Ready<Result<Self::Response, TimeIsOver>>;

        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), TimeIsOver>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: http::Request<Body>) -> Self::Future {
            std::future::ready(Err(tonic::TimeoutExpired(()).into()))
        }
    }

    let layer = RetryLayer::new(Policy::new().without_limits());
    let mut client = layer.with_requests(GrpcRequests::new()).layer(Late);
    let _: TimeIsOver = client.call(http::Request::default()).await.unwrap_err();
}
