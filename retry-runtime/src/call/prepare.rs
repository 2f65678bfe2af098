//! Runs `before_retry`, after the wait.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::ended::{Cut, Cuts};
use super::limits::poll_limits;
use super::state::State;
use crate::context::{NEVER, Phase};

pin_project! {
    /// The future of `before_retry`. The deadline cuts it. The timeout does not.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body. The permit of the retry goes back when the call is dropped.
    #[must_use = "futures do nothing unless polled"]
    pub struct Prepare<'c, 'p, F, C> {
        state: &'c mut State<'p>,
        #[pin]
        body: F,
        #[pin]
        timer: Option<Sleep>,
        cuts: PhantomData<fn() -> C>,
    }
}

impl<'c, 'p, F, C> Prepare<'c, 'p, F, C> {
    pub(super) fn new(state: &'c mut State<'p>, body: F) -> Self {
        Self {
            state,
            body,
            timer: None,
            cuts: PhantomData,
        }
    }
}

impl<F: Future, C: Cuts> Future for Prepare<'_, '_, F, C> {
    type Output = Result<F::Output, C>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(late) = this.state.begin_preparation() {
            return Poll::Ready(Err(late));
        }
        let polled = match this.state.lend_preparation(|| this.body.poll(waker)) {
            Poll::Ready(prepared) => Poll::Ready(Ok(prepared)),
            Poll::Pending => {
                this.state.suspended();
                if C::from(Cut::Deadline).is_none() {
                    return Poll::Pending;
                }
                let cut = ready!(poll_limits(this.state, this.timer, NEVER, waker));
                C::from(cut).map_or(Poll::Pending, |cut| Poll::Ready(Err(cut)))
            }
        };
        if polled.is_ready() {
            this.state.end_preparation();
        }
        polled
    }
}

impl State<'_> {
    /// Begins `before_retry` if this is its first poll. Returns the cut if the deadline was reached before.
    pub(super) fn begin_preparation<C: Cuts>(&self) -> Option<C> {
        let frame = &self.frame;
        frame.phase.set(match frame.phase.get() {
            Phase::Paid => Phase::PaidPreparation,
            Phase::Between => Phase::Preparation,
            _ => return None,
        });
        self.waited_until_now();
        frame.until.set(NEVER);
        C::from(Cut::Late).filter(|_| frame.is_late())
    }

    /// Runs one poll of `before_retry`, in the span of the call.
    pub(super) fn lend_preparation<T>(&self, body: impl FnOnce() -> T) -> T {
        self.frame.lend(|| {
            let _entered = self.enter_call();
            body()
        })
    }

    /// Ends `before_retry`.
    pub(super) fn end_preparation(&self) {
        let frame = &self.frame;
        frame.phase.set(match frame.phase.get() {
            Phase::PaidPreparation => Phase::Paid,
            _ => Phase::Between,
        });
    }
}

impl<F, C> fmt::Debug for Prepare<'_, '_, F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepare")
            .field("state", &self.state)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}
