//! The middleware for one version of `reqwest-middleware`. The module around names that version `client`, and its `reqwest`
//! `reqwest`.

use std::borrow::{Borrow, Cow};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::Extensions;
use async_trait::async_trait;

use super::client::{Error, Middleware, Next};
use super::reqwest::{Body, Request, Response};
use crate::adapters::http::StatusError;
use crate::adapters::http::headers::{host_of, is_idempotent, note_key, set_headers};
use crate::budget::Budgets;
use crate::call::Cut;
use crate::client_settings::{
    ClientBudget, ClientSettings, Requests, client_setters, read_rest, repeat,
};
use crate::opaque::opaque;
use crate::site::{BudgetOf, PolicyOf};
use crate::stopped::Stopped;

/// A middleware that makes each request of a client a call, with the retries of a policy.
///
/// Limits, backoff, budget, nested calls, events and reports are those of an annotated function. All clients that are
/// made at one place in the source share a name (that place, unless [`with_name`](Self::with_name) sets another), and a default
/// budget for each host.
///
/// # What is retried
///
/// - A response whose status has a [retryable verdict](crate::codes::http_status), such as 503. `Retry-After` is a lower
///   bound of the wait, up to `max_retry_after`. Any other response is a success of the call, such as 404.
/// - A 409 to a request with a key, after an attempt that may still run: it has the key.
/// - An error of `reqwest`, or of a middleware behind this one, whose [verdict](crate::Retryable) allows it.
/// - A POST, a PATCH, or a write with a condition only if nothing ran, such as when no connection could be made. The headers
///   `If-Match`, `If-None-Match` and `If-Unmodified-Since` are conditions: after a success whose answer was lost, a retry
///   would return 412. With the header `Idempotency-Key`, these requests are retried as any other. The key must be
///   in the request when this middleware gets it.
/// - A body that is a stream is sent once, because it cannot be sent again. The call has one attempt.
///
/// The time until the head of the response counts, and not that of its body. To retry a body that breaks off, annotate
/// the function that reads it. Retries of the two add: they do not [multiply](crate::Nested).
///
/// # What the caller gets
///
/// | the last attempt | the caller gets |
/// |---|---|
/// | had a response | that response, whatever its status |
/// | had an error | that error, unchanged |
/// | was cut by a timeout or a deadline | [`Error::Middleware`] with a [`Stopped`] inside, whose source is the error of an earlier attempt |
///
/// A response that is retried is dropped before the wait, after a short rest of its body is read, so that its connection is free.
///
/// An `on_retry` hook and other rules need a function: annotate that, and leave the middleware out.
///
/// # Cancel safety
///
/// Dropping the future of a request drops its attempt, or ends the wait.
pub struct Retry {
    settings: ClientSettings,
    delay_after: Option<Box<DelayOfResponse>>,
    refuses: Option<Box<Refuses>>,
    sends_headers: bool,
}

type Refuses = dyn Fn(&Response) -> bool + Send + Sync;
type DelayOfResponse = dyn Fn(&Response) -> Option<Duration> + Send + Sync;

impl Retry {
    /// Retries with a [`Policy`](crate::Policy), or with a `&'static` [`Preset`](crate::Preset), which each request reads
    /// again.
    #[must_use]
    #[track_caller]
    pub fn new(policy: impl PolicyOf + Send + Sync + 'static) -> Self {
        Self {
            settings: ClientSettings::new(policy),
            delay_after: None,
            refuses: None,
            sends_headers: false,
        }
    }

    client_setters!();

    /// Waits exactly as long as `delay` says after a response that is retried, without jitter, if it returns a duration. Use it
    /// for headers such as `RateLimit-Reset`. For `None`, the wait is that without it. One above `max_retry_after`, or one that
    /// does not fit the deadline, ends the call.
    #[must_use]
    pub fn with_retry_after(
        mut self,
        delay: impl Fn(&Response) -> Option<Duration> + Send + Sync + 'static,
    ) -> Self {
        self.delay_after = Some(Box::new(delay));
        self
    }

    /// Sets by which failures the server says that it did not run the request, such as `|response| response.status() == 429`. After
    /// them, a POST is retried too. RFC 6585 does not say it of 429, so by default, a failure that is throttled may have run.
    #[must_use]
    pub fn with_refusals(
        mut self,
        refused: impl Fn(&Response) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.refuses = Some(Box::new(refused));
        self
    }

