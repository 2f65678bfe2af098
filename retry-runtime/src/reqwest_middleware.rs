//! The errors and the middleware of one version of `reqwest-middleware`. The module around names that version `client`, and its
//! `reqwest` `base`.

use std::io;
use std::mem;
use std::sync::{Mutex, PoisonError};

use ::http::Extensions;
use async_trait::async_trait;
use tower::service_fn;

use super::base::{self as reqwest, Request, Response};
use super::client::{ClientWithMiddleware, Error, Middleware, Next, RequestBuilder};
use super::depart;
use crate::adapters::ClientRequest;
use crate::adapters::http::{ClientError, Destination, FailedRequest, hop, is_idempotent};
use crate::adapters::known::by_its_chain;
use crate::lookup::BoxedError;
use crate::policy::Policy;
use crate::stopped::Stopped;
use crate::tower::RetryLayer;

pub use crate::tower::{HasVerdict, Requests};

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

/// What a middleware does is not seen.
impl ClientError for Error {
    fn is_unsent(&self) -> bool {
        matches!(self, Self::Reqwest(error) if error.is_unsent())
    }

    fn place(&self) -> Option<Destination> {
        match self {
            Self::Reqwest(error) => error.place(),
            Self::Middleware(_) => None,
        }
    }
}

/// A client, and the extensions of its request.
#[derive(Clone)]
pub(super) struct ClientOfRequest(ClientWithMiddleware, Extensions);

impl ClientOfRequest {
    pub(super) async fn execute(&self, request: Request) -> Result<Response, Error> {
        let mut extensions = self.1.clone();
        let sent = self.0.execute_with_extensions(request, &mut extensions);
        sent.await
    }
}

/// Takes a builder apart.
pub(super) fn split(mut builder: RequestBuilder) -> (ClientOfRequest, reqwest::Result<Request>) {
    let extensions = mem::take(builder.extensions());
    let (client, request) = builder.build_split();
    (ClientOfRequest(client, extensions), request)
}

/// Puts one together.
pub(super) fn join(
    ClientOfRequest(client, extensions): ClientOfRequest,
    request: Request,
) -> RequestBuilder {
    let mut builder = RequestBuilder::from_parts(client, request);
    *builder.extensions() = extensions;
    builder
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
        let service = service_fn(|mut request: Request| async move {
            let (mut extensions, next) = (before.clone(), next.clone());
            let harmless = is_idempotent(request.method(), request.headers());
            let departure = (!harmless).then(|| depart(&mut request));
            let answered = hop(departure, next.run(request, &mut extensions)).await;
            **after.lock().unwrap_or_else(PoisonError::into_inner) = extensions;
            answered.map_err(|error| match error {
                FailedRequest::Request(error) => error,
                FailedRequest::InDoubt(doubt) => Error::middleware(doubt),
                other => Error::middleware(other),
            })
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

    use super::super::base::Client;
    use super::super::client::ClientBuilder;
    use super::*;
    use crate::Policy;
    use crate::tower::HttpRequests;

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
