//! The client of `hyper-util`.

use std::error::Error as StdError;

use ::hyper_util::client::legacy::Error;

use crate::adapters::known::{self, Certain};
use crate::classify::{Links, Retryable, Said, Verdict};

/// A failed connection attempt is refused, because the request was never sent. A proxy that wants a password is permanent, and
/// so is a certificate that is not valid.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        let said = self.certain().or_else(|| known::inside(self));
        said.map_or(Verdict::Unknown, |said| said.verdict)
    }
}

impl Certain for Error {
    fn certain(&self) -> Option<Said> {
        let verdict = || connect(self, known::inside(self));
        self.is_connect().then(|| Said::new(verdict()))
    }
}

/// Returns the verdict of a failed connection attempt, in which no request was sent.
///
/// The cause can be permanent: a certificate that is not trusted, for example, or a proxy that wants another password.
pub(in crate::adapters) fn connect(
    error: &(dyn StdError + 'static),
    inside: Option<Said>,
) -> Verdict {
    let inside = inside.map(|said| said.verdict);
    if inside == Some(Verdict::Permanent) || Links::of(error).any(is_wrong_password) {
        Verdict::Permanent
    } else {
        Verdict::Refused
    }
}

/// Whether a proxy did not accept the password, or got none. The errors of `hyper-util` for HTTP and SOCKS proxies have
/// no public type, so their texts tell.
fn is_wrong_password(link: &(dyn StdError + 'static)) -> bool {
    let text = link.to_string();
    WRONG_PASSWORD.contains(&text.as_str())
}

const WRONG_PASSWORD: [&str; 4] = [
    "tunnel error: proxy authorization required",
    "SOCKS error: server does not support user/pass authentication",
    "SOCKS error: server implements authentication incorrectly",
    "SOCKS error: credentials not accepted",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_permanent_cause_keeps_a_connection_from_being_tried_again() {
        let error = std::io::Error::other("in a test");
        let verdicts = [Verdict::Permanent, Verdict::Transient, Verdict::Unknown]
            .map(|inside| connect(&error, Some(Said::new(inside))));
        let refused = Verdict::Refused;
        assert_eq!(verdicts, [Verdict::Permanent, refused, refused]);
        assert_eq!(connect(&error, None), refused);
    }
}
