//! The requests of one client: the headers that tell a server about the attempt that sends one, one that is sent once, and one with all
//! retries of a policy. The module around names its builder, its errors, and the `reqwest` below it.

use std::cell::Cell;

use super::base::Response;
use super::client::RequestBuilder;
use super::{RequestError, depart, join, place_of, split};
use crate::adapters::http::headers::set_headers;
pub use crate::adapters::http::{Refusals, RequestInDoubt};
use crate::adapters::http::{by_verdict, hop, is_harmless, send};
use crate::sealed::Sealed;
pub use crate::tower::{HttpRequests, RetryLayer};
use ::http::{Error, HeaderMap, HeaderName, HeaderValue, StatusCode};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use {
    crate::adapters::http::StatusError,
    crate::lookup::BoxedError,
    crate::stopped::Stopped,
    crate::tower::{ErrorOfLayer, IntoLayer},
    ::tower::service_fn,
};

/// Describes the attempt that sends a request to the server, and sends a request once. Of a client with middleware, what the middlewares
/// do is not seen.
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
    /// With [`with_refusals`](Self::with_refusals), more failures say that the server did not run it. Of two attempts that `hedge` runs
    /// at once, one sends at a time: the other waits, and goes on only if the first request had no effect.
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

    /// The same. A status that is a failure is an error, as with [`check`](crate::adapters::http::check), and so is a redirect that
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
    /// Takes a policy, or a [`RetryLayer`] with a name, a budget, or what is known of the requests of a server.
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
    fn send_with<L>(self, layer: L) -> impl Future<Output = Result<Response, RequestError>> + Send
    where
        L: IntoLayer<Limits: ErrorOfLayer<RequestError, Error: Send> + 'static>;

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

impl RequestExt for RequestBuilder {
    #[track_caller]
    fn attempt_headers(self) -> Self {
        let sound = Cell::new(false);
        let builder = self.header(Asked(&sound), HeaderValue::from_static(""));
        if !sound.get() {
            // The builder holds an error, which `send` returns.
            return builder;
        }
        let (client, request) = split(builder);
        match request {
            Ok(mut request) => {
                request.headers_mut().remove(&ASKED);
                set_headers(&request.method().clone(), request.headers_mut());
                join(client, request)
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
    fn send_with<L>(self, layer: L) -> impl Future<Output = Result<Response, RequestError>> + Send
    where
        L: IntoLayer<Limits: ErrorOfLayer<RequestError, Error: Send> + 'static>,
    {
        let layer = layer.into_layer();
        Box::pin(async move {
            let (client, request) = split(self);
            let request = request?;
            let harmless = layer.is_harmless::<_, Response>(&request);
            let requests = layer.requests.clone();
            let refused = move |status, headers: &_| requests.is_refused(status, headers);
            let once = (!harmless).then(|| place_of(&request));
            let service = service_fn(move |mut request| {
                let departure = (!harmless).then(|| depart(&mut request));
                let client = client.clone();
                async move { hop(departure, client.execute(request)).await }
            });
            let call = RetryLayer::call::<L::Limits, _, _>(layer, request, service);
            let answered = async { call.await.map_err(said_by_layer) };
            send(once, refused, true, answered).await
        })
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
        let (client, request) = split(self.builder);
        let mut request = request?;
        let harmless = is_harmless(request.method(), request.headers());
        let once = (!harmless).then(|| place_of(&request));
        let departure = (!harmless).then(|| depart(&mut request));
        let answered = hop(departure, client.execute(request));
        send(once, self.refused, checks, answered).await
    }
}

/// What ended a call of a layer.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn said_by_layer(error: impl Into<BoxedError>) -> RequestError {
    let error = error.into().downcast().map(|own| *own);
    let error = error.or_else(|error| Ok((*error.downcast::<Stopped>()?).into()));
    error.unwrap_or_else(|error: BoxedError| {
        let status = error.downcast::<StatusError>();
        RequestError::from(*status.expect("a call ends with one of these"))
    })
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
