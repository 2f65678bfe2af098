//! One attempt: `before_retry`, the body of the function, and the limits that cut them. A function without limits has nothing
//! that could cut it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::cancel::Signalled;
use super::timers::poll_until_due;
use super::{Call, State};
use crate::clock::{Sleep, Stamp};
use crate::context::{Phase, is_within, outer};
use crate::opaque::opaque;

impl<'p, C: Limits, K> Call<'p, C, K> {
    /// Makes an attempt, which the timeout and the deadline may cut.
    // Its future has a name: each function awaits one, and what is opaque costs more to check.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Attempting<'_, 'p, F, C> {
        Attempting {
            state: &mut self.state,
            prepares: false,
            body,
            timer: C::Timer::default(),
        }
    }

    /// Runs `before_retry` within the deadline.
    pub fn prepare<F: Future>(&mut self, body: F) -> impl Future<Output = Result<F::Output, C>> {
        Attempting {
            prepares: true,
            ..self.attempt(body)
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
            if !retries {
                self.enter_test_scope();
            }
            frame.renew_limits();
            self.end_wait();
            outer(|outer| self.begin_within(outer));
        }
        if let (false, Some(budget)) = (retries, self.budget()) {
            frame.faults.set(budget.cell.faults());
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
        // Now it counts.
        let number = frame.number.get().saturating_add(1);
        frame.number.set(number);
        frame.present.set(number);
        frame.phase.set(Phase::Attempt);
        frame.cut.set(cut);
        self.wait_ends();
        if retries {
            frame.again.set(true);
            self.retry_begins();
            // Now, because the call may be dropped. Taken back if the call succeeds.
            self.note_retries(frame.retries_in_a_row());
        }
        true
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

/// Returns the limit of an attempt that was reached. It is not generic, so a program has it once.
pub(super) fn poll_limits(
    state: &State<'_>,
    slot: Pin<&mut Option<Sleep>>,
    waker: &mut Context<'_>,
) -> Poll<Cut> {
    let (deadline, cut) = (state.frame.deadline.get(), state.frame.cut.get());
    if deadline.min(cut) == Stamp::NEVER {
        return Poll::Pending;
    }
    poll_until_due(state, slot, waker, |now| {
        if deadline <= now {
            Ok(Cut::Deadline)
        } else if cut <= now {
            Ok(Cut::Timeout)
        } else {
            Err(deadline.min(cut))
        }
    })
}

/// The limit that ended an attempt before its body returned, or `until`, which does not accept what the body returned.
// Four bytes: with one byte, the compiler splits a `u32` result, and a call with limits that is ready at once takes 7
// instructions more.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It reached its timeout.
    Timeout,
    /// It reached the deadline of the call.
    Deadline,
    /// The deadline, own or inherited, was reached before the attempt or its `before_retry` began.
    Late,
    /// The pause of the budget does not fit the deadline, own or inherited. No attempt began.
    Paused,
    /// The body returned an `Ok` that is not ready, as `until` says.
    NotReady,
    /// The `cancel` future completed.
    Cancelled,
}

/// The cut of a function without limits: there is none.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

/// What can cut a call: [`Cut`], or [`Never`] for a function without limits.
pub trait Limits: Copy + Into<Cut> {
    /// Whether a timer may cut its attempts.
    const LIMITED: bool;

    /// The timer in the future of an attempt. Without limits, there is no room for one.
    type Timer: Default + Send;

    /// Returns the place for a timer, or `None` for a function without limits.
    fn slot(timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>>;

    /// Returns the cut, or `None` for a function without limits.
    fn from(cut: Cut) -> Option<Self>;
}

impl Limits for Cut {
    const LIMITED: bool = true;
    type Timer = Option<Sleep>;

    #[inline]
    fn slot(timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>> {
        Some(timer)
    }

    #[inline]
    fn from(cut: Cut) -> Option<Self> {
        Some(cut)
    }
}

impl Limits for Never {
    const LIMITED: bool = false;
    type Timer = ();

    #[inline]
    fn slot(_timer: Pin<&mut Self::Timer>) -> Option<Pin<&mut Option<Sleep>>> {
        None
    }

    #[inline]
    fn from(_cut: Cut) -> Option<Self> {
        None
    }
}

impl From<Never> for Cut {
    fn from(cut: Never) -> Self {
        match cut {}
    }
}

impl Cut {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timed out",
            Self::Deadline => "deadline reached",
            Self::Late => "the wait ended after the deadline",
            Self::Paused => "the pause of the budget does not fit the deadline",
            Self::NotReady => "not ready",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
