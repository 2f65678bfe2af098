//! Finds the nearest limit of an attempt, and arms a timer for it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::ended::Cut;
use super::state::State;
use super::timer::{LONGEST_SLEEP, arm};
use super::unconstrained::poll_unconstrained;
use crate::clock::{Stamp, nanos};
use crate::context::{NEVER, around};

/// Arms the timer if there is none, and returns the limit that was reached. It is not generic, so a program has it
/// once.
///
/// `timeout` is in nanoseconds, [`NEVER`] for none.
pub(super) fn poll_limits(
    state: &State<'_>,
    mut slot: Pin<&mut Option<Sleep>>,
    timeout: u64,
    waker: &mut Context<'_>,
) -> Poll<Cut> {
    let frame = &state.frame;
    if slot.is_none() {
        let now = Instant::now();
        let stamp = Stamp::of(now);
        frame.start(stamp);
        let elapsed = frame.elapsed(stamp);
        frame.until.set(elapsed.saturating_add(timeout));
        // The timer ignores the timeout of an outer attempt, which cuts there and drops this call.
        let own = frame.until.get();
        around(|outer| frame.inherit(outer, stamp));
        match step(own.min(frame.deadline.get()), elapsed, now) {
            Some(until) => arm(slot.as_mut(), state.settings, until),
            None => return Poll::Pending,
        }
    }
    loop {
        let Some(mut timer) = slot.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        ready!(poll_unconstrained(timer.as_mut(), waker));
        let rung = timer.deadline();
        let elapsed = frame.elapsed(Stamp::of(rung));
        if frame.deadline.get() <= elapsed {
            return Poll::Ready(Cut::Deadline);
        }
        if frame.until.get() <= elapsed {
            return Poll::Ready(Cut::Timeout);
        }
        match step(frame.until.get().min(frame.deadline.get()), elapsed, rung) {
            Some(until) => timer.reset(until),
            None => return Poll::Pending,
        }
    }
}

/// Returns the instant for the timer: the limit, or a step towards it. Returns `None` if there is no limit, or if the
/// clock cannot represent it. `elapsed` is the time of the call at `now`.
#[inline]
fn step(limit: u64, elapsed: u64, now: Instant) -> Option<Instant> {
    const LONGEST: u64 = nanos(LONGEST_SLEEP);
    if limit == NEVER {
        return None;
    }
    now.checked_add(Duration::from_nanos(
        limit.saturating_sub(elapsed).min(LONGEST),
    ))
}
