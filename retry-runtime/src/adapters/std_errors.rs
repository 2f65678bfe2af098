//! Verdicts of pointers to errors, and of errors of std, tokio and tower other than `io::Error`.

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

            fn timed_out(&self) -> bool {
                (**self).timed_out()
            }

            fn may_have_run(&self) -> bool {
                (**self).may_have_run()
            }
        }
    )+};
}

as_what_it_points_at!(&E, &mut E, Box<E>, Rc<E>, Arc<E>);

impl OfClient for tokio::time::error::Elapsed {}
#[cfg(feature = "tower-0_5")]
impl OfClient for ::tower::timeout::error::Elapsed {}
#[cfg(feature = "tower-0_5")]
impl OfClient for ::tower::load_shed::error::Overloaded {}

/// Errors that always have the same verdict.
macro_rules! always {
    ($($(#[$attribute:meta])* $verdict:ident $($timed_out:ident)?: $error:ty,)+) => {$(
        $(#[$attribute])*
        #[diagnostic::do_not_recommend]
        impl Retryable for $error {
            fn verdict(&self) -> Verdict {
                Verdict::$verdict
            }

            $(fn $timed_out(&self) -> bool {
                true
            })?
        }
    )+};
}

always! {
    /// The body set this timeout for one of its steps.
    Transient timed_out: tokio::time::error::Elapsed,
    /// A `Timeout` cut the request, which may have run.
    #[cfg(feature = "tower-0_5")]
    Transient timed_out: ::tower::timeout::error::Elapsed,
    /// A `LoadShed` did not call the service.
    #[cfg(feature = "tower-0_5")]
    Refused: ::tower::load_shed::error::Overloaded,

    // The same input gives the same error. A panic is never retried, and someone aborted an aborted task on purpose.
    Permanent: std::array::TryFromSliceError,
    Permanent: std::char::CharTryFromError,
    Permanent: std::char::ParseCharError,
    Permanent: std::convert::Infallible,
    Permanent: std::env::VarError,
    Permanent: std::ffi::FromBytesWithNulError,
    Permanent: std::ffi::NulError,
    Permanent: std::fmt::Error,
    Permanent: std::net::AddrParseError,
    Permanent: std::num::ParseFloatError,
    Permanent: std::num::ParseIntError,
    Permanent: std::num::TryFromIntError,
    Permanent: std::str::ParseBoolError,
    Permanent: std::str::Utf8Error,
    Permanent: std::string::FromUtf8Error,
    Permanent: std::string::FromUtf16Error,
    Permanent: tokio::task::JoinError,
}

#[cfg(test)]
mod tests;
