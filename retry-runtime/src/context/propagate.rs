//! The attempt, carried into another task.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::kept::Kept;

/// Carries the current attempt into a future that another task will poll.
///
/// A spawned task does not see the attempt that spawned it, nor the deadline it has to keep:
///
/// ```
/// # async fn upload() {}
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// tokio::spawn(retry_runtime::propagate(async {
///     // `Attempt::current()` and the deadline are those of the function around.
///     upload().await
/// }))
/// .await
/// .unwrap();
/// # }
/// ```
///
/// A deadline that holds where the future is polled goes on to hold: the nearer of both counts.
///
/// What is carried is a copy of how things are when `propagate` is called. What annotated functions in
/// the task do is not seen by the attempt: a refusal there does not stop it, and their retries are not
/// counted. So that retries still add and never multiply, such functions have all of their own in the
/// first attempt of the calls around, and none in later attempts.
///
/// # Cancel safety
///
/// Dropping it drops the future.
pub fn propagate<F: Future>(future: F) -> Propagate<F> {
    Propagate {
        frame: Kept::detached(),
        future,
    }
}

pin_project! {
    /// The future of [`propagate`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Propagate<F> {
        frame: Kept,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Propagate<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.frame.run(|| this.future.poll(context))
    }
}

impl<F> fmt::Debug for Propagate<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Propagate").finish_non_exhaustive()
    }
}
