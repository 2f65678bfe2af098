//! The headers that tell a server about the attempt that sends a request.

use std::cell::Cell;

use super::client::RequestBuilder;
use crate::adapters::ClientRequest;
use crate::adapters::http::headers::set_headers;
use crate::sealed::Sealed;
use ::http::{Error, HeaderName, HeaderValue};

/// Describes the attempt that sends a request to the server.
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
    /// # mod reattempt { pub use reattempt_runtime::adapters::reqwest as reqwest_0_13; }
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
