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
//!     at.await;
//! }
//! ```

use std::future::poll_fn;
use std::ops::ControlFlow::{self, Continue};
use std::pin::pin;
use std::task::{Poll, ready};
use std::time::Duration;

use super::attempt::{Limits, poll_limits};
use super::events::Event;
use super::timers::{Next, poll_until_due};
use super::{Call, NextAttemptAt, State};
use crate::budget::{BudgetRef, Charge, Request};
use crate::clock::Stamp;
use crate::context::{Allowed, Bodies, Leeway};
use crate::report::{HedgeOutcome, Which};

/// What follows an attempt: another one then, or the result of the call.
type Settled<R> = ControlFlow<R, NextAttemptAt>;

impl<C: Limits, K> Call<'_, C, K> {
    /// Makes an attempt, and a hedge beside it if it is the first and slow. Returns what `settle` returns about the body that
    /// decides.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops both bodies.
    pub async fn race<F: Future, R>(
        &mut self,
        mut make: impl FnMut() -> F,
        mut settle: impl FnMut(&mut Self, Result<F::Output, C>) -> Settled<R>,
    ) -> Settled<R> {
        if let Err(late) = self.state.begin_attempt() {
            return settle(self, Err(late));
        }
        let mut hedge_at = self.state.hedge_at();
        let mut first = pin!(Some(self.state.frame.lend(&mut make)));
        let mut hedge = pin!(None);
        let (mut limit, mut slow) = (pin!(C::Timer::default()), pin!(None));
        let mut turn = Which::Hedge;
        poll_fn(|waker| {
            // The order alternates: if one used up what tokio lets a task do in a poll, the other would starve.
            turn = turn.other();
            let mut order: &[_] = &[turn, turn.other()];
            loop {
                for &which in order {
                    let mut running = match which {
                        Which::First => first.as_mut(),
                        Which::Hedge => hedge.as_mut(),
                    };
                    let Some(body) = running.as_mut().as_pin_mut() else {
                        continue;
                    };
                    self.state.turn_to(which);
                    self.state.enter_span();
                    let Poll::Ready(output) = self.state.frame.lend(|| body.poll(waker)) else {
                        self.state.suspend();
                        continue;
                    };
                    running.set(None);
                    let settled = settle(self, Ok(output));
                    // The failure of one is set aside while the attempt goes on.
                    if !matches!(&settled, Continue(at) if at.next == Next::Other) {
                        return Poll::Ready(settled);
                    }
                }
                let state = &mut self.state;
                let cut = C::poll(limit.as_mut(), |timer| poll_limits(state, timer, waker));
                if let Poll::Ready(cut) = cut {
                    first.set(None);
                    hedge.set(None);
                    // Of two that run, the first is cut.
                    state.turn_to(Which::First);
                    return Poll::Ready(settle(self, Err(cut)));
                }
                // After a limit that was seen late, no hedge begins.
                let Some(at) = hedge_at.filter(|_| state.last_polls == 0) else {
                    return Poll::Pending;
                };
                let now = ready!(poll_until_due(state, slow.as_mut(), waker, |now| {
                    if at <= now { Ok(now) } else { Err(at) }
                }));
                slow.set(None);
                hedge_at = None;
                // The timer may ring late.
                if !state.may_hedge(now.max(Stamp::now())) {
                    return Poll::Pending;
                }
                state.begin_hedge();
                hedge.set(Some(state.frame.lend(&mut make)));
                order = &[Which::Hedge];
            }
        })
        .await
    }
}

impl State<'_> {
    /// When the attempt that begins gets a hedge beside it, if it is the first.
    fn hedge_at(&mut self) -> Option<Stamp> {
        let first = self.frame.number() == 1;
        if first {
            self.hedges().succeed(None, Stamp::now);
        }
        let Allowed { leeway, again } = self.frame.inside;
        if leeway != Leeway::Anything {
            // An outer call may hedge.
            return None;
        }
        // Without a time, a policy lets calls inside hedge.
        let after = self.hedge_after()?;
        let leeway = Leeway::Retry;
        self.frame.inside = Allowed { leeway, again };
        first.then(|| Stamp::now().plus(after))
    }

    /// Returns after how long the call hedges, or `None` for never.
    fn hedge_after(&self) -> Option<Duration> {
        Some(self.settings.policy.hedge()?.max(Duration::from_millis(1)))
    }

    /// Whether the call may hedge now, and takes that from the budget of its hedges.
    fn may_hedge(&mut self, now: Stamp) -> bool {
        const HEDGE: Request = Request {
            charge: Charge::Failure,
            number: 1,
            had_begun: false,
            at_once: false,
        };
        let frame = &self.frame;
        if self.is_signalled()
            || frame.open_effect().is_some()
            || frame.attempts_allowed().is_some_and(|most| most < 2)
            || self.settings.idempotent == Some(false)
            || !self.is_enabled()
            || frame.times.deadline <= now.after(self.hedge_after())
        {
            return false;
        }
        let now = now.plus(frame.passed_over());
        let budget = self.budget().filter(BudgetRef::is_half_full);
        let may = budget.is_some_and(|budget| budget.paused_until(now).is_none())
            && self.hedges().take(HEDGE, now).is_some();
        if !may {
            self.frame.hedge = Some(HedgeOutcome::Refused);
        }
        may
    }

    /// Begins the hedge: now it counts.
    fn begin_hedge(&mut self) {
        self.log(Event::HEDGED);
        self.frame.hedge = Some(HedgeOutcome::Lost);
        let mut noted = self.frame.rest().noted();
        noted.in_doubt = true;
        noted.effects.one_at_a_time = self.settings.idempotent != Some(true);
        drop(noted);
        self.frame.count_attempt();
        self.frame.bodies = Bodies::Both(Which::Hedge);
        // As for a retry: taken back if the call succeeds.
        self.note_retries();
        self.on_attempt_begun();
    }

    /// Of two bodies that run, makes this one the present one.
    pub(super) fn turn_to(&mut self, which: Which) {
        if let Bodies::Both(_) = self.frame.bodies {
            self.frame.bodies = Bodies::Both(which);
        }
    }
}
