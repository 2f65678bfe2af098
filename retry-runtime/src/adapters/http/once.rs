//! Requests of any client that are sent once.

use ::http::{HeaderMap, Method, Request, Response, StatusCode};

use super::StatusError;
use super::headers::{is_idempotent, note_key};
use crate::classify::{Retryable, Verdict};
use crate::context::{Ended, open};
use crate::stopped::Effect;

/// Sends a request that the current attempt does not repeat: for `hyper`, and every client with an `http::Request` and an
/// `http::Response`.
///
/// If the request is a POST, a PATCH or a write with a condition without an idempotency key, no attempt that has sent it is repeated,
/// unless the request had no effect: the error is refused, such as a failed connection, or the status is refused or another
/// permanent one from 400 to 499. That also holds for the outer calls, after a success (until the attempt
/// [records progress](crate::Attempt::record_progress)), and if a limit cuts it. `idempotent = true` of a call says that it may be
/// repeated. Of two attempts that `hedge` runs at once, one sends at a time. Any other request is only sent.
///
/// The `reqwest` module has the same as methods of its builder, which also see redirects.
///
/// # Errors
///
/// - The error of the client. It does not say that the request is in doubt: call this in the task of the attempt, or in one with
///   [`propagate`](crate::propagate()).
///
/// # Cancel safety
///
/// If the future is dropped, the request may have run, and the attempt is not repeated.
///
/// # Examples
///
/// ```
/// # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::adapters::http as http_1; }
/// use std::io;
///
/// use http::{Request, Response};
/// use reattempt::http_1::send_once;
/// use reattempt::{Outcome, Policy, with_report};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
/// async fn client(_: Request<()>) -> io::Result<Response<()>> {
///     Err(io::ErrorKind::ConnectionReset.into())
/// }
///
/// let pay = || send_once(Request::post("/payments").body(()).unwrap(), client);
/// let (paid, report) = with_report(Policy::new().run(pay)).await;
/// assert_eq!(paid.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
/// let report = report.unwrap();
/// assert_eq!((report.attempts(), report.outcome()), (1, Outcome::InDoubt));
/// # }
/// ```
pub async fn send_once<B, A, E, F>(
    request: Request<B>,
    send: impl FnOnce(Request<B>) -> F,
) -> Result<Response<A>, E>
where
    F: Future<Output = Result<Response<A>, E>>,
    E: Retryable,
{
    if is_harmless(request.method(), request.headers()) {
        return send(request).await;
    }
    let ends = |answered: &Result<Response<A>, E>| match answered {
        Ok(answer) => {
            let failure = StatusError::from_parts(answer.status(), answer.headers());
            ended(answer.status(), failure.as_ref(), false)
        }
        Err(error) if error.verdict() == Verdict::Refused => Ended::Known,
        Err(_) => Ended::InDoubt,
    };
    open(Effect::Request, async { send(request).await }, ends).await
}

/// Notes the key of a request. Returns whether the request may run twice.
pub(crate) fn is_harmless(method: &Method, headers: &HeaderMap) -> bool {
    note_key(headers);
    is_idempotent(method, headers)
}

/// How a request ended that has an answer.
pub(crate) fn ended(status: StatusCode, failure: Option<&StatusError>, redirected: bool) -> Ended {
    match failure {
        None if status.is_success() => Ended::Answered,
        Some(failure) if !redirected && failure.had_no_effect() => Ended::Known,
        // It may also be a redirect that was not followed.
        _ => Ended::InDoubt,
    }
}
