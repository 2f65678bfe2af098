//! A call with a hedge: a second attempt beside the first, if the first is slow.
//!
//! One task polls both, so nothing is spawned or boxed, and dropping the call drops both. The loop is that of any call. If one
//! of two attempts fails, the loop goes on with the other, without a wait:
//!
//! ```text
//! let mut race = pin!(Race::new());
//! loop {
//!     let ended = call.race(race.as_mut(), || async { BODY }).await;
//!     let until = match call.settle(ended, |error| …) { … };
//!     if call.is_beside() { continue; }
//!     call.wait(until).await;
//! }
//! ```

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::attempt::Ended;
use super::cut::{Cut, Cuts};
use super::decide::Situation as _;
use super::timers::{poll_until_due, step};
use super::{Call, State};
use crate::budget::Share;
use crate::clock::{Instant, Sleep, Stamp, nanos};
use crate::context::{NEVER, Phase, Which, is_within};
use crate::opaque::opaque;
use crate::trace::Event;

pin_project! {
    /// The attempts of one call that run now: the first or a later one, and the hedge.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops both.
    pub struct Race<F> {
        #[pin]
        first: Option<F>,
        #[pin]
        hedge: Option<F>,
        #[pin]
        timer: Option<Sleep>,
        limits: Limits,
        turn: bool,
    }
}

impl<F> Race<F> {
    /// No attempt yet.
    #[expect(
        clippy::new_without_default,
        reason = "generated code calls it by this name"
    )]
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self {
            first: None,
            hedge: None,
            timer: None,
            limits: Limits {
                cuts: [NEVER; 2],
                pending: false,
                begins: None,
                hedged: false,
                limited: false,
            },
            turn: false,
        }
    }
}

/// Runs the attempts of a race until one of them ends.
///
/// # Cancel safety
///
/// Dropping it leaves the attempts in the [`Race`].
#[must_use = "futures do nothing unless polled"]
pub struct Racing<'c, 'p, 'r, F, M, C> {
    state: &'c mut State<'p>,
    race: Pin<&'r mut Race<F>>,
    make: M,
    cuts: PhantomData<fn() -> C>,
}

impl<'p, C: Cuts, K> Call<'p, C, K> {
    /// Makes an attempt, and a hedge beside it if it is the first and slow. Goes on with the other one, if one of two ended
    /// before.
    pub fn race<'c, 'r, F: Future, M: FnMut() -> F>(
        &'c mut self,
        race: Pin<&'r mut Race<F>>,
        make: M,
    ) -> Racing<'c, 'p, 'r, F, M, C> {
        Racing {
            state: &mut self.state,
            race,
            make,
            cuts: PhantomData,
        }
    }

    /// Whether an attempt still runs beside the one that ended.
    #[must_use]
    pub fn is_beside(&self) -> bool {
        self.state.frame.is_beside()
    }
}

impl<F, M, C> Unpin for Racing<'_, '_, '_, F, M, C> {}

