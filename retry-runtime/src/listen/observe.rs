//! A future whose calls report to whoever awaits it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Listener;
use crate::report::Report;

/// Gives the output of a future together with the [`Report`] of the call in it.
///
/// That is the outermost call of an annotated function that ended last while the future was polled; `None`
/// if there was none. A call that is dropped within the future, by a timeout around it for example, reports
/// [`Outcome::Dropped`](crate::Outcome::Dropped). Calls in tasks that the future spawns do not report to it.
///
/// Begin the call within the future: a call that was polled before may not report.
///
/// A call whose caller does not observe pays nothing for this: it asks in any case whether another call is
/// around it.
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
