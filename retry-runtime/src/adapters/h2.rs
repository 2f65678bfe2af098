//! HTTP/2, which `hyper`, `reqwest` and `tonic` use: the verdict of `h2::Error`.

use ::h2::{Error, Reason};

use crate::classify::{OfClient, Retryable, Verdict};

impl OfClient for Error {}

/// The verdict follows the reason, after RFC 9113. An I/O error of the connection, which was open, has its own verdict, but is never
/// refused.
///
/// If the server sent `GOAWAY`, only the streams above its last identifier get that as their error. The server did not act on
/// them (section 6.8), so they are refused, unless the reason is permanent.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        if let Some(error) = self.get_io() {
            return match error.verdict() {
                Verdict::Refused => Verdict::Transient,
                verdict => verdict,
            };
        }
        match self.reason().map(of_reason) {
            Some(Verdict::Permanent) => Verdict::Permanent,
            Some(_) if self.is_go_away() && self.is_remote() => Verdict::Refused,
            verdict => verdict.unwrap_or(Verdict::Unknown),
        }
    }
}

fn of_reason(reason: Reason) -> Verdict {
    match reason {
        // "The stream was closed prior to any processing having occurred": section 8.7.
        Reason::REFUSED_STREAM => Verdict::Refused,
        // The server gets too much load from this client.
        Reason::ENHANCE_YOUR_CALM => Verdict::Throttled,
        // The stream or its connection ended, perhaps in the middle: the server shuts down (`NO_ERROR`),
        // failed, or did not answer in time.
        Reason::NO_ERROR
        | Reason::INTERNAL_ERROR
        | Reason::SETTINGS_TIMEOUT
        | Reason::STREAM_CLOSED
        | Reason::CANCEL
        | Reason::CONNECT_ERROR => Verdict::Transient,
        // Another connection to the server has the same protocol and the same ciphers.
        Reason::INADEQUATE_SECURITY | Reason::HTTP_1_1_REQUIRED => Verdict::Permanent,
        // One side breaks the protocol, or the reason is not registered.
        _ => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a feature changes for code that does not name its client: the error is recognised where it is inside of another.
    #[test]
    fn an_error_inside_of_an_io_error_has_its_verdict_there() {
        let inside = |reason| std::io::Error::other(Error::from(reason)).verdict();
        assert_eq!(inside(Reason::REFUSED_STREAM), Verdict::Refused);
        assert_eq!(inside(Reason::HTTP_1_1_REQUIRED), Verdict::Permanent);
    }

    #[test]
    fn any_reason_is_harmless_and_only_listed_ones_are_retried() {
        use proptest::prelude::*;
        proptest!(|(number in prop_oneof![0..32_u32, any::<u32>()])| {
            let retried = Error::from(Reason::from(number)).verdict().is_retryable();
            prop_assert_eq!(retried, [0, 2, 4, 5, 7, 8, 0xa, 0xb].contains(&number));
        });
    }
}
