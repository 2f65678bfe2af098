//! Runs `before_retry`, after the wait.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::ended::{Cut, Cuts};
use super::state::State;
use super::timers::poll_limits;
use crate::context::{NEVER, Phase};

pin_project! {
    /// The future of `before_retry`. The deadline cuts it. The timeout does not.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body. The permit of the retry goes back when the call is dropped.
    #[must_use = "futures do nothing unless polled"]
    pub struct Prepare<'c, 'p, F, C: Cuts> {
        state: &'c mut State<'p>,
        #[pin]
        body: F,
        #[pin]
        timer: C::Timer,
    }
}

impl<'c, 'p, F, C: Cuts> Prepare<'c, 'p, F, C> {
    pub(super) fn new(state: &'c mut State<'p>, body: F) -> Self {
        Self {
            state,
            body,
            timer: C::Timer::default(),
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
                let Some(slot) = C::slot(this.timer) else {
                    return Poll::Pending;
                };
                let cut = ready!(poll_limits(this.state, slot, NEVER, waker));
                C::from(cut).map_or(Poll::Pending, |cut| Poll::Ready(Err(cut)))
            }
        };
        if polled.is_ready() {
            this.state.frame.phase.set(Phase::Between);
        }
        polled
    }
}

impl State<'_> {
    /// Runs `before_retry` of a function that is not async.
    pub(super) fn prepare_blocking<T, C: Cuts>(&self, body: impl FnOnce() -> T) -> Result<T, C> {
        if let Some(late) = self.begin_preparation() {
            return Err(late);
        }
        let prepared = self.lend_preparation(body);
        self.frame.phase.set(Phase::Between);
        Ok(prepared)
    }

    /// Begins `before_retry` if this is its first poll. Returns the cut if the deadline was reached before.
    fn begin_preparation<C: Cuts>(&self) -> Option<C> {
        let frame = &self.frame;
        if frame.phase.get() != Phase::Between {
            return None;
        }
        frame.phase.set(Phase::Preparation);
        self.waited_until_now();
        frame.until.set(NEVER);
        C::from(Cut::Late).filter(|_| frame.is_late())
    }

    /// Runs one poll of `before_retry`, in the span of the call.
    fn lend_preparation<T>(&self, body: impl FnOnce() -> T) -> T {
        self.frame.lend(|| {
            let _entered = self.enter_call();
            body()
        })
    }
}

impl<F, C: Cuts> fmt::Debug for Prepare<'_, '_, F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepare")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