    /// Tells the server about each attempt: sets the headers of
    /// [`set_attempt_headers`](crate::adapters::http::set_attempt_headers), and so passes the deadline on.
    /// The key that it sets makes no request idempotent: only you know whether the server reads it. Default: no headers.
    ///
    /// # Panics
    ///
    /// - The request panics if the operating system gives no randomness for the key.
    #[must_use]
    pub fn with_attempt_headers(mut self) -> Self {
        self.sends_headers = true;
        self
    }
}

impl Requests<Request, Response, Error> for Retry {
    type Failure = StatusError;

    fn copy(&self, request: &mut Request) -> Option<Request> {
        request.try_clone()
    }

    fn is_idempotent(&self, request: &Request) -> bool {
        is_idempotent(request.method(), request.headers())
    }

    async fn failure(&self, response: &mut Response) -> Option<StatusError> {
        let failure = StatusError::from_parts(response.status(), response.headers())?;
        Some(match &self.refuses {
            Some(refused) if refused(response) => failure.refused(),
            _ => failure,
        })
    }

    fn host<'q>(&self, request: &'q Request) -> &'q str {
        host_of(request.url().authority())
    }

    fn sends(&self, request: &mut Request) {
        if self.sends_headers {
            set_headers(&request.method().clone(), request.headers_mut());
        } else {
            note_key(request.headers());
        }
    }

    fn delay(&self, response: &Response) -> Option<Duration> {
        (self.delay_after.as_ref()?)(response)
    }

    async fn discard(&self, response: Response) {
        read_rest(Body::from(response)).await;
    }
}

#[async_trait]
impl Middleware for Retry {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response, Error> {
        // Each attempt starts from the extensions of the request. The outer layers see those of the last attempt.
        let before = extensions.clone();
        let after = Mutex::new(extensions);
        let send = |sent| {
            let (next, mut extensions, after) = (next.clone(), before.clone(), &after);
            async move {
                let answered = next.run(sent, &mut extensions).await;
                **lock(after) = extensions;
                answered
            }
        };
        let ended = repeat::<Cut, _, _, _, _, _>(&self.settings, self, request, send);
        ended.await.map_err(|error| {
            let error = match error.downcast() {
                Ok(error) => return *error,
                Err(own) => own,
            };
            match error.downcast::<Stopped>() {
                Ok(stopped) => Error::middleware(*stopped),
                // The status of a response that is gone.
                Err(error) => {
                    Error::middleware(*error.downcast::<StatusError>().expect("a status"))
                }
            }
        })
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

opaque! { Retry [] []; }

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::super::client::ClientBuilder;
    use super::super::reqwest::Client;
    use super::*;
    use crate::Policy;

    /// A server that stays busy, and says in a header of its own when to come back. It records when it is asked.
    #[derive(Default)]
    struct Busy(Mutex<Vec<Instant>>);

    #[async_trait]
    impl Middleware for Busy {
        async fn handle(
            &self,
            _: Request,
            _: &mut Extensions,
            _: Next<'_>,
        ) -> Result<Response, Error> {
            lock(&self.0).push(Instant::now());
            let response = ::http::Response::builder()
                .status(429)
                .header("retry-after", "1")
                .header("retry-after-ms", "1700");
            Ok(response.body("").expect("valid headers").into())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_that_is_computed_from_the_response_is_the_wait_itself() {
        const POLICY: Policy = Policy::new().with_attempts(3).without_budget();
        let server = Arc::new(Busy::default());
        let retry = Retry::new(POLICY).with_retry_after(|response| {
            let millis = response.headers().get("retry-after-ms")?.to_str().ok()?;
            Some(Duration::from_millis(millis.parse().ok()?))
        });
        let client = ClientBuilder::new(Client::new())
            .with(retry)
            .with_arc(server.clone())
            .build();
        let response = client.get("http://shop.example/").send().await;
        assert_eq!(response.expect("the last response").status(), 429);
        let asked = lock(&server.0);
        let waits: Vec<_> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits, [Duration::from_millis(1700); 2]);
    }
}
