//! A future that returns the report of the call in it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Listener;
use crate::report::Report;

/// Returns the output of a future together with the [`Report`] of the call in it.
///
/// Of several outermost calls in the future, the report is that of the call that ended last. It is `None` if no call
/// ended. A call that is dropped within the future, for example by a timeout, reports
/// [`Outcome::Dropped`](crate::Outcome::Dropped). Calls in spawned tasks do not report.
///
/// Begin the call within the future. A call that was polled before may not report.
///
/// Calls that nobody observes pay nothing for this.
///
/// # Cancel safety
///
/// Dropping it drops the future, and there is no report.
pub fn observe<F: Future>(future: F) -> Observe<F> {
    Observe {
        listener: Listener::default(),
        future: Some(future),
    }
}

pin_project! {
    /// The future of [`observe`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Observe<F> {
        listener: Listener,
        #[pin]
        future: Option<F>,
    }
}

impl<F: Future> Future for Observe<F> {
    type Output = (F::Output, Option<Report>);

    /// # Panics
    ///
    /// - If it is polled after it was ready.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        this.listener.lend_to(this.future.as_mut(), context)
    }
}

impl<F> fmt::Debug for Observe<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observe").finish_non_exhaustive()
    }
}
