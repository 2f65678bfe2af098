//! The client of `hyper-util`.

use ::hyper_util::client::legacy::Error;

use crate::adapters::known::{Alone, Answer, by_its_chain, connect};
use crate::classify::{OfClient, Verdict};

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
