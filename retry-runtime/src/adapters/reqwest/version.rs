//! The adapter of one version of `reqwest`. The module around names that version `client`.

use std::error::Error as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ::http::{HeaderMap, Method, StatusCode};

use super::client::{self, Client, Request, RequestBuilder, Response, Url};
use crate::adapters::ClientRequest;
use crate::adapters::http::headers::host_of;
use crate::adapters::http::{
    ClientError, ClientResponse, Departure, Destination, FailedRequest, StatusError,
};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use crate::adapters::http::{Redirected, Watched};
use crate::adapters::known::{self, Alone, Answer, by_its_chain};
use crate::classify::{Retryable, Verdict};
use crate::sealed::Sealed;

by_its_chain! {
    /// The verdict follows the kind of failure, and then the source of the error:
    ///
    /// - A failed connection attempt is refused, because no request was sent. A certificate that is not
    ///   trusted is permanent, and so is a proxy that wants a password.
    /// - A timeout, a lost connection and an incomplete body are transient.
    /// - A status has the verdict of its [`StatusCode`].
    /// - A browser does not say why `fetch` failed. The cause may be the network, so in a browser it is transient.
    /// - A request that cannot be built, too many redirects and a body that cannot be decoded are permanent.
    client::Error
}

impl Alone for client::Error {
    fn alone(&self) -> Answer {
        if self.is_builder() || self.is_redirect() {
            return Answer::certain(Verdict::Permanent);
        }
        if let Some(status) = self.status() {
            return Answer::certain(status.verdict());
        }
        // The error of `hyper-util` inside knows that nothing was sent.
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        if self.is_connect() {
            return Answer::open(Verdict::Refused);
        }
        let in_browser = cfg!(all(target_family = "wasm", target_os = "unknown"));
        if self.is_timeout() {
            return Answer::timed_out();
        }
        if in_browser && self.is_request() {
            return Answer::certain(Verdict::Transient);
        }
        // The body arrived, but it is not of the expected form, unless the connection was lost. Without a length, only the text of
        // `serde_json` says that the body was cut. An empty body may be meant.
        let is_cut = || {
            let text = self.source().map(ToString::to_string).unwrap_or_default();
            text.starts_with("EOF while parsing ") && !text.ends_with(" line 1 column 0")
        };
        Answer::open(match self.is_decode() {
            true if is_cut() => Verdict::Transient,
            true => Verdict::Permanent,
            false => Verdict::Unknown,
        })
    }
}

/// Turns a response whose status is a failure into an error.
pub trait ResponseExt: Sealed + Sized {
    /// Returns the response, or an error if its status is a failure.
    ///
    /// # Errors
    ///
    /// - The status is in 400 to 599. The response and its body are dropped; the status and the delay
    ///   that the server asked for are kept in the error.
    fn check(self) -> Result<Self, StatusError>;
}

impl Sealed for Response {}

impl ResponseExt for Response {
    fn check(self) -> Result<Self, StatusError> {
        self.failure().map_or(Ok(self), Err)
    }
}

impl ClientResponse for Response {
    fn parts(&self) -> (StatusCode, &HeaderMap) {
        (self.status(), self.headers())
    }

    fn place(&self) -> Destination {
        hash_of(self.url())
    }

    fn mark_redirected(&mut self) {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        self.extensions_mut().insert(Redirected);
    }

    fn failure(&self) -> Option<StatusError> {
        let failure = StatusError::from_parts(self.status(), self.headers());
        let url = || [&*host_of(self.url().authority()), self.url().path()].concat();
        failure.map(|error| error.of(url()))
    }
}

impl ClientRequest for RequestBuilder {}

impl ClientError for client::Error {
    fn is_unsent(&self) -> bool {
        self.is_builder() || known::is_unsent(self)
    }

    fn place(&self) -> Option<Destination> {
        self.url().map(hash_of)
    }
}

fn hash_of(url: &Url) -> Destination {
    let mut place = DefaultHasher::new();
    let host = (url.host_str(), url.port_or_known_default());
    (url.scheme(), host, url.path(), url.query()).hash(&mut place);
    place.finish()
}

/// The method of a request, and where it goes.
pub(crate) fn place_of(request: &Request) -> (Method, Destination) {
    (request.method().clone(), hash_of(request.url()))
}

/// Watches a request, and its body: that is sent as it was, and one that could be sent again still can.
pub(crate) fn depart(request: &mut Request) -> Departure {
    Departure {
        at: place_of(request),
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        body: Some(watch(request)),
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        body: None,
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn watch(request: &mut Request) -> std::sync::Weak<()> {
    let body = request.body_mut().take().unwrap_or_default();
    let has_bytes = matches!(body.as_bytes(), Some([_, ..]));
    let (alive, body) = Watched::of(body);
    *request.body_mut() = Some(if has_bytes {
        ::bytes::Bytes::from_owner(body).into()
    } else {
        // There are no bytes to hold, or they are a stream.
        client::Body::wrap(body)
    });
    alive
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl AsRef<[u8]> for Watched<client::Body> {
    fn as_ref(&self) -> &[u8] {
        self.body().as_bytes().unwrap_or_default()
    }
}

/// Takes a builder apart.
pub(crate) fn split(builder: RequestBuilder) -> (Client, client::Result<Request>) {
    builder.build_split()
}

/// Puts one together.
pub(crate) fn join(client: Client, request: Request) -> RequestBuilder {
    RequestBuilder::from_parts(client, request)
}

/// Returns whether a response is a failure that is worth another attempt, for `when_ok`.
///
/// To follow `Retry-After` too, return it beside the answer:
/// `when_ok = |response| (is_retryable(response), retry_after(response.headers()))`, with [`retry_after`](crate::adapters::http::retry_after).
#[must_use]
pub fn is_retryable(response: &Response) -> bool {
    StatusError::retryable(response.status(), response.headers()).is_some()
}

/// Why a request failed, for functions that only use HTTP.
pub type RequestError = FailedRequest<client::Error>;

impl From<client::Error> for RequestError {
    fn from(error: client::Error) -> Self {
        Self::Request(error)
    }
}

by_its_chain!(RequestError);
