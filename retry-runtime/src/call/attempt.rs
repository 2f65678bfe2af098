//! One attempt: the body of the function, and the limits that cut it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::time::Sleep;

use super::ended::{Cut, Ended, Never};
use super::limits::poll_limits;
use super::state::State;
use crate::clock::Stamp;
use crate::context::{self, NEVER, Notes, Phase, around};
use crate::listen::is_listening;
use crate::{metrics, trace};

pin_project! {
    /// An attempt that ends with its body, its timeout or the deadline, whichever comes first.
    ///
    /// The body is polled first. If it is pending, the clock is read and one timer is armed for the nearest limit. A
    /// body that is ready at the instant of the limit is not cut.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct LimitedAttempt<'c, 'p, F> {
        state: &'c mut State<'p>,
        #[pin]
        body: F,
        #[pin]
        timer: Option<Sleep>,
    }
}

impl<'c, 'p, F> LimitedAttempt<'c, 'p, F> {
    #[inline]
    pub(super) fn new(state: &'c mut State<'p>, body: F) -> Self {
        Self {
            state,
            body,
            timer: None,
        }
    }
}

impl<F: Future> Future for LimitedAttempt<'_, '_, F> {
    type Output = Ended<F::Output, Cut>;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let state = &**this.state;
        if state.enter(true) {
            return Poll::Ready(Ended::Cut(Cut::Late));
        }
        match state.frame.lend(|| this.body.poll(waker)) {
            Poll::Ready(result) => Poll::Ready(Ended::Returned(result)),
            Poll::Pending => {
                state.suspended();
                let timeout = state.settings.timeout();
                poll_limits(state, this.timer, timeout, waker).map(Ended::Cut)
            }
        }
    }
}

pin_project! {
    /// An attempt without limits.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct UnlimitedAttempt<'c, 'p, F> {
        state: &'c mut State<'p>,
        #[pin]
        body: F,
    }
}

impl<'c, 'p, F> UnlimitedAttempt<'c, 'p, F> {
    #[inline]
    pub(super) fn new(state: &'c mut State<'p>, body: F) -> Self {
        Self { state, body }
    }
}

impl<F: Future> Future for UnlimitedAttempt<'_, '_, F> {
    type Output = Ended<F::Output, Never>;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let state = &**this.state;
        state.enter(false);
        match state.frame.lend(|| this.body.poll(waker)) {
            Poll::Ready(result) => Poll::Ready(Ended::Returned(result)),
            Poll::Pending => {
                state.suspended();
                if state.settings.listens() || trace::is_heard() {
                    state.start_unless_started();
                }
                Poll::Pending
            }
        }
    }
}

impl State<'_> {
    /// Enters the attempt for one poll. The first poll begins it. Returns whether the attempt is `limited` and the
    /// deadline was reached before it began.
    #[inline]
    pub(super) fn enter(&self, limited: bool) -> bool {
        let begins = self.frame.phase.get() != Phase::Attempt;
        if self.begin(limited) {
            return true;
        }
        self.enter_attempt(begins);
        false
    }

    /// Begins the attempt if this is its first poll: now it counts, and its permit is spent. Returns whether the
    /// attempt is `limited` and the deadline was reached before it began.
    #[inline]
    fn begin(&self, limited: bool) -> bool {
        let frame = &self.frame;
        let within = context::is_within();
        if frame.phase.get() == Phase::New && !within {
            frame.phase.set(Phase::Attempt);
            // As `look_for_recorder`, with 2 instructions less, because nothing can be noted yet.
            if metrics::is_recording() {
                frame.note(Notes::RECORDED, true);
            }
            return false;
        }
        frame.phase.get() != Phase::Attempt && self.begin_later_or_within(limited)
    }

    #[inline(never)]
    fn begin_later_or_within(&self, limited: bool) -> bool {
        let frame = &self.frame;
        let later = frame.phase.get() != Phase::New;
        self.look_for_recorder();
        if later {
            self.waited_until_now();
            frame.again.set(true);
            frame.until.set(NEVER);
        }
        if !later && is_listening() {
            // A listener sets a frame too, so a call without one need not look for a listener. A call with a listener
            // does not end inline: its report is told, and a test scope has a budget of its own.
            frame.note(Notes::LISTENED, true);
            self.enter_trial();
        }
        let inner = self.inner();
        let within = around(|outer| inner.begin(frame, outer)).is_some();
        if limited && frame.started.get().is_some() {
            let elapsed = frame.elapsed(Stamp::now());
            if frame.deadline.get() <= elapsed {
                return true;
            }
            let cut = elapsed.saturating_add(self.settings.timeout());
            frame.until.set(cut.min(frame.until.get()));
        }
        frame.phase.set(Phase::Attempt);
        if later {
            frame.number.set(frame.number.get().saturating_add(1));
            frame.note(Notes::IN_VAIN, true);
            if within {
                // Recorded when the retry begins, because the call may be dropped. Taken back if the call succeeds.
                inner.hand_on(frame, frame.number.get() - 1);
            }
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

impl<F> fmt::Debug for LimitedAttempt<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedAttempt")
            .field("state", &self.state)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for UnlimitedAttempt<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnlimitedAttempt")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
