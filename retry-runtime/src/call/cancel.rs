//! Cuts an attempt or a wait when the `cancel` future completes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

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
pub fn unless<C: Future, F: Future>(cancel: Pin<&mut C>, work: F) -> Unless<'_, C, F> {
    Unless::new(cancel, true, work)
}

/// The same, but `work` that has begun runs to its end.
pub fn unless_begun<C: Future, F: Future>(cancel: Pin<&mut C>, work: F) -> Unless<'_, C, F> {
    Unless::new(cancel, false, work)
}

pin_project! {
    /// The future of [`unless`] and [`unless_begun`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops `work`.
    #[must_use = "futures do nothing unless polled"]
    pub struct Unless<'a, C, F> {
        cancel: Option<Pin<&'a mut C>>,
        // Whether `work` that has begun is cut.
        cuts: bool,
        #[pin]
        work: F,
    }
}

impl<'a, C, F> Unless<'a, C, F> {
    pub(crate) fn new(cancel: Pin<&'a mut C>, cuts: bool, work: F) -> Self {
        Self {
            cancel: Some(cancel),
            cuts,
            work,
        }
    }
}

impl<C: Future, F: Future> Future for Unless<'_, C, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(cancel) = this.cancel {
            if poll_unconstrained(cancel.as_mut(), waker).is_ready() {
                return Poll::Ready(None);
            }
        }
        if !*this.cuts {
            *this.cancel = None;
        }
        this.work.poll(waker).map(Some)
    }
}

/// A race that is notified of the signal while it runs.
pub trait Signalled: Future {
    /// Lets it begin nothing else, nor set a failure aside. Returns `false` if it has not begun.
    fn signalled(&self) -> bool;
}

/// Runs a race, as [`unless_begun`] runs an attempt. One that has begun is notified of the signal. `cancel` must stay complete, as a
/// [`Signal`] does.
pub fn unless_racing<C: Future, F: Signalled>(
    cancel: Pin<&mut C>,
    race: F,
) -> UnlessRacing<'_, C, F> {
    UnlessRacing::new(cancel, false, race)
}

pin_project! {
    /// The future of [`unless_racing`].
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the race.
    #[must_use = "futures do nothing unless polled"]
    pub struct UnlessRacing<'a, C, F> {
        cancel: Pin<&'a mut C>,
        // Whether a race that has begun is cut.
        cuts: bool,
        #[pin]
        race: F,
    }
}

impl<'a, C, F> UnlessRacing<'a, C, F> {
    pub(crate) fn new(cancel: Pin<&'a mut C>, cuts: bool, race: F) -> Self {
        Self { cancel, cuts, race }
    }
}

impl<C: Future, F: Signalled> Future for UnlessRacing<'_, C, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let signal = poll_unconstrained(this.cancel.as_mut(), waker);
        if signal.is_ready() && (*this.cuts || !this.race.signalled()) {
            return Poll::Ready(None);
        }
        this.race.poll(waker).map(Some)
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

opaque! {
    Unless [C, F] ['_, C, F];
    UnlessRacing [C, F] ['_, C, F];
    Signal [F] [F];
}
