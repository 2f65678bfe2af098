//! Carries an attempt into another task.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::clock::Stamp;
use crate::context::{Frame, outer};
use crate::listen::{Listener, test_scope_around};
use crate::opaque::opaque;

/// Carries the current attempt into a future that another task will poll.
///
/// A spawned task does not see the attempt that spawned it, nor its deadline. `propagate` carries both into the task:
///
/// ```
/// # use reattempt_runtime as reattempt;
/// # async fn upload() {}
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// tokio::spawn(reattempt::propagate(async {
///     // `Attempt::current()` and the deadline are those of the outer function.
///     upload().await
/// }))
/// .await
/// .unwrap();
/// # }
/// ```
///
/// If the future is polled under another deadline, the nearer of both holds.
///
/// The task gets a snapshot, taken when you call `propagate`. The attempt does not see what annotated functions in the
/// task do: a refusal there does not stop it, and their retries are not counted. To keep retries from multiplying,
/// these functions have all their attempts only while every outer call is in its first attempt. In later
/// attempts they have one attempt each.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future`.
pub fn propagate<F: Future>(future: F) -> Propagate<F> {
    Propagate {
        frame: outer(Frame::carried).unwrap_or_else(|| Frame::of_scope(Stamp::NEVER)),
        listener: test_scope_around().map(Listener::of),
        future,
    }
}

pin_project! {
    /// The future of [`propagate`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Propagate<F> {
        frame: Frame,
        // Carries a test scope, but no report: `with_report` does not see calls in the task.
        listener: Option<Listener>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Propagate<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let frame = this.frame;
        let own = frame.times;
        outer(|outer| frame.times.inherit(&outer.limits()));
        let poll = || frame.lend(|| this.future.poll(context));
        let polled = match this.listener {
            Some(listener) => listener.lend(poll),
            None => poll(),
        };
        frame.times = own;
        polled
    }
}

opaque! { Propagate [F] [F]; }
