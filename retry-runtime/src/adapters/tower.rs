//! Errors of the layers of `tower` 0.5.

use ::tower::load_shed::error::Overloaded;
use ::tower::timeout::error::Elapsed;

use crate::classify::{OfClient, Retryable, Verdict};

impl OfClient for Overloaded {}
impl OfClient for Elapsed {}

/// Transient: a `Timeout` cut the request, which may have run.
#[diagnostic::do_not_recommend]
impl Retryable for Elapsed {
    fn verdict(&self) -> Verdict {
        Verdict::Transient
    }
}

/// Refused: a `LoadShed` did not call the service.
#[diagnostic::do_not_recommend]
impl Retryable for Overloaded {
    fn verdict(&self) -> Verdict {
        Verdict::Refused
    }
}
