//! One attempt: `before_retry`, the body of the function, and the limits that cut them. A function without limits has nothing
//! that could cut it.

use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::yield_now;

use super::timers::poll_until_due;
use super::{Call, State};
use crate::clock::{Sleep, Stamp, nanos};
use crate::context::{Phase, outer};
use crate::lookup::Lends;
use crate::opaque::opaque;
use crate::words::words;

impl<'p, C: Limits, K> Call<'p, C, K> {
    /// Makes an attempt, which the timeout and the deadline may cut.
    // Its future has a name: each function awaits one, and what is opaque costs more to check.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Attempting<'_, 'p, F, C> {
        Attempting {
            state: &mut self.state,
            runs: Work::Body,
            body,
            timer: C::Timer::default(),
        }
    }
}

impl<'p, C: Limits, K: Lends> Call<'p, C, K> {
    /// Splits a call into what prepares the next attempt, and the error of the last one, if it is kept, and that was not cut and gave no
    /// `Ok`.
    pub fn split(&mut self) -> (Preparing<'_, 'p, C>, Option<&K::Error>) {
        let last = self.last.as_ref().filter(|_| self.state.has_last);
        let preparing = Preparing {
            state: &mut self.state,
            cuts: PhantomData,
        };
        (preparing, last.map(Lends::error))
    }
}

/// What prepares an attempt, beside the error of the last one.
pub struct Preparing<'c, 'p, C> {
    pub(super) state: &'c mut State<'p>,
    cuts: PhantomData<fn() -> C>,
}

impl<'c, 'p, C: Limits> Preparing<'c, 'p, C> {
    /// Runs `before_retry` within the deadline.
    pub fn prepare<F: Future>(self, body: F) -> Attempting<'c, 'p, F, C> {
        Attempting {
            state: self.state,
            runs: Work::BeforeRetry,
            body,
            timer: C::Timer::default(),
        }
    }
}

/// What runs within the limits of a call.
#[derive(Debug, Clone, Copy)]
enum Work {
    Body,
    BeforeRetry,
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
        runs: Work,
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
        let state = &mut **this.state;
        let entered = match this.runs {
            Work::Body => state.enter_attempt(),
            Work::BeforeRetry => state.enter_preparation(),
        };
        entered?;
        if let Poll::Ready(output) = state.frame.lend(|| this.body.poll(waker)) {
            return Poll::Ready(Ok(output));
        }
        state.suspend();
        C::poll(this.timer, |timer| poll_limits(state, timer, waker)).map(Err)
    }
}

/// A limit that is seen so late passed while the thread or the process stood still.
const LATE: Duration = Duration::from_millis(5);
/// How often the body is polled after that. The task of a connection may wake another task, and that one the body.
const LAST_POLLS: u8 = 3;

impl State<'_> {
    /// Enters an attempt and its span for one poll. The first poll begins it. Returns the cut if the deadline was reached before.
    #[inline]
    pub(super) fn enter_attempt<C: Limits>(&mut self) -> Result<(), C> {
        if !matches!(self.frame.phase(), Phase::Attempt(_)) {
            self.begin_attempt()?;
        }
        self.enter_span();
        Ok(())
    }

    /// Enters `before_retry` and the span of the call for one poll. The first poll begins it. Returns the cut if the deadline was
    /// reached before.
    #[inline(never)]
    pub(super) fn enter_preparation<C: Limits>(&mut self) -> Result<(), C> {
        if !matches!(self.frame.phase(), Phase::Preparation(_)) {
            self.frame.begin_preparation();
            self.end_wait();
            if self.frame.times.deadline.left() == Some(Duration::ZERO) {
                C::reached(Cut::Late)?;
            }
        }
        self.enter(|spans| spans.call.clone());
        Ok(())
    }

    /// Records that the code inside is pending.
    #[inline]
    pub(super) fn suspend(&mut self) {
        self.frame.suspend();
        self.follows_refusal = false;
        if self.frame.rest.get().is_some() {
            self.enter(|_| None);
        }
    }

    /// Begins an attempt. Returns the cut if the deadline was reached before.
    #[inline]
    pub(super) fn begin_attempt<C: Limits>(&mut self) -> Result<(), C> {
        let policy = &self.settings.policy;
        let phase = self.frame.phase();
        let first = matches!(phase, Phase::New);
        // Most attempts are the first of an outermost call, and begin with it.
        let is_plain = first && self.frame.rest.get().is_none() && outer(|_| ()).is_none();
        if !is_plain {
            self.look_around();
        }
        if first {
            let faults = self.budget().map(|budget| budget.cell.faults());
            self.frame.faults = faults.unwrap_or_default();
        }
        if C::LIMITED {
            let times = &mut self.frame.times;
            let began = times.started.filter(|_| is_plain);
            let now = began.unwrap_or_else(Stamp::now);
            // A call with a deadline of zero makes one attempt.
            let must_begin = first && policy.deadline() == Some(Duration::ZERO);
            if !is_plain && times.deadline <= now && !must_begin {
                C::reached(Cut::Late)?;
            }
            let cut = now.after(policy.timeout());
            times.cut = cut;
            self.frame.timeout = policy.timeout().map_or(u64::MAX, nanos);
        }
        // Now it counts.
        self.frame.begin_attempt(phase.permit());
        if !first {
            // Now, because the call may be dropped. Taken back if the call succeeds.
            self.note_retries();
        }
        self.on_attempt_begun();
        Ok(())
    }

    /// Looks at what changed since the last attempt: limits, the wait, and the outer call.
    #[cold]
    fn look_around(&mut self) {
        self.last_polls = 0;
        self.frame.renew_limits();
        self.end_wait();
        outer(|outer| self.begin_within(outer));
    }

    /// Is pending as long as the body is polled once more, although it reached this limit. Its answer may have come in time, and lie
    /// in a socket that another task reads.
    #[cold]
    fn poll_last(&mut self, limit: Stamp, waker: &mut Context<'_>) -> Poll<()> {
        let polls = self.last_polls;
        let is_late = Stamp::now().since(limit) >= LATE;
        if !is_late || polls == LAST_POLLS || !self.frame.is_attempt() {
            return Poll::Ready(());
        }
        self.last_polls = polls + 1;
        // It wakes this task after tokio has looked at the sockets, and run the tasks that they wake.
        pin!(yield_now()).poll(waker)
    }
}

