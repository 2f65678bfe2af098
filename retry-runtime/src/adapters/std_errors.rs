//! Verdicts of pointers to errors, and of errors of std and tokio other than `io::Error`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::classify::{OfClient, Retryable, Verdict};

macro_rules! as_what_it_points_at {
    ($($pointer:ty),+) => {$(
        #[diagnostic::do_not_recommend]
        impl<E: Retryable + ?Sized> Retryable for $pointer {
            fn verdict(&self) -> Verdict {
                (**self).verdict()
            }

            fn hint(&self) -> Option<Duration> {
                (**self).hint()
            }
        }
    )+};
}

as_what_it_points_at!(&E, &mut E, Box<E>, Rc<E>, Arc<E>);

impl OfClient for tokio::time::error::Elapsed {}

/// Transient: the body set this timeout for one of its steps.
#[diagnostic::do_not_recommend]
impl Retryable for tokio::time::error::Elapsed {
    fn verdict(&self) -> Verdict {
        Verdict::Transient
    }
}

/// Permanent errors: the same input gives the same error. A panic is never retried, and someone aborted an aborted task on
/// purpose.
macro_rules! permanent {
    ($($error:ty),+ $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl Retryable for $error {
            fn verdict(&self) -> Verdict {
                Verdict::Permanent
            }
        }
    )+};
}

permanent!(
    std::array::TryFromSliceError,
    std::char::CharTryFromError,
    std::char::ParseCharError,
    std::convert::Infallible,
    std::env::VarError,
    std::ffi::FromBytesWithNulError,
    std::ffi::NulError,
    std::fmt::Error,
    std::net::AddrParseError,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::string::FromUtf16Error,
    tokio::task::JoinError,
);

#[cfg(test)]
mod tests;
