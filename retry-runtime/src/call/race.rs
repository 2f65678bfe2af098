//! An attempt with a hedge: its body runs a second time beside the first, if that is slow.
//!
//! Both belong to one attempt, which has one timeout and one result. One task polls both, so nothing is spawned or boxed, and
//! dropping the attempt drops both. The call settles each that ends: the failure of one is set aside while the other may succeed,
//! unless no retry may follow it.
//!
//! ```text
//! loop {
//!     // In place of `call.attempt(async { BODY })`:
//!     let settled = call.race(|| async { BODY }, |call, ended| call.settle(ended, judge)).await;
//!     let at = match settled { … };
//!     at.wait().await;
//! }
//! ```

use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::attempt::{Limits, poll_limits};
use super::cancel::Signalled;
use super::events::Event;
use super::timers::{Next, poll_until_due};
use super::{Call, NextAttemptAt, State};
use crate::budget::{Charge, Request};
use crate::clock::{Sleep, Stamp};
use crate::context::{Bodies, Leeway, Phase};
use crate::report::{Hedge, Which};

pin_project! {
    /// An attempt whose body may run twice at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops both.
    struct Racing<'c, 'p, F, M, S, C: Limits, K> {
        call: &'c mut Call<'p, C, K>,
        make: M,
        settle: S,
        #[pin]
        first: Option<F>,
        #[pin]
        hedge: Option<F>,
        #[pin]
        limit: C::Timer,
        #[pin]
        slow: Option<Sleep>,
        // When the hedge begins, if one may.
        hedge_at: Option<Stamp>,
        turn: bool,
    }
}

/// What follows an attempt: another one then, or the result of the call.
type Settled<'p, F> = ControlFlow<<F as Future>::Output, NextAttemptAt<'p>>;

impl<'p, C: Limits, K> Call<'p, C, K> {
    /// Makes an attempt, and a hedge beside it if it is the first and slow. Returns what `settle` returns about the body that
    /// decides.
    pub fn race<F: Future, M, S>(
        &mut self,
        make: M,
        settle: S,
    ) -> impl Signalled<Output = Settled<'p, F>>
    where
        M: FnMut() -> F,
        S: FnMut(&mut Self, Result<F::Output, C>) -> Settled<'p, F>,
    {
        Racing {
            call: self,
            make,
            settle,
            first: None,
            hedge: None,
            limit: C::Timer::default(),
            slow: None,
            hedge_at: None,
            turn: false,
        }
    }
}

impl<'p, F, M, S, C, K> Future for Racing<'_, 'p, F, M, S, C, K>
where
    F: Future,
    M: FnMut() -> F,
    S: FnMut(&mut Call<'p, C, K>, Result<F::Output, C>) -> Settled<'p, F>,
    C: Limits,
{
    type Output = Settled<'p, F>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let call = &mut **this.call;
        // What begins is the present one, and in its span.
        let phase = call.state.frame.phase.get();
        let mut begins = !phase.is_attempt();
        if begins {
            if let Err(late) = call.state.enter_attempt() {
                return Poll::Ready((this.settle)(call, Err(late)));
            }
            *this.hedge_at = call.state.hedge_at(phase == Phase::New);
            this.first.set(Some(call.state.frame.lend(&mut *this.make)));
        }
        // The order alternates: if one used up what tokio lets a task do in a poll, the other would starve.
        *this.turn = !*this.turn;
        let mut order: &[Which] = if *this.turn {
            &[Which::First, Which::Hedge]
        } else {
            &[Which::Hedge, Which::First]
        };
        loop {
            for which in order {
                let mut slot = match which {
                    Which::First => this.first.as_mut(),
                    Which::Hedge => this.hedge.as_mut(),
                };
                let Some(body) = slot.as_mut().as_pin_mut() else {
                    continue;
                };
                if !std::mem::take(&mut begins) {
                    call.state.frame.turn_to(*which);
                    call.state.enter_span(false);
                }
                match call.state.frame.lend(|| body.poll(waker)) {
                    Poll::Pending => call.state.suspend(),
                    Poll::Ready(output) => {
                        slot.set(None);
                        let settled = (this.settle)(call, Ok(output));
                        // The failure of one is set aside while the attempt goes on.
                        if !matches!(&settled, ControlFlow::Continue(at) if at.next == Next::Other)
                        {
                            return Poll::Ready(settled);
                        }
                    }
                }
            }
            let state = &call.state;
            if let Some(slot) = C::slot(this.limit.as_mut()) {
                if let Poll::Ready(cut) = poll_limits(state, slot, waker) {
                    if let Some(cut) = C::from(cut) {
                        this.first.set(None);
                        this.hedge.set(None);
                        // Of two that run, the first is cut.
                        call.state.frame.turn_to(Which::First);
                        return Poll::Ready((this.settle)(call, Err(cut)));
                    }
                }
            }
            let Some(at) = *this.hedge_at else {
                return Poll::Pending;
            };
            let now = ready!(poll_until_due(state, this.slow.as_mut(), waker, |now| {
                if at <= now { Ok(now) } else { Err(at) }
            }));
            this.slow.set(None);
            *this.hedge_at = None;
            // The timer may ring late.
            if !state.may_hedge(now.max(Stamp::now())) {
                return Poll::Pending;
            }
            state.begin_hedge();
            begins = true;
            this.hedge.set(Some(state.frame.lend(&mut *this.make)));
            order = &[Which::Hedge];
        }
    }
}

