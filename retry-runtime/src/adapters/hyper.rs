//! `hyper` 1 and the client of `hyper-util`.
//!
//! Both answer with `Ok` for a response of any status: [`check`](super::http::check) it.

use ::hyper::Error;
use ::hyper_util::client::legacy;

use crate::classify::{Said, known};
use crate::{Retryable, Verdict};

/// A connection that was lost is transient, a request that was never sent is refused; what breaks the
/// protocol, or is a mistake in how `hyper` is used, is permanent.
///
/// What is below knows more and is asked first: the kind of an `io::Error`, the reason of an HTTP/2
/// error, or what the caller's own body failed with.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        known::inside(self).map_or_else(|| itself(self), |said| said.verdict)
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

/// What the error says without its causes.
pub(crate) fn itself(error: &Error) -> Verdict {
    // The connection's task was gone before it took the request.
    if error.is_closed() {
        return Verdict::Refused;
    }
    let lost = error.is_incomplete_message() || error.is_body_write_aborted();
    if lost || error.is_canceled() || error.is_timeout() {
        return Verdict::Transient;
    }
    if error.is_parse() || error.is_user() {
        return Verdict::Permanent;
    }
    Verdict::Unknown
}

/// What the error says without its causes.
pub(crate) fn client_itself(error: &legacy::Error) -> Verdict {
    if error.is_connect() {
        Verdict::Refused
    } else {
        Verdict::Unknown
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
