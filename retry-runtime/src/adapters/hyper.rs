//! `hyper` 1 and the client of `hyper-util`.
//!
//! Both return `Ok` for a response of any status. Call [`check`](super::http::check) on it.

// `hyper-util` needs sockets, which a browser does not have.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(super) mod legacy;

use std::error::Error as _;

use ::hyper::Error;

use super::known::{Alone, Answer, by_its_chain};
use crate::classify::{OfClient, Retryable as _, Verdict};

impl OfClient for Error {}

by_its_chain! {
    /// A lost connection is transient. A request that was never sent is refused. A response that is not HTTP
    /// and a wrong use of `hyper` are permanent.
    ///
    /// A source with a verdict decides first, unless the request was never sent: an `io::Error`, an HTTP/2 error, or the error of
    /// the request's own body. Only HTTP/2 can say that the request never ran: the connection was open, so a source that was refused,
    /// such as `ConnectionRefused`, is transient.
    Error
}

impl Alone for Error {
    fn alone(&self) -> Answer {
        if is_unwritten(self) {
            return Answer::certain(Verdict::Refused);
        }
        if self.is_closed() {
            // The task of the connection ended before it took the request.
            return Answer::open(Verdict::Refused);
        }
        // HTTP/2 says which requests the server did not act on.
        let of_http2 = self.source().and_then(|source| source.downcast_ref());
        let of_http2 = of_http2.map_or(Verdict::Unknown, ::h2::Error::verdict);
        if of_http2 != Verdict::Unknown {
            return Answer::certain(of_http2);
        }
        let lost = self.is_incomplete_message() || self.is_body_write_aborted();
        let verdict = if lost || self.is_canceled() || self.is_timeout() {
            Verdict::Transient
        } else if self.is_parse() || self.is_user() {
            Verdict::Permanent
        } else {
            Verdict::Unknown
        };
        Answer {
            was_connected: true,
            ..Answer::open(verdict)
        }
    }
}

/// Whether the connection ended before it wrote any part of the request. The source says why it ended: a text, or the
/// error of the connection. An upgrade that is canceled has another source.
fn is_unwritten(error: &Error) -> bool {
    error.is_canceled()
        && error.source().is_some_and(|source| {
            let text = source.to_string();
            source.is::<Error>()
                || ["connection closed", "connection was not ready"].contains(&text.as_str())
        })
}
