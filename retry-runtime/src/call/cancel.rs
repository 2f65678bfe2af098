//! Cuts an attempt or a wait when the `cancel` future completes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::State;
use super::timers::poll_unconstrained;
use crate::opaque::opaque;

/// A value for `cancel`: anything that can be awaited.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future, so it cannot cancel a call",
    label = "expected a future",
    note = "for a `token` that is a `CancellationToken`, write `cancel = token.cancelled()`"
)]
pub trait Cancels<F> {
    /// Makes the future whose completion stops the call.
    fn into_future(self) -> F;
}

// `F` is a parameter because of errors: with an associated type, or without the attribute below, rustc names
// `IntoFuture` and not the text above.
#[diagnostic::do_not_recommend]
impl<C: IntoFuture<IntoFuture = F>, F: Future> Cancels<F> for C {
    #[inline]
    fn into_future(self) -> F {
        IntoFuture::into_future(self)
    }
}

/// Runs `work` and returns its output, or `None` if the `cancel` future completes first.
///
/// `cancel` is polled before each poll of `work`. So a call that is cancelled already does not begin, and `cancel` wins
/// if both are ready. `work` is dropped with the future.
pub fn unless<C: Future, F: Future>(
    cancel: Pin<&mut C>,
    work: F,
) -> impl Future<Output = Option<F::Output>> {
    let goes_on = |_: &F| false;
    Unless {
        cancel,
        goes_on,
        work,
    }
}

/// The same, but an attempt that has begun runs to its end. `cancel` must stay complete, as a [`Signal`] does.
pub fn unless_begun<C: Future, F: Signalled>(
    cancel: Pin<&mut C>,
    attempt: F,
) -> impl Future<Output = Option<F::Output>> {
    Unless {
        cancel,
        goes_on: F::signalled,
        work: attempt,
    }
}

/// An attempt, which may go on when the `cancel` future has completed.
pub trait Signalled: Future {
    /// Notifies the attempt of the signal: it begins no hedge, and sets no failure aside. Returns `false` if it has not
    /// begun.
    fn signalled(&self) -> bool;
}

impl State<'_> {
    /// Notifies an attempt of the signal, as [`Signalled`] says.
    pub(super) fn signal(&self) -> bool {
        let begun = self.frame.phase.get().is_attempt();
        if begun {
            self.frame.rest().noted().signalled = true;
        }
        begun
    }

    /// Whether the signal came while an attempt ran.
    pub(super) fn is_signalled(&self) -> bool {
        let rest = self.frame.if_rest();
        rest.is_some_and(|rest| rest.noted().signalled)
    }
}

pin_project! {
    /// The future of [`unless`] and [`unless_begun`].
    struct Unless<'a, C, F, G> {
        cancel: Pin<&'a mut C>,
        // Whether the work goes on although `cancel` has completed.
        goes_on: G,
        #[pin]
        work: F,
    }
}

impl<C: Future, F: Future, G: Fn(&F) -> bool> Future for Unless<'_, C, F, G> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let signal = poll_unconstrained(this.cancel.as_mut(), waker);
        if signal.is_ready() && !(this.goes_on)(&this.work) {
            return Poll::Ready(None);
        }
        this.work.poll(waker).map(Some)
    }
}

pin_project! {
    /// A `cancel` future that stays complete.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the future.
    #[must_use = "futures do nothing unless polled"]
    pub struct Signal<F> {
        #[pin]
        cancel: Option<F>,
    }
}

impl<F> Signal<F> {
    /// Takes the future.
    pub fn new(cancel: F) -> Self {
        Self {
            cancel: Some(cancel),
        }
    }
}

impl<F: Future> Future for Signal<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let mut cancel = self.project().cancel;
        if let Some(cancel) = cancel.as_mut().as_pin_mut() {
            drop(ready!(cancel.poll(waker)));
        }
        cancel.set(None);
        Poll::Ready(())
    }
}

opaque! { Signal [F] [F]; }