opaque! {
    Attempting [F, C: Limits] ['_, '_, F, C];
    Preparing [C] ['_, '_, C];
}

/// Returns the limit of an attempt that was reached, after the last polls of its body. It is not generic, so a program has it once.
pub(super) fn poll_limits(
    state: &mut State<'_>,
    slot: Pin<&mut Option<Sleep>>,
    waker: &mut Context<'_>,
) -> Poll<Cut> {
    let (deadline, cut) = (state.frame.times.deadline, state.frame.cut());
    if deadline.min(cut) == Stamp::NEVER {
        return Poll::Pending;
    }
    let reached = ready!(poll_until_due(state, slot, waker, |now| {
        if deadline <= now {
            Ok(Cut::Deadline)
        } else if cut <= now {
            Ok(Cut::Timeout)
        } else {
            Err(deadline.min(cut))
        }
    }));
    state.poll_last(deadline.min(cut), waker).map(|()| reached)
}

/// The limit that ended an attempt before its body returned, or `until`, which does not accept what the body returned.
// Four bytes: with one byte, the compiler splits a `u32` result, and a call with limits that is ready at once takes 7
// instructions more.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It reached its timeout.
    Timeout,
    /// The client ended it at a limit of its own.
    OfClient,
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

    /// Polls the timer, in the place that there is for it. Without limits, there is none.
    #[inline]
    fn poll(
        _timer: Pin<&mut Self::Timer>,
        _poll: impl FnOnce(Pin<&mut Option<Sleep>>) -> Poll<Cut>,
    ) -> Poll<Self> {
        Poll::Pending
    }

    /// Cuts the call, unless it has no limits.
    ///
    /// # Errors
    ///
    /// - The cut, if the call has limits.
    #[inline]
    fn reached(_cut: Cut) -> Result<(), Self> {
        Ok(())
    }
}

impl Limits for Cut {
    const LIMITED: bool = true;
    type Timer = Option<Sleep>;

    #[inline]
    fn poll(
        timer: Pin<&mut Self::Timer>,
        poll: impl FnOnce(Pin<&mut Option<Sleep>>) -> Poll<Cut>,
    ) -> Poll<Self> {
        poll(timer)
    }

    #[inline]
    fn reached(cut: Cut) -> Result<(), Self> {
        Err(cut)
    }
}

impl Limits for Never {
    const LIMITED: bool = false;
    type Timer = ();
}

impl From<Never> for Cut {
    fn from(cut: Never) -> Self {
        match cut {}
    }
}

words! {
    Cut, "Returns the text of events and of errors.",
    Self::Timeout | Self::OfClient => "timed out",
    Self::Deadline => "deadline reached",
    Self::Late => "the wait ended after the deadline",
    Self::Paused => "the pause of the budget does not fit the deadline",
    Self::NotReady => "not ready",
    Self::Cancelled => "cancelled",
}
