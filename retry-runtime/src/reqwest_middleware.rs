//! The errors, the requests and the middleware of one version of `reqwest-middleware`. The module around names that version `client`,
//! its `reqwest` `reqwest`, and the adapter of that `requests`.

use std::io;
use std::sync::{Mutex, PoisonError};

use ::http::{Extensions, HeaderMap, StatusCode};
use async_trait::async_trait;
use tower::service_fn;

use super::client::{Error, Middleware, Next, RequestBuilder};
use super::requests::{AsClientError, sees_redirects};
use super::reqwest::{self, Request, Response};
use crate::adapters::ClientRequest;
use crate::adapters::http::{
    ClientError, FailedRequest, Sends, behind_a_redirect, by_verdict, is_harmless, is_idempotent,
};
use crate::adapters::known::by_its_chain;
use crate::lookup::BoxedError;
use crate::policy::Policy;
use crate::sealed::Sealed;
use crate::stopped::Stopped;
use crate::tower::Redirected;

pub use crate::adapters::http::{Refusals, RequestInDoubt};
pub use crate::tower::{HasVerdict, HttpRequests, Requests, RetryLayer};

by_its_chain! {
    /// An error of `reqwest` has its own verdict. In the error of a middleware, the innermost error with a verdict decides.
    Error
}

impl ClientRequest for RequestBuilder {}

/// The error of a middleware.
impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        Self::middleware(stopped)
    }
}

/// Why a request failed, for functions that only use HTTP.
pub type RequestError = FailedRequest<Error>;

impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

/// The error of the body of a response.
impl From<reqwest::Error> for RequestError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(error.into())
    }
}

by_its_chain!(RequestError);

impl AsClientError for Error {
    fn of_client(&self) -> Option<&reqwest::Error> {
        match self {
            Self::Reqwest(error) => Some(error),
            Self::Middleware(_) => None,
        }
    }
}

impl ClientError for Error {
    fn is_unsent(&self) -> bool {
        self.of_client().is_some_and(ClientError::is_unsent)
    }
}

/// Sends a request of a client with middleware once.
pub trait RequestExt: Sealed + Sized {
    /// Sends the request, which the current attempt does not repeat. Returns the response, whatever its status: the method of the
    /// same name for a builder of `reqwest`. What a middleware does is not seen.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the request may have run: then the attempt is not repeated either.
    ///
    /// # Errors
    ///
    /// - [`RequestError::InDoubt`]: the request may have run, and may not run twice.
    /// - [`RequestError::Request`]: no request was sent, or it may be sent again.
    fn send_once(self) -> impl Future<Output = Result<Response, RequestError>>;

    /// The same. A status that is a failure is an error, and so is a redirect that was not followed, if the request may not run
    /// twice.
    ///
    /// # Cancel safety
    ///
    /// That of [`send_once`](Self::send_once).
    ///
    /// # Errors
    ///
    /// - Those of [`send_once`](Self::send_once).
    /// - [`RequestError::Status`]: the status is a failure, and the request did not run, or may be sent again.
    fn send_checked(self) -> impl Future<Output = Result<Response, RequestError>>;

    /// Sets by which failures the server says that it did not run the request, such as `|status, _| status == 429`.
    fn with_refusals<F>(self, refused: F) -> Refusals<Self, F>
    where
        F: Fn(StatusCode, &HeaderMap) -> bool,
    {
        let builder = self;
        Refusals { builder, refused }
    }
}

impl Sealed for RequestBuilder {}

impl RequestExt for RequestBuilder {
    fn send_once(self) -> impl Future<Output = Result<Response, RequestError>> {
        self.with_refusals(by_verdict).send_once()
    }

    fn send_checked(self) -> impl Future<Output = Result<Response, RequestError>> {
        self.with_refusals(by_verdict).send_checked()
    }
}

impl<F: Fn(StatusCode, &HeaderMap) -> bool> Refusals<RequestBuilder, F> {
    /// Sends the request: [`RequestExt::send_once`].
    ///
    /// # Errors
    ///
    /// - Those of [`RequestExt::send_once`].
    pub fn send_once(self) -> impl Future<Output = Result<Response, RequestError>> {
        self.send(false)
    }