impl<F: Future, M: FnMut() -> F, C: Cuts> Future for Racing<'_, '_, '_, F, M, C> {
    type Output = Ended<F::Output, C>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let state = &*this.state;
        let mut race = this.race.as_mut().project();
        let begins = race.first.is_none() && race.hedge.is_none();
        if begins {
            race.timer.set(None);
            if let Some(late) = race.limits.begin(state) {
                return Poll::Ready(Ended::Cut(late));
            }
            race.first.set(Some(state.frame.lend(&mut this.make)));
        }
        // The order alternates: if one attempt used up what tokio lets a task do in a poll, the other would starve.
        *race.turn = !*race.turn;
        let order = if *race.turn {
            [Which::First, Which::Hedge]
        } else {
            [Which::Hedge, Which::First]
        };
        for which in order {
            let both = race.first.is_some() && race.hedge.is_some();
            let slot = match which {
                Which::First => race.first.as_mut(),
                Which::Hedge => race.hedge.as_mut(),
            };
            if slot.is_some() {
                // An attempt that begins is the present one, and in its span.
                if !begins {
                    race.limits.turn_to(which, both, state);
                    state.enter_attempt(false);
                }
                if let Poll::Ready(result) = race.limits.poll_body(slot, state, waker) {
                    return Poll::Ready(Ended::Returned(result));
                }
            }
        }
        loop {
            let runs = [race.first.is_some(), race.hedge.is_some()];
            let timer = race.timer.as_mut();
            let due = ready!(race.limits.poll(runs, state, timer, waker));
            match due {
                Due::Cut(cut, which) => {
                    if which != Some(Which::Hedge) {
                        race.first.set(None);
                    }
                    if which != Some(Which::First) {
                        race.hedge.set(None);
                    }
                    if let Some(cut) = C::from(cut) {
                        return Poll::Ready(Ended::Cut(cut));
                    }
                }
                Due::Hedge { cut } => {
                    race.limits.begin_hedge(cut, state);
                    race.hedge.set(Some(state.frame.lend(&mut this.make)));
                    let slot = race.hedge.as_mut();
                    if let Poll::Ready(result) = race.limits.poll_body(slot, state, waker) {
                        return Poll::Ready(Ended::Returned(result));
                    }
                }
            }
        }
    }
}

/// When what happens in a race. Times are nanoseconds since the start of the call, or [`NEVER`].
#[derive(Debug)]
struct Limits {
    /// When the timeout cuts the first or a later attempt, and the hedge.
    cuts: [u64; 2],
    /// Whether the first or a later attempt was pending.
    pending: bool,
    /// When the hedge begins, if it may. `None` before the first attempt was pending.
    begins: Option<u64>,
    /// Whether the hedge began, and no attempt after it.
    hedged: bool,
    /// Whether limits cut attempts.
    limited: bool,
}

/// What is due.
enum Due {
    /// A limit cuts one attempt, or both.
    Cut(Cut, Option<Which>),
    /// The hedge begins. Its timeout cuts it then.
    Hedge { cut: u64 },
}

impl Limits {
    /// Begins the first or a later attempt. Returns the cut if the deadline was reached before it began.
    fn begin<C: Cuts>(&mut self, state: &State<'_>) -> Option<C> {
        let frame = &state.frame;
        let first = frame.phase.get() == Phase::New;
        self.pending = false;
        self.hedged = false;
        self.limited = C::LIMITED;
        self.begins = Some(NEVER).filter(|_| !first);
        if let Some(late) = state.enter() {
            return Some(late);
        }
        if first {
            state.with_share(Share::add);
        }
        if !frame.reserve_hedge() {
            self.begins = Some(NEVER);
        }
        None
    }

    /// Makes an attempt the present one.
    fn turn_to(&self, which: Which, both: bool, state: &State<'_>) {
        if self.hedged {
            state.frame.turn_to(which, both);
        }
    }

    /// Records that the present attempt ends.
    fn ends(&self, state: &State<'_>) {
        if self.hedged {
            state.frame.end_one_of_two();
        }
    }

    fn poll_body<F: Future>(
        &self,
        mut slot: Pin<&mut Option<F>>,
        state: &State<'_>,
        waker: &mut Context<'_>,
    ) -> Poll<F::Output> {
        let Some(body) = slot.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let frame = &state.frame;
        let poll = || body.poll(waker);
        let polled = if self.hedged {
            frame.lend_present(poll)
        } else {
            frame.lend(poll)
        };
        match polled {
            Poll::Ready(_) => {
                slot.set(None);
                self.ends(state);
            }
            Poll::Pending => state.suspended(),
        }
        polled
    }

    /// Returns what is due.
    fn poll(
        &mut self,
        runs: [bool; 2],
        state: &State<'_>,
        timer: Pin<&mut Option<Sleep>>,
        waker: &mut Context<'_>,
    ) -> Poll<Due> {
        if self.hedged {
            // If the call is dropped now, it is in doubt if either attempt is.
            state.frame.turn_to_open_commit();
        }
        if timer.is_none() && self.pending && self.nearest(runs, state) == NEVER {
            // Nothing will ever be due, so no poll needs the clock.
            return Poll::Pending;
        }
        poll_until_due(state, timer, waker, |rang| {
            // It may ring late: what begins now has its whole timeout, and what is overdue ends first.
            let now = Instant::now();
            let now = rang.map_or(now, |rang| now.max(rang));
            let elapsed = self.learn(Stamp::of(now), state);
            let due = self.due(runs, elapsed, state);
            due.ok_or_else(|| step(self.nearest(runs, state), elapsed, now))
        })
    }

