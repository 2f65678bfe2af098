//! The headers that tell a server about the attempt that sends a request, and requests that are sent once.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
#[path = "requests/with_policy.rs"]
mod with_policy;

use std::cell::Cell;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::pin::pin;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use ::bytes::Bytes;

use super::client::{self, Request, RequestBuilder, Response, Url};
use crate::adapters::ClientRequest;
use crate::adapters::http::headers::set_headers;
use crate::adapters::http::{Sends, by_verdict, is_harmless};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use crate::adapters::known::is_unsent;
use crate::sealed::Sealed;
use ::http::{Error, HeaderMap, HeaderName, HeaderValue, StatusCode};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use {
    super::client::Body, crate::adapters::http::Witness, crate::site::PolicyOf,
    crate::tower::RetryLayer,
};

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use self::with_policy::SendWith;
pub use super::errors::{RequestError, ResponseExt, is_retryable};
pub use crate::adapters::http::{Refusals, RequestInDoubt};
pub use crate::tower::HttpRequests;

/// Describes the attempt that sends a request to the server, and sends a request once.
pub trait RequestExt: Sealed + Sized {
    /// Sets the headers of [`set_attempt_headers`](crate::adapters::http::set_attempt_headers): the number of the attempt, the
    /// time left, and with POST and PATCH the idempotency key.
    ///
    /// Headers that you set before are kept, so call it last. Outside of an attempt, nothing is set, and an event of level warn says
    /// where. Build the request
    /// in the body of the annotated function, so that each attempt sends its own number.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod reattempt { pub use reattempt_runtime::reqwest as reqwest_0_13; }
    /// use reattempt::reqwest_0_13::{RequestError, RequestExt as _, ResponseExt as _};
    ///
    /// // #[reattempt::retry(attempts = 5, timeout = "2s")]
    /// async fn pay(client: &reqwest::Client, url: &str, order: String) -> Result<(), RequestError> {
    ///     let request = client.post(url).body(order).attempt_headers();
    ///     request.send().await?.check()?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// - If the operating system gives no randomness for the key.
    #[must_use]
    fn attempt_headers(self) -> Self;

    /// Sends the request, which the current attempt does not repeat. Returns the response, whatever its status.
    ///
    /// A POST, a PATCH or a write with a condition is not sent again by accident, wherever it is sent: in a closure, in a function
    /// that yours calls, or behind a redirect. No attempt that has sent it is repeated, whatever fails then and whatever the rules
    /// say, and no outer call repeats it either, unless it had no effect: no connection could be made, or the status is refused, or
    /// another permanent one from 400 to 499. That also holds after a success, whose body may still break off, until the attempt
    /// [records progress](crate::Attempt::record_progress). An idempotency key, or `idempotent = true` of the call, says that it may
    /// run twice. Any other request is only sent.
    ///
    /// With [`with_refusals`](Self::with_refusals), more failures say that the server did not run it.
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

    /// The same. A status that is a failure is an error, as with [`check`](super::ResponseExt::check), and so is a redirect that
    /// was not followed.
    ///
    /// # Cancel safety
    ///
    /// That of [`send_once`](Self::send_once).
    ///
    /// # Errors
    ///
    /// - Those of [`send_once`](Self::send_once).
    /// - [`RequestError::Status`]: the status is a failure, and the request did not run, or may be sent again.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod reattempt { pub use reattempt_runtime::reqwest as reqwest_0_13; }
    /// use reattempt::reqwest_0_13::{RequestError, RequestExt as _};
    ///
    /// struct Shop {
    ///     client: reqwest::Client,
    /// }
    ///
    /// impl Shop {
    ///     /// Safe under every rule, in each `#[retry]` that calls it.
    ///     async fn order(&self, item: String) -> Result<String, RequestError> {
    ///         let order = self.client.post("https://shop.example/orders").body(item);
    ///         Ok(order.send_checked().await?.text().await?)
    ///     }
    /// }
    /// ```
    fn send_checked(self) -> impl Future<Output = Result<Response, RequestError>>;

    /// Sends the request with all retries of a policy, as the layer does: 503 and `Retry-After` count, each host has one budget for all
    /// calls at this place, and a request that may not run twice is repeated only if it had no effect. A failed status of the last
    /// attempt is an error. For the outer call, it is like [`send_checked`](Self::send_checked).
    ///
    /// # Cancel safety
    ///
    /// That of [`send_once`](Self::send_once).
    ///
    /// # Errors
    ///
    /// - Those of [`send_checked`](Self::send_checked).
    /// - [`RequestError::Stopped`]: the timeout of the last attempt or the deadline was reached.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod reattempt { pub use reattempt_runtime::*; pub use reattempt_runtime::reqwest as reqwest_0_13; }
    /// use reattempt::Policy;
    /// use reattempt::reqwest_0_13::{RequestError, RequestExt as _};
    ///
    /// const POLICY: Policy = Policy::new().with_attempts(4);
    ///
    /// async fn price(client: &reqwest::Client) -> Result<String, RequestError> {
    ///     let price = client.get("https://shop.example/price/7").send_with(&POLICY).await?;
    ///     Ok(price.text().await?)
    /// }
    /// ```
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[track_caller]
    fn send_with<P>(self, policy: P) -> SendWith<P::Limits>
    where
        P: PolicyOf + Send + Sync + 'static;

