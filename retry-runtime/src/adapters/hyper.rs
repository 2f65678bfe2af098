//! `hyper` 1 and the client of `hyper-util`.
//!
//! Both return `Ok` for a response of any status. Call [`check`](super::http::check) on it.

// `hyper-util` needs sockets, which a browser does not have.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(super) mod legacy;

use std::error::Error as _;

use ::hyper::Error;

use super::known::{self, Alone, Certain};
use crate::classify::{Retryable, Said, Verdict};

/// A lost connection is transient. A request that was never sent is refused. A response that is not HTTP
/// and a wrong use of `hyper` are permanent.
///
/// A source with a verdict decides first, unless the request was never sent: an `io::Error`, an HTTP/2 error, or the error of
/// the request's own body.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        let said = self.certain().or_else(|| known::inside(self));
        said.unwrap_or_else(|| self.alone()).verdict
    }
}

impl Alone for Error {
    fn alone(&self) -> Said {
        // The task of the connection ended before it took the request.
        if self.is_closed() {
            return Said::new(Verdict::Refused);
        }
        let lost = self.is_incomplete_message() || self.is_body_write_aborted();
        if lost || self.is_canceled() || self.is_timeout() {
            return Said::new(Verdict::Transient);
        }
        if self.is_parse() || self.is_user() {
            return Said::new(Verdict::Permanent);
        }
        Said::UNKNOWN
    }
}

impl Certain for Error {
    /// Answers if the connection ended before it wrote any part of the request. The source says why it ended: a text, or the
    /// error of the connection. An upgrade that is canceled has another source.
    fn certain(&self) -> Option<Said> {
        let source = self.source().filter(|_| self.is_canceled())?;
        let text = source.to_string();
        let unwritten = source.is::<Self>()
            || ["connection closed", "connection was not ready"].contains(&text.as_str());
        unwritten.then(|| Said::new(Verdict::Refused))
    }
}
