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

use super::cut::{Cut, Cuts};
use super::timers::poll_until_due;
use super::{Call, State};
use crate::budget::Share;
use crate::clock::{Sleep, Stamp, nanos};
use crate::context::{Leeway, NEVER, Phase};
use crate::opaque::opaque;
use crate::report::{Hedge, Which};
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
        hedging: Hedging,
        turn: bool,
    }
}

/// Whether a race has a hedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hedging {
    /// It has none, and begins none.
    None,
    /// It begins one then.
    At(Stamp),
    /// It began one.
    Began,
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
            hedging: Hedging::None,
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
        self.state.frame.beside.get()
    }
}

impl<F, M, C> Unpin for Racing<'_, '_, '_, F, M, C> {}

impl<F: Future, M: FnMut() -> F, C: Cuts> Future for Racing<'_, '_, '_, F, M, C> {
    type Output = Result<F::Output, C>;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let state = &*this.state;
        let frame = &state.frame;
        let mut race = this.race.as_mut().project();
        let begins = race.first.is_none() && race.hedge.is_none();
        if begins {
            race.timer.set(None);
            let first = frame.phase.get() == Phase::New;
            state.enter(false)?;
            *race.hedging = state.hedging(first);
            race.first.set(Some(frame.lend(&mut this.make)));
        }
        // The order alternates: if one attempt used up what tokio lets a task do in a poll, the other would starve.
        *race.turn = !*race.turn;
        let mut order = [Which::First, Which::Hedge];
        order.rotate_left(usize::from(!*race.turn));
        for which in order {
            let both = race.first.is_some() && race.hedge.is_some();
            let slot = match which {
                Which::First => race.first.as_mut(),
                Which::Hedge => race.hedge.as_mut(),
            };
            if slot.is_some() {
                // An attempt that begins is the present one, and in its span.
                if !begins {
                    frame.turn_to(which, both);
                    state.enter_attempt(false);
                }
                let polled = poll_body(slot, *race.hedging, state, waker);
                if let Poll::Ready(result) = polled {
                    return Poll::Ready(Ok(result));
                }
            }
        }
        loop {
            // If the call is dropped now, it is in doubt if either attempt is.
            frame.turn_to_open_commit();
            let runs = [race.first.is_some(), race.hedge.is_some()];
            let ends = |which: Which| {
                if runs[which as usize] {
                    frame.of(which).cut
                } else {
                    Stamp::NEVER
                }
            };
            let deadline = if C::LIMITED {
                frame.deadline.get()
            } else {
                Stamp::NEVER
            };
            let cuts = ends(Which::First).min(ends(Which::Hedge)).min(deadline);
            let hedge_at = match *race.hedging {
                Hedging::At(at) if runs[0] => at,
                _ => Stamp::NEVER,
            };
            let nearest = cuts.min(hedge_at);
            if nearest == Stamp::NEVER {
                return Poll::Pending;
            }
            // It may ring late: what is overdue ends first.
            let now = ready!(poll_until_due(state, race.timer.as_mut(), waker, |rang| {
                let now = rang.max(Stamp::now());
                if nearest <= now {
                    Ok(now)
                } else {
                    Err(nearest)
                }
            }));
            race.timer.set(None);
            let which = [Which::First, Which::Hedge]
                .into_iter()
                .find(|which| ends(*which) <= now);
            let cut = match (which, deadline <= now) {
                (_, true) => Cut::Deadline,
                (Some(which), false) => {
                    frame.turn_to(which, runs == [true; 2]);
                    frame.one_of_two.set(*race.hedging == Hedging::Began);
                    Cut::Timeout
                }
                (None, false) => {
                    *race.hedging = Hedging::None;
                    if state.may_hedge(now) {
                        *race.hedging = Hedging::Began;
                        state.begin_hedge(now, C::LIMITED);
                        race.hedge.set(Some(frame.lend(&mut this.make)));
                        let slot = race.hedge.as_mut();
                        let polled = poll_body(slot, Hedging::Began, state, waker);
                        if let Poll::Ready(result) = polled {
                            return Poll::Ready(Ok(result));
                        }
                    }
                    continue;
                }
            };
            if cut == Cut::Deadline || which == Some(Which::First) {
                race.first.set(None);
            }
            if cut == Cut::Deadline || which == Some(Which::Hedge) {
                race.hedge.set(None);
            }
            if let Some(cut) = C::from(cut) {
                return Poll::Ready(Err(cut));
            }
        }
    }
}

/// Polls the present attempt.
fn poll_body<F: Future>(
    mut slot: Pin<&mut Option<F>>,
    hedging: Hedging,
    state: &State<'_>,
    waker: &mut Context<'_>,
) -> Poll<F::Output> {
    let Some(body) = slot.as_mut().as_pin_mut() else {
        return Poll::Pending;
    };
    let polled = state.frame.lend(|| body.poll(waker));
    if polled.is_ready() {
        slot.set(None);
        state.frame.one_of_two.set(hedging == Hedging::Began);
    } else {
        state.suspended();
    }
    polled
}

impl State<'_> {
    /// When the attempt that begins gets a hedge beside it, if it is the `first`.
    fn hedging(&self, first: bool) -> Hedging {
        let mut of = self.frame.present();
        if first {
            self.with_share(Share::add);
        }
        if of.inside != Leeway::Anything {
            // A call around may hedge.
            return Hedging::None;
        }
        of.inside = Leeway::Retry;
        self.frame.set_present(of);
        match self.hedge_after() {
            after if first && after != NEVER => Hedging::At(Stamp::now().plus(after)),
            _ => Hedging::None,
        }
    }

    /// Returns after how many nanoseconds the call hedges.
    fn hedge_after(&self) -> u64 {
        const LEAST: Duration = Duration::from_millis(1);
        let after = self.settings.policy.hedge();
        after.map_or(NEVER, |after| nanos(after.max(LEAST)))
    }

    /// Whether the call may hedge now, and takes that from the share of the function.
    fn may_hedge(&self, now: Stamp) -> bool {
        let frame = &self.frame;
        if frame.has_open_commit()
            || frame.attempts_allowed().is_some_and(|most| most < 2)
            || !self.settings.idempotent
            || !self.is_enabled()
            || frame.deadline.get() <= now.plus(self.hedge_after())
        {
            return false;
        }
        let now = self.in_test_scope(now);
        let may = self
            .with_budget(|budget| budget.is_half_full() && budget.paused_until(now).is_none())
            == Some(true)
            && self.with_share(Share::take);
        if !may {
            frame.rest().noted().hedge = Some(Hedge::Refused);
        }
        may
    }

    /// Begins the hedge: now it counts.
    fn begin_hedge(&self, now: Stamp, limited: bool) {
        self.log(Event::Hedged);
        let cut = if limited {
            now.plus(self.settings.timeout)
        } else {
            Stamp::NEVER
        };
        self.frame.begin_hedge(cut);
        // As for a retry: taken back if the call succeeds.
        self.note_retries(self.frame.retries_in_a_row());
        self.enter_attempt(true);
    }
}

opaque! {
    Race [F] [F];
    Racing [F, M, C] ['_, '_, '_, F, M, C];
}
