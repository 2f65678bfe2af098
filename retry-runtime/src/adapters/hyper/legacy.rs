//! The client of `hyper-util`.

use std::error::Error as StdError;
use std::io::{self, ErrorKind};

use ::hyper_util::client::legacy::Error;

use crate::adapters::known::{self, Alone, Answer, as_type, by_its_chain, links};
use crate::classify::{Assessment, OfClient, Verdict};

impl OfClient for Error {}

by_its_chain! {
    /// A failed connection attempt is refused, because the request was never sent. A proxy that wants a password is permanent, and
    /// so is a certificate that is not valid.
    Error
}

impl Alone for Error {
    fn alone(&self) -> Answer {
        if self.is_connect() {
            Answer::certain(connect(self))
        } else {
            Answer::open(Verdict::Unknown)
        }
    }
}

/// Returns the verdict of a failed connection attempt, in which no request was sent.
///
/// The cause can be permanent: a certificate that is not trusted, for example, or a proxy that wants another password. A Unix socket
/// or a Windows pipe that is not there is refused: the server may make it when it starts.
pub(in crate::adapters) fn connect(error: &(dyn StdError + 'static)) -> Verdict {
    let inside = links(error)
        .nth(1)
        .map_or(Assessment::UNKNOWN, known::assessment);
    let wrong_password = || links(error).any(|link| WRONG_PASSWORD.contains(&&*link.to_string()));
    let no_socket = || {
        let mut causes = links(error).filter_map(as_type::<io::Error>);
        causes.any(|cause| cause.kind() == ErrorKind::NotFound)
    };
    if inside.verdict == Verdict::Permanent && !no_socket() || wrong_password() {
        Verdict::Permanent
    } else {
        Verdict::Refused
    }
}

/// How a proxy says that it did not accept the password, or got none. The errors of `hyper-util` for HTTP and SOCKS proxies
/// have no public type, so their texts tell.
const WRONG_PASSWORD: [&str; 4] = [
    "tunnel error: proxy authorization required",
    "SOCKS error: server does not support user/pass authentication",
    "SOCKS error: server implements authentication incorrectly",
    "SOCKS error: credentials not accepted",
];

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{Verdict, connect};

    #[test]
    fn only_a_permanent_cause_keeps_a_connection_from_being_tried_again() {
        let verdicts = [
            ErrorKind::PermissionDenied,
            ErrorKind::NotFound,
            ErrorKind::ConnectionReset,
            ErrorKind::Other,
        ]
        .map(|kind| connect(&Error::other(Error::from(kind))));
        let refused = Verdict::Refused;
        assert_eq!(verdicts, [Verdict::Permanent, refused, refused, refused]);
    }
}
