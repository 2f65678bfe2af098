//! The errors of one version of `reqwest-middleware`, which the module around names `client`. The middleware itself is in
//! `crate::reqwest_middleware`.

use std::time::Duration;

use super::client::Error;
use crate::adapters::known;
use crate::classify::{OfClient, Retryable, Verdict};
use crate::stopped::Stopped;

impl OfClient for Error {}

/// An error of `reqwest` has its own verdict. In the error of a middleware, the innermost error with a verdict decides.
#[diagnostic::do_not_recommend]
impl Retryable for Error {
    fn verdict(&self) -> Verdict {
        known::assessment(self).verdict
    }

    fn hint(&self) -> Option<Duration> {
        known::assessment(self).hint
    }
}

/// The error of a middleware.
impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        Self::middleware(stopped)
    }
}
