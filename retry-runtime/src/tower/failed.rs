//! Why an attempt of a layer failed.

use std::error::Error as StdError;
use std::fmt;

use crate::adapters::known;
use crate::classify::{Assessment, Retryable, Verdict};
use crate::lookup::{BoxedError, write_chain};

/// An error of a service that has a verdict: one that is [`Retryable`], or a `BoxError` of `tower`.
///
/// In a box, the errors that this crate knows are searched, along the chain of sources. For an error of your own in a box, such as
/// behind a `Timeout`, put `map_err` between this layer and the box, to a type that derives `Retryable`.
#[diagnostic::on_unimplemented(
    message = "`{Self}`, the error of the service, has no verdict",
    label = "expected an error that is `Retryable`, or a `tower::BoxError`",
    note = "derive `Retryable` for it; or, to have its sources decide, put `.map_err(tower::BoxError::from)` below the `RetryLayer`"
)]
pub trait HasVerdict: Into<BoxedError> {
    #[doc(hidden)]
    fn assessment(&self) -> Assessment;

    /// Takes the error of a call that nothing but the service can end.
    #[doc(hidden)]
    fn from_box(error: BoxedError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: Retryable + StdError + Send + Sync + 'static> HasVerdict for E {
    fn assessment(&self) -> Assessment {
        Assessment::of(self)
    }

    fn from_box(error: BoxedError) -> Self {
        let own = error.downcast();
        *own.expect("nothing stops the call, so it is the error of the service")
    }
}

impl HasVerdict for BoxedError {
    fn assessment(&self) -> Assessment {
        known::assessment(&**self)
    }

    fn from_box(error: BoxedError) -> Self {
        error
    }
}

/// Why an attempt failed: the error of the service, or what its response stands for. Or what stopped the call.
#[derive(Debug)]
#[doc(hidden)]
pub struct FailedAttempt {
    pub(super) error: BoxedError,
    pub(super) assessment: Assessment,
    pub(super) host: Option<String>,
    /// Why there is no second attempt.
    pub(super) once: &'static str,
}

impl FailedAttempt {
    pub(super) fn verdict(&self) -> Verdict {
        self.assessment.verdict
    }

    /// As events name it, with the reason if its request is sent once: it is a stream, or it may not run twice.
    pub(super) fn described(self, host: Option<String>, streamed: bool, once: bool) -> Self {
        let once = match self.verdict() {
            _ if streamed => " (the request cannot be copied, so it is sent once)",
            Verdict::Refused | Verdict::Conflict => "",
            _ if once => " (the request may not run twice)",
            _ => "",
        };
        Self { host, once, ..self }
    }
}

/// From the error of a service, what a response stands for, or a `Stopped`.
impl<E: HasVerdict> From<E> for FailedAttempt {
    fn from(error: E) -> Self {
        Self {
            assessment: error.assessment(),
            error: error.into(),
            host: None,
            once: "",
        }
    }
}

/// As the source of a `Stopped`.
impl From<FailedAttempt> for BoxedError {
    fn from(failed: FailedAttempt) -> Self {
        failed.error
    }
}

/// For events.
impl fmt::Display for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}: ")?;
        }
        write_chain(&*self.error, f)?;
        f.write_str(self.once)
    }
}
