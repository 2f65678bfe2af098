//! The wait between two attempts, the limit of an attempt, and how timers are made and polled.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::runtime::Handle;
use tokio::task::{unconstrained, yield_now};

use super::State;
use super::cut::Cut;
use crate::clock::{Instant, Sleep, Stamp, nanos, sleep_until, turn};
use crate::context::NEVER;
use crate::site::Settings;

/// When the next attempt begins: at once if there is no instant.
// As small as an instant, because a call that is ready at once returns a `Result` that has room for it.
#[derive(Debug, Clone, Copy)]
pub struct Until(pub(super) Option<Instant>);

pin_project! {
    /// The wait before the next attempt.
    ///
    /// A wait of zero lets other tasks run once. It does not sleep, because tokio's shortest sleep is 1 ms.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait. The permit of the retry goes back when the call is dropped.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct Wait {
        #[pin]
        timer: Option<Sleep>,
        then: Then,
    }
}

/// What follows the timer, or replaces it.
#[derive(Debug)]
enum Then {
    /// Nothing. The wait is over.
    Over,
    /// Other tasks run once.
    Yield,
    /// More timers, until this instant, if the delay is above the longest sleep.
    Until(Instant),
}

impl State<'_> {
    /// Makes the wait that was scheduled.
    pub(super) fn wait(&self, until: Until) -> Wait {
        match until.0 {
            Some(end) => {
                let make = || sleep_until(towards(end, Instant::now()));
                Wait {
                    timer: Some(needs_timers(self.settings, make)),
                    then: Then::Until(end),
                }
            }
            // A body that fails without being pending would otherwise keep other tasks from running.
            None => Wait {
                timer: turn(),
                then: Then::Yield,
            },
        }
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let Some(mut timer) = this.timer.as_mut().as_pin_mut() else {
            return match std::mem::replace(this.then, Then::Over) {
                Then::Yield => pin!(yield_now()).poll(waker),
                Then::Over | Then::Until(_) => Poll::Ready(()),
            };
        };
        loop {
            // To ask a timer that fired takes 116 instructions less than to poll it once more.
            if !timer.is_elapsed() {
                ready!(poll_unconstrained(timer.as_mut(), waker));
            }
            let rang = timer.deadline();
            match *this.then {
                Then::Until(end) if end > rang => timer.as_mut().reset(towards(end, rang)),
                _ => return Poll::Ready(()),
            }
        }
    }
}

/// No timer is armed for longer than this. A longer limit arms timers one after another, because some versions of tokio
/// delay other timers while a timer lies in the far future.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the instant for a timer that leads to this end.
fn towards(end: Instant, now: Instant) -> Instant {
    now.checked_add(LONGEST_SLEEP)
        .map_or(end, |longest| longest.min(end))
}

/// Polls the timer in `slot` until something is due. `next` gets the instant at which the timer rang, or `None` if there is no
/// timer yet. It returns what is due, or the instant for the timer, or `None` if nothing will ever be due.
#[inline]
pub(super) fn poll_until_due<D>(
    state: &State<'_>,
    mut slot: Pin<&mut Option<Sleep>>,
    waker: &mut Context<'_>,
    mut next: impl FnMut(Option<Instant>) -> Result<D, Option<Instant>>,
) -> Poll<D> {
    let mut rang = None;
    loop {
        if let Some(mut timer) = slot.as_mut().as_pin_mut() {
            ready!(poll_unconstrained(timer.as_mut(), waker));
            rang = Some(timer.deadline());
        }
        match (next(rang), slot.as_mut().as_pin_mut()) {
            (Ok(due), _) => return Poll::Ready(due),
            (Err(None), _) => {
                slot.set(None);
                return Poll::Pending;
            }
            (Err(Some(until)), Some(timer)) => timer.reset(until),
            (Err(Some(until)), None) => {
                // Made where it stays, because it has 96 bytes.
                needs_timers(state.settings, || slot.set(Some(sleep_until(until))));
            }
        }
    }
}

/// Returns the limit of an attempt that was reached. It is not generic, so a program has it once.
///
/// `timeout` is in nanoseconds, [`NEVER`] for none.
pub(super) fn poll_limits(
    state: &State<'_>,
    slot: Pin<&mut Option<Sleep>>,
    timeout: u64,
    waker: &mut Context<'_>,
) -> Poll<Cut> {
    let frame = &state.frame;
    poll_until_due(state, slot, waker, |rang| {
        let Some(rang) = rang else {
            let now = Instant::now();
            let (elapsed, cut) = frame.limit(timeout, Stamp::of(now));
            return Err(step(cut.min(frame.deadline.get()), elapsed, now));
        };
        let elapsed = frame.elapsed(Stamp::of(rang));
        if frame.deadline.get() <= elapsed {
            Ok(Cut::Deadline)
        } else if frame.until.get() <= elapsed {
            Ok(Cut::Timeout)
        } else {
            Err(step(
                frame.until.get().min(frame.deadline.get()),
                elapsed,
                rang,
            ))
        }
    })
}

/// Returns the instant for the timer: the limit, or a step towards it. Returns `None` if there is no limit, or if the
/// clock cannot represent it. `elapsed` is the time of the call at `now`.
#[inline]
pub(super) fn step(limit: u64, elapsed: u64, now: Instant) -> Option<Instant> {
    const LONGEST: u64 = nanos(LONGEST_SLEEP);
    if limit == NEVER {
        return None;
    }
    now.checked_add(Duration::from_nanos(
        limit.saturating_sub(elapsed).min(LONGEST),
    ))
}

/// Runs `make`, which makes a timer for a call with these settings. tokio has no function that says whether the runtime has
/// timers, and its panic does not name the function.
///
/// # Panics
///
/// - If the runtime has no timers, or is not tokio's.
#[inline]
fn needs_timers<T>(settings: &Settings<'_>, make: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(output) => output,
        Err(panic) => no_timer(settings.name, &*panic),
    }
}

#[cold]
fn no_timer(name: &str, panic: &(dyn Any + Send)) -> ! {
    assert!(
        Handle::try_current().is_ok(),
        "`{name}` needs a tokio runtime with timers for its waits and limits, and none runs here"
    );
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    panic!(
        "`{name}` needs a tokio runtime with timers for its waits and limits: call `enable_time()` or `enable_all()` on the runtime's builder ({})",
        text.unwrap_or("tokio made no timer")
    )
}

/// Polls a future even if nothing is left of tokio's cooperative budget.
///
/// Other code in the task may spend that budget at each poll. tokio's futures are then pending, even a timer that is
/// due, so the call would never reach its limit.
#[inline]
pub(super) fn poll_unconstrained<F: Future>(
    future: Pin<&mut F>,
    waker: &mut Context<'_>,
) -> Poll<F::Output> {
    Pin::new(&mut unconstrained(future)).poll(waker)
}