    /// Learns the limits of an attempt that is pending for the first time. Returns the time of the call.
    fn learn(&mut self, now: Stamp, state: &State<'_>) -> u64 {
        if !self.pending {
            self.pending = true;
            (_, self.cuts[0]) = state.frame.limit(self.timeout(state), now);
        }
        let elapsed = state.frame.elapsed(now);
        if self.begins.is_none() {
            self.begins = Some(elapsed.saturating_add(state.hedge_after()));
        }
        elapsed
    }

    /// Returns what is due. A hedge that the call may not make is no longer due.
    fn due(&mut self, runs: [bool; 2], elapsed: u64, state: &State<'_>) -> Option<Due> {
        if self.limited && state.frame.deadline.get() <= elapsed {
            return Some(Due::Cut(Cut::Deadline, None));
        }
        let both = runs == [true; 2];
        for which in [Which::First, Which::Hedge] {
            if runs[which as usize] && self.cuts[which as usize] <= elapsed {
                self.turn_to(which, both, state);
                self.ends(state);
                return Some(Due::Cut(Cut::Timeout, Some(which)));
            }
        }
        if self.begins > Some(elapsed) {
            return None;
        }
        self.begins = Some(NEVER);
        (runs[0] && state.may_hedge(elapsed)).then(|| Due::Hedge {
            cut: elapsed.saturating_add(self.timeout(state)),
        })
    }

    fn nearest(&self, [first, hedge]: [bool; 2], state: &State<'_>) -> u64 {
        let ends = [
            (self.limited, state.frame.deadline.get()),
            (first, self.cuts[0]),
            (hedge, self.cuts[1]),
            (first, self.begins.unwrap_or(NEVER)),
        ];
        let counting = ends.into_iter().filter(|(counts, _)| *counts);
        counting.map(|(_, at)| at).min().unwrap_or(NEVER)
    }

    fn timeout(&self, state: &State<'_>) -> u64 {
        if self.limited {
            state.settings.timeout
        } else {
            NEVER
        }
    }

    /// Begins the hedge: now it counts.
    fn begin_hedge(&mut self, cut: u64, state: &State<'_>) {
        self.hedged = true;
        self.cuts[1] = cut;
        state.log(Event::Hedged);
        state.frame.begin_hedge(cut);
        state.look_for_recorder();
        if is_within() {
            // As for a retry: taken back if the call succeeds.
            state.hand_on();
        }
        state.enter_attempt(true);
    }
}

impl State<'_> {
    /// Returns after how many nanoseconds the call hedges.
    fn hedge_after(&self) -> u64 {
        const LEAST: Duration = Duration::from_millis(1);
        let after = self.settings.policy.hedge();
        after.map_or(NEVER, |after| nanos(after.max(LEAST)))
    }

    /// Whether the call may hedge now, and takes that from the share of the function.
    #[cold]
    fn may_hedge(&self, elapsed: u64) -> bool {
        let frame = &self.frame;
        let left = frame.deadline.get().saturating_sub(elapsed);
        if frame.has_open_commit()
            || frame.attempts_allowed().is_some_and(|most| most < 2)
            || !self.settings.idempotent
            || !self.is_enabled()
            || left <= self.hedge_after()
        {
            return false;
        }
        let now = self.in_test_scope(Stamp::now());
        let may = self
            .with_budget(|budget| budget.is_half_full() && budget.paused_until(now).is_none())
            == Some(true)
            && self.with_share(Share::take);
        if !may {
            frame.refuse_hedge();
        }
        may
    }
}

opaque! {
    Race [F] [F];
    Racing [F, M, C] ['_, '_, '_, F, M, C];
}
