//! One attempt: the body of the function, and the limits that cut it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::ended::{Cut, Cuts, Ended};
use super::state::State;
use super::timers::poll_limits;
use crate::clock::Stamp;
use crate::context::{self, NEVER, Notes, Phase, around};
use crate::listen::is_listening;
use crate::{metrics, trace};

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

impl<'c, 'p, F, C: Cuts> Attempting<'c, 'p, F, C> {
    #[inline]
    pub(super) fn new(state: &'c mut State<'p>, body: F) -> Self {
        Self {
            state,
            body,
            timer: C::Timer::default(),
        }
    }
}

impl<F: Future, C: Cuts> Future for Attempting<'_, '_, F, C> {
    type Output = Ended<F::Output, C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let state = &**this.state;
        if let (true, Some(late)) = (state.enter(C::LIMITED), C::from(Cut::Late)) {
            return Poll::Ready(Ended::Cut(late));
        }
        if let Poll::Ready(result) = state.frame.lend(|| this.body.poll(waker)) {
            return Poll::Ready(Ended::Returned(result));
        }
        state.suspended();
        if let Some(slot) = C::slot(this.timer) {
            let cut = ready!(poll_limits(state, slot, state.settings.timeout(), waker));
            return C::from(cut).map_or(Poll::Pending, |cut| Poll::Ready(Ended::Cut(cut)));
        }
        if state.settings.listens() || trace::is_heard() {
            state.start_unless_started();
        }
        Poll::Pending
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
        let within = around(|outer| self.inner().begin(frame, outer)).is_some();
        if limited && frame.started.get().is_some() {
            let elapsed = frame.elapsed(Stamp::now());
            if frame.deadline.get() <= elapsed {
                return true;
            }
            let cut = elapsed.saturating_add(self.settings.timeout());
            frame.until.set(cut.min(frame.until.get()));
        }
        frame.permit.set(None);
        frame.phase.set(Phase::Attempt);
        if later {
            frame.number.set(frame.number.get().saturating_add(1));
            frame.note(Notes::FAILED_RETRIES, true);
            if within {
                // Recorded when the retry begins, because the call may be dropped. Taken back if the call succeeds.
                self.hand_on();
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

impl<F, C: Cuts> fmt::Debug for Attempting<'_, '_, F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempting")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
