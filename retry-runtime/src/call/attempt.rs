//! One attempt: `before_retry`, the body of the function, and the limits that cut them.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::cut::{Cut, Cuts};
use super::timers::poll_limits;
use super::{Call, State};
use crate::clock::Stamp;
use crate::context::{self, NEVER, Notes, Phase, around};
use crate::listen::is_listening;
use crate::opaque::opaque;
use crate::{metrics, trace};

impl<'p, C: Cuts, K> Call<'p, C, K> {
    /// Makes an attempt, which the timeout and the deadline may cut.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Attempting<'_, 'p, F, C> {
        Attempting {
            state: &mut self.state,
            body,
            timer: C::Timer::default(),
        }
    }

    /// Runs `before_retry` within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> Prepare<'_, 'p, F, C> {
        Prepare {
            state: &mut self.state,
            body,
            timer: C::Timer::default(),
        }
    }
}

pin_project! {
    /// An attempt that ends with its body, or with its timeout or the deadline, whichever comes first.
    ///
    /// The body is polled first. If it is pending, the clock is read and one timer is armed for the nearest limit. A
    /// body that is ready at the instant of the limit is not cut. Without limits, there is no timer.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct Attempting<'c, 'p, F, C: Cuts> {
        state: &'c mut State<'p>,
        #[pin]
        body: F,
        #[pin]
        timer: C::Timer,
    }
}

impl<F: Future, C: Cuts> Future for Attempting<'_, '_, F, C> {
    type Output = Ended<F::Output, C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let state = &**this.state;
        if let Some(late) = state.enter() {
            return Poll::Ready(Ended::Cut(late));
        }
        if let Poll::Ready(result) = state.frame.lend(|| this.body.poll(waker)) {
            return Poll::Ready(Ended::Returned(result));
        }
        state.suspended();
        if let Some(slot) = C::slot(this.timer) {
            let cut = ready!(poll_limits(state, slot, state.settings.timeout, waker));
            if let Some(cut) = C::from(cut) {
                return Poll::Ready(Ended::Cut(cut));
            }
        } else if state.settings.listens || trace::subscriber_wants() {
            state.start_unless_started();
        }
        Poll::Pending
    }
}

impl State<'_> {
    /// Enters the attempt for one poll. The first poll begins it: now it counts, and spends its permit. Returns the cut if the
    /// deadline was reached before it began.
    #[inline]
    pub(super) fn enter<C: Cuts>(&self) -> Option<C> {
        let frame = &self.frame;
        let begins = frame.phase.get() != Phase::Attempt;
        let within = context::is_within();
        if frame.phase.get() == Phase::New && !within {
            frame.begin(None);
            // As `look_for_recorder`, with 2 instructions less, because nothing can be noted yet.
            if metrics::is_recording() {
                frame.find(Notes::RECORDED);
            }
            if self.settings.word.has_fault() {
                frame.find(Notes::BEGAN_IN_FAULT);
            }
        } else if begins && self.begin_later_or_within(C::LIMITED) {
            return C::from(Cut::Late);
        }
        self.enter_attempt(begins);
        None
    }

    /// Begins an attempt that is not the first of an outermost call. Returns whether it is `limited` and the deadline was
    /// reached before it began.
    #[inline(never)]
    fn begin_later_or_within(&self, limited: bool) -> bool {
        let frame = &self.frame;
        let later = frame.phase.get() != Phase::New;
        self.look_for_recorder();
        if later {
            self.waited_until_now();
            frame.begin_anew();
        } else {
            if is_listening() {
                // A listener sets a frame too, so a call without one need not look for a listener. A call with a listener
                // does not end inline: its report is told, and a test scope has a budget of its own.
                frame.find(Notes::LISTENED);
                self.enter_test_scope();
            }
            if self.with_budget(|budget| budget.word.has_fault()) == Some(true) {
                frame.find(Notes::BEGAN_IN_FAULT);
            }
        }
        let within = around(|outer| self.begin_within(outer)).is_some();
        if !frame.begin(limited.then_some(self.settings.timeout)) {
            return true;
        }
        if later && within {
            // Recorded when the retry begins, because the call may be dropped. Taken back if the call succeeds.
            self.hand_on();
        }
        false
    }

    /// Starts the time of the call at its first suspension, because somebody may ask how long it took.
    #[cold]
    pub(super) fn start_unless_started(&self) {
        if self.frame.started.get().is_none() {
            self.frame.start(Stamp::now());
        }
    }
}

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

impl<F: Future, C: Cuts> Future for Prepare<'_, '_, F, C> {
    type Output = Result<F::Output, C>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(late) = this.state.begin_preparation() {
            return Poll::Ready(Err(late));
        }
        if let Poll::Ready(prepared) = this.state.lend_preparation(|| this.body.poll(waker)) {
            return Poll::Ready(Ok(prepared));
        }
        this.state.suspended();
        let Some(slot) = C::slot(this.timer) else {
            return Poll::Pending;
        };
        let cut = ready!(poll_limits(this.state, slot, NEVER, waker));
        C::from(cut).map_or(Poll::Pending, |cut| Poll::Ready(Err(cut)))
    }
}

impl State<'_> {
    /// Begins `before_retry` if this is its first poll. Returns the cut if the deadline was reached before.
    pub(super) fn begin_preparation<C: Cuts>(&self) -> Option<C> {
        let frame = &self.frame;
        if !frame.prepare() {
            return None;
        }
        self.waited_until_now();
        C::from(Cut::Late).filter(|_| frame.is_late())
    }

    /// Runs one poll of `before_retry`, in the span of the call.
    pub(super) fn lend_preparation<T>(&self, body: impl FnOnce() -> T) -> T {
        self.frame.lend(|| {
            let _entered = self.enter_call();
            body()
        })
    }
}

/// An attempt that ended.
#[derive(Debug)]
pub enum Ended<R, C> {
    /// The body returned this result.
    Returned(R),
    /// A limit or `until` cut it.
    Cut(C),
}

opaque! {
    Attempting [F, C: Cuts] ['_, '_, F, C];
    Prepare [F, C: Cuts] ['_, '_, F, C];
}
