//! One attempt: `before_retry`, the body of the function, and the limits that cut them.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::cancel::Signalled;
use super::limits::{Cut, Limits};
use super::timers::poll_limits;
use super::{Call, State};
use crate::clock::Stamp;
use crate::context::{Phase, is_within, outer};
use crate::opaque::opaque;

impl<'p, C: Limits, K> Call<'p, C, K> {
    /// Makes an attempt, which the timeout and the deadline may cut.
    // Its future has a name: each function awaits one, and what is opaque costs more to check.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Attempting<'_, 'p, F, C> {
        self.limited(false, body)
    }

    /// Runs `before_retry` within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> impl Future<Output = Result<F::Output, C>> {
        self.limited(true, body)
    }

    #[inline]
    fn limited<F: Future>(&mut self, prepares: bool, body: F) -> Attempting<'_, 'p, F, C> {
        Attempting {
            state: &mut self.state,
            prepares,
            body,
            timer: C::Timer::default(),
        }
    }
}

pin_project! {
    /// An attempt or `before_retry`, which ends with its body, or with its timeout or the deadline, whichever comes first.
    ///
    /// The body is polled first, so one that is ready at the instant of the limit is not cut. Without limits, there is no timer.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct Attempting<'c, 'p, F, C: Limits> {
        state: &'c mut State<'p>,
        prepares: bool,
        #[pin]
        body: F,
        #[pin]
        timer: C::Timer,
    }
}

impl<F: Future, C: Limits> Future for Attempting<'_, '_, F, C> {
    type Output = Result<F::Output, C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let state = &**this.state;
        state.enter(*this.prepares)?;
        if let Poll::Ready(output) = state.frame.lend(|| this.body.poll(waker)) {
            return Poll::Ready(Ok(output));
        }
        state.suspended();
        let Some(slot) = C::slot(this.timer) else {
            return Poll::Pending;
        };
        let cut = ready!(poll_limits(state, slot, waker));
        C::from(cut).map_or(Poll::Pending, |cut| Poll::Ready(Err(cut)))
    }
}

impl<F: Future, C: Limits> Signalled for Attempting<'_, '_, F, C> {
    fn signalled(&self) -> bool {
        self.state.signalled()
    }
}

impl State<'_> {
    /// Enters an attempt or `before_retry`, and its span, for one poll. The first poll begins it. Returns the cut if the
    /// deadline was reached before.
    #[inline]
    pub(super) fn enter<C: Limits>(&self, prepares: bool) -> Result<(), C> {
        let phase = self.frame.phase.get();
        let (begins, in_time) = if prepares {
            let begins = phase != Phase::Preparation;
            (begins, !begins || self.begin_preparation())
        } else {
            let begins = phase != Phase::Attempt;
            (begins, !begins || self.begin(C::LIMITED))
        };
        if let (false, Some(late)) = (in_time, C::from(Cut::Late)) {
            return Err(late);
        }
        if prepares {
            self.enter_call_span();
        } else {
            self.enter_attempt(begins);
        }
        Ok(())
    }

    /// Begins an attempt. Returns `false` if it is `limited` and the deadline was reached before it began.
    #[inline]
    fn begin(&self, limited: bool) -> bool {
        let frame = &self.frame;
        let retries = frame.phase.get() != Phase::New;
        // Most attempts are the first of an outermost call, and begin with it.
        let known = frame.observed.get() || frame.if_rest().is_some();
        let alone = !retries && !known && !is_within();
        let began = frame.started.get().filter(|_| alone);
        if !alone {
            self.meet_around(retries);
        }
        if !retries {
            let faults = self.budget().map(|budget| budget.cell.faults());
            frame.faults.set(faults.unwrap_or_default());
        }
        let mut cut = Stamp::NEVER;
        if limited {
            let now = began.unwrap_or_else(Stamp::now);
            // A call with a deadline of zero makes one attempt.
            let late = !alone && frame.deadline.get() <= now;
            let has_time = self
                .settings
                .policy
                .deadline()
                .is_none_or(|own| !own.is_zero());
            if late && (retries || has_time) {
                return false;
            }
            cut = now.after(self.settings.policy.timeout());
        }
        frame.begin(cut);
        self.wait_ends();
        if retries {
            self.retry_begins();
            // Now, because the call may be dropped. Taken back if the call succeeds.
            self.note_retries(frame.retries_in_a_row());
        }
        true
    }

    #[inline(never)]
    fn meet_around(&self, retries: bool) {
        if !retries {
            self.enter_test_scope();
        }
        self.frame.renew_limits();
        self.end_wait();
        outer(|outer| self.begin_within(outer));
    }

    /// Begins `before_retry`. Returns `false` if the deadline was reached before.
    fn begin_preparation(&self) -> bool {
        self.frame.phase.set(Phase::Preparation);
        self.frame.renew_limits();
        self.end_wait();
        !self.frame.is_late()
    }
}

opaque! { Attempting [F, C: Limits] ['_, '_, F, C]; }
