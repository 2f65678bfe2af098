//! Says to the callers of a server that its own retries are over.

use ::http::{HeaderValue, Response};

use super::{SHOULD_RETRY, StatusError};
use crate::listen::with_report;
use crate::stopped::Outcome;

/// Runs the handler of a request, and marks its answer with `x-should-retry: false` if that is a failure and the last call of the
/// handler gave up. Callers that [read it](StatusError) do not retry then, so three services in a row make as many requests as the last
/// of them, and not three times three times as many.
///
/// A call gives up when it ends with an error, or was stopped, unless it was cancelled or retries are
/// [turned off](crate::set_enabled). A header that the handler sets is kept. Calls in tasks do not count.
///
/// In a `tower` server, such as one of `axum`: `.layer(MapFutureLayer::new(mark_given_up))`, with the layer of `tower::util`.
///
/// # Errors
///
/// Those of the handler, as they are.
///
/// # Cancel safety
///
/// Dropping it drops the handler.
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::{FAST_IO, adapters::http as http_1}; }
/// use std::convert::Infallible;
/// use std::io;
///
/// use http::{Response, StatusCode};
/// use reattempt::FAST_IO;
/// use reattempt::http_1::mark_given_up;
///
/// async fn handler() -> Result<Response<()>, Infallible> {
///     let priced = FAST_IO.run(async || Err::<(), _>(io::Error::from(io::ErrorKind::ConnectionReset))).await;
///     let mut response = Response::new(());
///     if priced.is_err() {
///         *response.status_mut() = StatusCode::BAD_GATEWAY;
///     }
///     Ok(response)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let Ok(response) = mark_given_up(handler()).await;
/// assert_eq!(response.headers()["x-should-retry"], "false");
/// # }
/// ```
pub async fn mark_given_up<B, E>(
    handler: impl Future<Output = Result<Response<B>, E>>,
) -> Result<Response<B>, E> {
    let (answered, report) = with_report(handler).await;
    let outcome = report.map(|report| report.outcome());
    let gave_up = outcome.is_some_and(|outcome| match outcome {
        Outcome::Success | Outcome::SuccessAfterRetry => false,
        // Another server, or the same one later, may do it.
        Outcome::Cancelled | Outcome::Dropped | Outcome::Disabled => false,
        _ => true,
    });
    answered.map(|mut response| {
        let failed = StatusError::from_parts(response.status(), response.headers()).is_some();
        if gave_up && failed {
            let [name, _] = SHOULD_RETRY;
            let entry = response.headers_mut().entry(name);
            entry.or_insert(HeaderValue::from_static("false"));
        }
        response
    })
}
