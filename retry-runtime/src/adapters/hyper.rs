//! `hyper` 1 and the client of `hyper-util`.
//!
//! Both return `Ok` for a response of any status. Call [`check`](super::http::check) on it.

// `hyper-util` needs sockets, which a browser does not have.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(super) mod legacy;

use ::hyper::Error;

use super::known::{self, Alone};
use crate::classify::{Retryable, Said, Verdict};

/// A lost connection is transient. A request that was never sent is refused. A response that is not HTTP
/// and a wrong use of `hyper` are permanent.
///
/// A source with a verdict decides first: an `io::Error`, an HTTP/2 error, or the error of the
/// request's own body.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        known::inside(self).unwrap_or_else(|| self.alone()).verdict
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