    /// Sets by which failures the server says that it did not run the request, such as `|status, _| status == 429`. Send it with the
    /// methods of what this returns.
    fn with_refusals<F>(self, refused: F) -> Refusals<Self, F>
    where
        F: Fn(StatusCode, &HeaderMap) -> bool,
    {
        let builder = self;
        Refusals { builder, refused }
    }
}

impl Sealed for RequestBuilder {}
impl ClientRequest for RequestBuilder {}

impl RequestExt for RequestBuilder {
    #[track_caller]
    fn attempt_headers(self) -> Self {
        let sound = Cell::new(false);
        let builder = self.header(Asked(&sound), HeaderValue::from_static(""));
        if !sound.get() {
            // The builder holds an error, which `send` returns.
            return builder;
        }
        let (client, request) = builder.build_split();
        match request {
            Ok(mut request) => {
                request.headers_mut().remove(&ASKED);
                set_headers(&request.method().clone(), request.headers_mut());
                Self::from_parts(client, request)
            }
            Err(_) => unreachable!("the builder held no error"),
        }
    }

    fn send_once(self) -> impl Future<Output = Result<Response, RequestError>> {
        self.with_refusals(by_verdict).send_once()
    }

    fn send_checked(self) -> impl Future<Output = Result<Response, RequestError>> {
        self.with_refusals(by_verdict).send_checked()
    }

    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[track_caller]
    fn send_with<P>(self, policy: P) -> SendWith<P::Limits>
    where
        P: PolicyOf + Send + Sync + 'static,
    {
        SendWith::new(self, RetryLayer::new(policy))
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

    async fn send(self, checks: bool) -> Result<Response, RequestError> {
        let (client, request) = self.builder.build_split();
        let request = request?;
        let sends = Sends {
            method: request.method().clone(),
            harmless: is_harmless(request.method(), request.headers()),
            refused: self.refused,
            checks,
        };
        let harmless = sends.harmless;
        sends
            .send(async {
                let (answered, redirected) =
                    sees_redirects(request, harmless, |request| client.execute(request)).await;
                (answered.map_err(RequestError::from), redirected)
            })
            .await
    }
}

/// The name of a header, which detects whether a builder holds an error: the builder converts the name only if it holds
/// none.
///
/// The headers of a builder can be read only after `build_split`, and its error cannot be made into a builder again.
struct Asked<'a>(&'a Cell<bool>);

const ASKED: HeaderName = HeaderName::from_static("reattempt-asked");

impl TryFrom<Asked<'_>> for HeaderName {
    type Error = Error;

    fn try_from(asked: Asked<'_>) -> Result<Self, Error> {
        asked.0.set(true);
        Ok(ASKED)
    }
}

/// Awaits what `execute` makes of a request. Returns whether the answer came over a redirect too, unless the request is `harmless`.
pub(crate) async fn sees_redirects<E: AsClientError, F>(
    mut request: Request,
    harmless: bool,
    execute: impl FnOnce(Request) -> F,
) -> (Result<Response, E>, bool)
where
    F: Future<Output = Result<Response, E>>,
{
    if harmless {
        return (execute(request).await, false);
    }
    let place = place_of(request.url());
    let is_other = |url: &Url| place_of(url) != place;
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    let (witness, mut was_sent) = (watch(&mut request), false);
    let mut executes = pin!(execute(request));
    let answered = poll_fn(|context| {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        {
            was_sent = witness.saw_it_sent();
        }
        executes.as_mut().poll(context)
    });
    let answered = answered.await;
    let redirected = match &answered {
        Ok(response) => is_other(response.url()),
        Err(error) => error.of_client().is_some_and(|error| {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            if was_sent && is_unsent(error) {
                return true;
            }
            error.url().is_some_and(is_other)
        }),
    };
    (answered, redirected)
}

/// The error of this client, or one that may have it inside.
pub(crate) trait AsClientError {
    fn of_client(&self) -> Option<&client::Error>;
}

impl AsClientError for client::Error {
    fn of_client(&self) -> Option<&client::Error> {
        Some(self)
    }
}

/// What a redirect changes: all of a URL but its user and its fragment.
fn place_of(url: &Url) -> u64 {
    let mut place = DefaultHasher::new();
    let host = (url.host_str(), url.port_or_known_default());
    (url.scheme(), host, url.path(), url.query()).hash(&mut place);
    place.finish()
}

/// Watches the body of a request. It is sent as it was, and one that could be sent again still can.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn watch(request: &mut Request) -> Witness {
    let body = request.body_mut().take().unwrap_or_default();
    let (witness, body) = match body.as_bytes() {
        Some(bytes @ [_, ..]) => {
            let (witness, bytes) = Witness::of(bytes.to_vec());
            (witness, Body::from(Bytes::from_owner(bytes)))
        }
        // There are no bytes to hold, or they are a stream.
        _ => {
            let (witness, body) = Witness::of(body);
            (witness, Body::wrap(body))
        }
    };
    *request.body_mut() = Some(body);
    witness
}
