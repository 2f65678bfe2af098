//! `hyper` 1 and the client of `hyper-util`.
//!
//! Both answer with `Ok` for a response of any status: [`check`](super::http::check) it.

use ::hyper::Error;
use ::hyper_util::client::legacy;

use super::known::{self, Alone};
use crate::classify::{Retryable, Said, Verdict};

/// A connection that was lost is transient, a request that was never sent is refused; what breaks the
/// protocol, or is a mistake in how `hyper` is used, is permanent.
///
/// What is below knows more and is asked first: the kind of an `io::Error`, the reason of an HTTP/2
/// error, or what the caller's own body failed with.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        known::inside(self).unwrap_or_else(|| self.alone()).verdict
    }
}

/// A connection that could not be made is refused: the request was never sent.
#[diagnostic::do_not_recommend]
impl Retryable for legacy::Error {
    fn verdict(&self) -> Verdict {
        let inside = known::inside(self);
        if self.is_connect() {
            connect(inside)
        } else {
            inside.map_or(Verdict::Unknown, |said| said.verdict)
        }
    }
}

impl Alone for Error {
    fn alone(&self) -> Said {
        // The connection's task was gone before it took the request.
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

impl Alone for legacy::Error {
    fn alone(&self) -> Said {
        if self.is_connect() {
            Said::new(Verdict::Refused)
        } else {
            Said::UNKNOWN
        }
    }
}

/// No request was sent. What keeps the connection from being made may last, though, as a certificate
/// that is not trusted does.
pub(crate) fn connect(inside: Option<Said>) -> Verdict {
    match inside {
        Some(said) if said.verdict == Verdict::Permanent => Verdict::Permanent,
        _ => Verdict::Refused,
    }
}
