//! A gRPC client with `tonic`: the code of the status and the delay that the server names decide about retries.
//!
//! ```text
//! cargo run -p integrations --example grpc_client
//! ```
//!
//! The server is in this program: the health service of the gRPC project, answering by a script.

use std::time::Duration;

use integrations::grpc::Service;
use reattempt::{RetryEvent, retry};
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::{ErrorDetails, StatusExt as _};

/// Gets the health of a service, as a number.
///
/// `Status` cannot hold a `Stopped`, but `reattempt::Error` can, and `?` converts into it. A client of `tonic` is cheap
/// to clone, and each attempt has its own.
#[retry(attempts = 8, base = "50ms", timeout = "500ms", deadline = "20s", on_retry = tell)]
async fn health(
    client: &HealthClient<Channel>,
    service: &str,
) -> Result<i32, reattempt::Error<Status>> {
    let request = HealthCheckRequest {
        service: service.to_owned(),
    };
    let answer = client.clone().check(request).await?;
    Ok(answer.into_inner().status)
}

fn tell(event: &RetryEvent<'_, reattempt::Error<Status>>) {
    let failure = event
        .error()
        .map_or_else(|| "timed out".to_owned(), in_words);
    let (attempt, verdict, delay) = (event.attempt(), event.verdict(), event.delay());
    println!("  attempt {attempt}: {failure} ({verdict}), again in {delay:.0?}");
}

fn in_words(error: &reattempt::Error<Status>) -> String {
    match error {
        reattempt::Error::Failed(status) => format!("{}: {}", status.code(), status.message()),
        reattempt::Error::Stopped(stopped) => stopped.to_string(),
    }
}

/// What the server answers to each call. From the fourth call on it is healthy.
fn overloaded(call: usize) -> Option<Status> {
    match call {
        1 => Some(Status::unavailable("restarting")),
        // It does not answer.
        2 => Some(Status::unknown("stall")),
        // Without a delay, this code may be permanent or not, so it is not retried.
        3 => {
            let details = ErrorDetails::with_retry_info(Some(Duration::from_millis(700)));
            let code = Code::ResourceExhausted;
            Some(Status::with_error_details(
                code,
                "too many requests",
                details,
            ))
        }
        _ => None,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A server that restarts, stalls, and then names a delay:");
    let server = Service::start(overloaded).await;
    let status = health(&server.client(), "payments").await?;
    println!("  health {status} after {} calls", server.calls());

    println!("A service that the server does not know:");
    let server = Service::start(|_| Some(Status::not_found("no such service"))).await;
    let error = health(&server.client(), "payment").await.unwrap_err();
    println!("  {} after {} call", in_words(&error), server.calls());
    assert_eq!(server.calls(), 1);
    Ok(())
}
