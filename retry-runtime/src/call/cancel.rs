//! Cuts an attempt or a wait when the `cancel` future completes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::timers::poll_unconstrained;
use super::{Call, State};
use crate::context::Rest;
use crate::opaque::opaque;

/// A value for `cancel`: anything that can be awaited.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future, so it cannot cancel a call",
    label = "expected a future",
    note = "for a `token` that is a `CancellationToken`, write `token.cancelled()`",
    note = "for a `watch::Receiver<bool>`, write `async {{ let _ = receiver.clone().wait_for(|stop| *stop).await; }}`"
)]
pub trait Cancels<F> {
    /// Makes the future whose completion stops the call.
    #[doc(hidden)]
    fn into_future(self) -> Cancel<F>;
}

// `F` is a parameter because of errors: with an associated type, or without the attribute below, rustc names
// `IntoFuture` and not the text above.
#[diagnostic::do_not_recommend]
impl<C: IntoFuture<IntoFuture = F>, F: Future> Cancels<F> for C {
    #[inline]
    fn into_future(self) -> Cancel<F> {
        Cancel {
            future: IntoFuture::into_future(self),
            poll: |future, waker| future.poll(waker).map(drop),
        }
    }
}

pin_project! {
    /// The future of a `cancel`. It is one for any `F`: with a bound, rustc would report a value that is no future a second time.
    #[must_use = "futures do nothing unless polled"]
    pub struct Cancel<F> {
        #[pin]
        future: F,
        poll: fn(Pin<&mut F>, &mut Context<'_>) -> Poll<()>,
    }
}

impl<F> Future for Cancel<F> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        (this.poll)(this.future, waker)
    }
}

opaque! { Cancel [F] [F]; }

/// Runs `work` and returns its output, or `None` if the `cancel` future completes first.
///
/// `cancel` is polled before each poll of `work`. So a call that is cancelled already does not begin, and `cancel` wins
/// if both are ready. `work` is dropped with the future.
pub fn unless<C: Future, F: IntoFuture>(
    cancel: Pin<&mut C>,
    work: F,
) -> impl Future<Output = Option<F::Output>> {
    Unless {
        cancel,
        begun: None,
        work: work.into_future(),
    }
}

/// The same, but an attempt that has begun runs to its end. `cancel` must stay complete, as a [`Signal`] does.
pub fn unless_begun<C: Future, F: Future>(
    cancel: Pin<&mut C>,
    attempt: F,
) -> impl Future<Output = Option<F::Output>> {
    Unless {
        cancel,
        begun: Some(false),
        work: attempt,
    }
}

pin_project! {
    /// The future of [`unless`] and [`unless_begun`].
    struct Unless<'a, C, F> {
        cancel: Pin<&'a mut C>,
        // Whether the work has begun, if it then goes on although `cancel` has completed.
        begun: Option<bool>,
        #[pin]
        work: F,
    }
}

impl<C: Future, F: Future> Future for Unless<'_, C, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let cancelled = poll_unconstrained(this.cancel.as_mut(), waker).is_ready();
        if cancelled && *this.begun != Some(true) {
            return Poll::Ready(None);
        }
        *this.begun = this.begun.map(|_| true);
        this.work.poll(waker).map(Some)
    }
}

pin_project! {
    /// A `cancel` future that stays complete, and notifies the call: it begins no hedge then, and sets no failure aside.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the future.
    #[must_use = "futures do nothing unless polled"]
    pub struct Signal<F> {
        call: Arc<Rest>,
        #[pin]
        cancel: Cancel<F>,
    }
}

impl<C, K> Call<'_, C, K> {
    /// Makes a signal of the future of `cancel_waits`.
    pub fn signal<F>(&self, cancel: Cancel<F>) -> Signal<F> {
        Signal {
            call: Arc::clone(self.state.frame.rest()),
            cancel,
        }
    }
}

impl State<'_> {
    /// Whether the signal came.
    pub(super) fn is_signalled(&self) -> bool {
        self.frame.noted().is_some_and(|noted| noted.signalled)
    }
}

impl<F> Future for Signal<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if !this.call.noted().signalled {
            ready!(this.cancel.poll(waker));
            this.call.noted().signalled = true;
        }
        Poll::Ready(())
    }
}

opaque! { Signal [F] [F]; }