impl<'p, F, M, S, C, K> Signalled for Racing<'_, 'p, F, M, S, C, K>
where
    F: Future,
    M: FnMut() -> F,
    S: FnMut(&mut Call<'p, C, K>, Result<F::Output, C>) -> Settled<'p, F>,
    C: Limits,
{
    fn signalled(&self) -> bool {
        self.call.state.signal()
    }
}

impl State<'_> {
    /// When the attempt that begins gets a hedge beside it, if it is the `first`.
    fn hedge_at(&self, first: bool) -> Option<Stamp> {
        let frame = &self.frame;
        if first {
            self.hedges().succeed(None, Stamp::now);
        }
        if frame.inside.get() != Leeway::Anything {
            // An outer call may hedge.
            return None;
        }
        frame.inside.set(Leeway::Retry);
        let after = self.hedge_after().filter(|_| first)?;
        Some(Stamp::now().plus(after))
    }

    /// Returns after how long the call hedges, or `None` for never.
    fn hedge_after(&self) -> Option<Duration> {
        const LEAST: Duration = Duration::from_millis(1);
        let after = self.settings.policy.hedge()?;
        Some(after.max(LEAST))
    }

    /// Whether the call may hedge now, and takes that from the budget of its hedges.
    fn may_hedge(&self, now: Stamp) -> bool {
        const HEDGE: Request = Request {
            charge: Charge::Failure,
            number: 1,
            had_begun: false,
            at_once: false,
        };
        let frame = &self.frame;
        if self.is_signalled()
            || frame.has_open_commit()
            || frame.attempts_allowed().is_some_and(|most| most < 2)
            || !self.settings.idempotent
            || !self.is_enabled()
            || frame.limits.get().deadline <= now.after(self.hedge_after())
        {
            return false;
        }
        let now = now.plus(frame.passed_over());
        let may = self
            .budget()
            .is_some_and(|budget| budget.is_half_full() && budget.paused_until(now).is_none())
            && self.hedges().take(HEDGE, now).is_some();
        if !may {
            frame.rest().noted().hedge = Some(Hedge::Refused);
        }
        may
    }

    /// Begins the hedge: now it counts.
    fn begin_hedge(&self) {
        self.log(Event::Hedged);
        let frame = &self.frame;
        let mut noted = frame.rest().noted();
        noted.hedge = Some(Hedge::Lost);
        noted.in_doubt = true;
        drop(noted);
        frame.number.set(2);
        frame.bodies.set(Bodies::Both(Which::Hedge));
        // As for a retry: taken back if the call succeeds.
        self.note_retries();
        self.enter_span(true);
    }
}