    /// Sends the request: [`RequestExt::send_checked`].
    ///
    /// # Errors
    ///
    /// - Those of [`RequestExt::send_checked`].
    pub fn send_checked(self) -> impl Future<Output = Result<Response, RequestError>> {
        self.send(true)
    }

    async fn send(mut self, checks: bool) -> Result<Response, RequestError> {
        let mut extensions = std::mem::take(self.builder.extensions());
        let (client, request) = self.builder.build_split();
        let request = request?;
        let sends = Sends {
            method: request.method().clone(),
            harmless: is_harmless(request.method(), request.headers()),
            refused: self.refused,
            checks,
        };
        let harmless = sends.harmless;
        let answered = async {
            let (answered, redirected) = sees_redirects(request, harmless, |request| {
                client.execute_with_extensions(request, &mut extensions)
            })
            .await;
            (answered.map_err(RequestError::from), redirected)
        };
        sends.send(answered).await
    }
}

#[async_trait]
impl<Q, L> Middleware for RetryLayer<Q, L>
where
    Q: Requests<Request, Response> + Send + Sync + 'static,
    L: 'static,
{
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response, Error> {
        // Each attempt starts from the extensions of the request. The outer layers see those of the last attempt.
        let (next, before, after) = (&next, &extensions.clone(), &Mutex::new(extensions));
        let service = service_fn(|request: Request| async move {
            let mut extensions = before.clone();
            let (method, next) = (request.method().clone(), next.clone());
            let harmless = is_idempotent(&method, request.headers());
            let (answered, redirected) = sees_redirects(request, harmless, |request| {
                next.run(request, &mut extensions)
            })
            .await;
            **after.lock().unwrap_or_else(PoisonError::into_inner) = extensions;
            match answered {
                Ok(mut response) if redirected => {
                    response.extensions_mut().insert(Redirected);
                    Ok(response)
                }
                // What failed is another request.
                Err(error) if redirected => {
                    Err(Error::middleware(behind_a_redirect(method, error)))
                }
                answered => answered,
            }
        });
        let answered = Self::call::<Policy, _, _>(self, request, service).await;
        answered.map_err(|error| {
            error
                .downcast()
                .map(|own| *own)
                .or_else(|error| Ok(Error::from(*error.downcast::<Stopped>()?)))
                // What the response stood for that is gone.
                .or_else(|error: BoxedError| {
                    Ok(Error::middleware(*error.downcast::<Q::Failure>()?))
                })
                .unwrap_or_else(|error: BoxedError| Error::middleware(io::Error::other(error)))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::super::client::ClientBuilder;
    use super::super::reqwest::Client;
    use super::*;
    use crate::Policy;

    /// A server that stays busy with this status, and says in a header of its own when to come back. It records when it is asked.
    struct Busy(u16, Mutex<Vec<Instant>>);

    #[async_trait]
    impl Middleware for Busy {
        async fn handle(
            &self,
            _: Request,
            _: &mut Extensions,
            _: Next<'_>,
        ) -> Result<Response, Error> {
            self.1.lock().unwrap().push(Instant::now());
            let response = ::http::Response::builder().status(self.0);
            let response = response.header("retry-after-ms", "1700");
            let response = match self.0 {
                429 => response.header("retry-after", "1"),
                _ => response,
            };
            Ok(response.body("").expect("valid headers").into())
        }
    }

    /// Also of a 403, with which GitHub limits rates.
    #[tokio::test(start_paused = true)]
    async fn a_delay_that_is_computed_from_the_response_is_the_wait_itself() {
        waits_as_it_says(429).await;
        waits_as_it_says(403).await;
    }

    async fn waits_as_it_says(status: u16) {
        const POLICY: Policy = Policy::new().with_attempts(3).without_budget();
        let server = Arc::new(Busy(status, Mutex::default()));
        let requests = HttpRequests::new().with_retry_after(|_, headers| {
            let millis = headers.get("retry-after-ms")?.to_str().ok()?;
            Some(Duration::from_millis(millis.parse().ok()?))
        });
        let retry = RetryLayer::new(POLICY).with_requests(requests);
        let client = ClientBuilder::new(Client::new())
            .with(retry)
            .with_arc(server.clone())
            .build();
        let response = client.get("http://shop.example/").send().await;
        assert_eq!(response.expect("the last response").status(), status);
        let asked = server.1.lock().unwrap();
        let waits: Vec<_> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits, [Duration::from_millis(1700); 2]);
    }
}
