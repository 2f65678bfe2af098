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
use super::events::FailedWith;
use crate::clock::{SHORTEST, Sleep, Stamp, sleep_until};
use crate::delays::{DelayRange, Jitter};
use crate::opaque::opaque;
use crate::{rng, trace};

/// When the next attempt of a function begins.
#[derive(Debug, Clone, Copy)]
pub struct NextAttemptAt {
    pub(super) next: Next,
    /// The label of the function.
    name: &'static str,
}

/// What is before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A wait, which began then and ends then. If both are the same, other tasks get a turn.
    At(Stamp, Stamp),
    /// The end of this attempt: one of two failed, and the other still runs.
    Other,
}

impl State<'_> {
    /// Begins a wait: draws its delay. Returns when it ends, which is at once in a test scope without waits. `failed` says
    /// which failure it follows, unless it is the pause of the budget.
    pub(super) fn start_wait(
        &mut self,
        range: DelayRange,
        now: Stamp,
        failed: Option<FailedWith<'_>>,
    ) -> Next {
        let frame = &self.frame;
        let (delay, waits) = match self.scope() {
            None => (rng::draw(rng::seed(now), range), true),
            Some(own) => (own.draw(frame.number(), range), own.scope.waits),
        };
        if self.observed || self.settings.policy.jitter() == Jitter::Decorrelated {
            let mut noted = frame.rest().noted();
            let after_failure = failed.map(|_| delay);
            noted.waits.begin(after_failure, waits.then_some(now));
        }
        if !waits {
            self.frame.pass_over(delay);
        }
        if self.observed || trace::may_be_heard() {
            self.on_wait_begun(delay, now, failed);
        }
        Next::At(now, if waits { now.plus(delay) } else { now })
    }

    pub(crate) fn next(&self, next: Next) -> NextAttemptAt {
        let name = self.settings.name;
        NextAttemptAt { next, name }
    }

    /// Adds the wait that is over, if there was one.
    pub(super) fn end_wait(&self) {
        if let Some(mut noted) = self.frame.noted() {
            noted.waits.end(Stamp::now);
        }
    }
}

impl IntoFuture for NextAttemptAt {
    type Output = ();
    type IntoFuture = Wait;

    /// Waits until the next attempt.
    #[inline]
    fn into_future(self) -> Wait {
        let (now, end) = match self.next {
            Next::At(now, end) => (now, end),
            Next::Other => (Stamp::FIRST, Stamp::FIRST),
        };
        Wait {
            name: self.name,
            now,
            end: end.max(now.plus(SHORTEST)),
            timer: None,
        }
    }
}

pin_project! {
    /// The wait for the next attempt. A wait of zero lets other tasks run once: a body that fails without being pending would
    /// otherwise keep them from running.
    ///
    /// Each function awaits one. So it has a name and no parameter, which rustc checks faster.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait. The permit of the retry goes back when the call is dropped.
    #[must_use = "futures do nothing unless polled"]
    pub struct Wait {
        name: &'static str,
        // When the present timer ends, or the wait began.
        now: Stamp,
        end: Stamp,
        #[pin]
        timer: Option<Sleep>,
    }
}

#[cfg(feature = "_layers")]
impl Wait {
    /// The first part of the wait, no longer than this.
    pub(crate) fn at_most(mut self, longest: Duration) -> Self {
        self.end = self.end.min(self.now.plus(longest));
        self
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        // Not `poll_until_due`, which reads the clock before there is a timer: a retry would take 5 % more instructions.
        if this.timer.is_none() && this.now == this.end {
            *this.end = Stamp::from_nanos(0);
            return pin!(yield_now()).poll(waker);
        }
        loop {
            if let Some(timer) = this.timer.as_mut().as_pin_mut() {
                ready!(poll_unconstrained(timer, waker));
            }
            if this.now >= this.end {
                return Poll::Ready(());
            }
            *this.now = this.now.plus(LONGEST_SLEEP).min(*this.end);
            needs_timers(this.name, || {
                this.timer.set(Some(sleep_until(this.now.instant())));
            });
        }
    }
}

opaque! { Wait [] []; }

/// A client that is sent its limit rounds it down to milliseconds, and may keep to it.
pub(super) const ROUNDED: Duration = Duration::from_millis(1);

/// No timer is armed for longer than this. A longer limit arms timers one after another, because some versions of tokio
/// delay other timers while a timer lies in the far future.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_secs(86_400);

/// Polls the timer in `slot` until something is due. `due` gets the time of the clock, and returns what is due then, or the
/// instant at which to ask again.
pub(super) fn poll_until_due<D>(
    state: &State<'_>,
    mut slot: Pin<&mut Option<Sleep>>,
    waker: &mut Context<'_>,
    mut due: impl FnMut(Stamp) -> Result<D, Stamp>,
) -> Poll<D> {
    loop {
        let now = match slot.as_mut().as_pin_mut() {
            None => Stamp::now(),
            Some(mut timer) => {
                ready!(poll_unconstrained(timer.as_mut(), waker));
                // If it rang late, what is due is that of its instant.
                Stamp::of(timer.deadline())
            }
        };
        let at = match due(now) {
            Ok(due) => return Poll::Ready(due),
            Err(Stamp::NEVER) => return Poll::Pending,
            Err(at) => at.min(now.plus(LONGEST_SLEEP)).instant(),
        };
        match slot.as_mut().as_pin_mut() {
            Some(timer) => timer.reset(at),
            // Made where it stays, because it has 96 bytes.
            None => needs_timers(state.settings.name, || slot.set(Some(sleep_until(at)))),
        }
    }
}

/// Runs `make`, which makes a timer for the function with this `name`. tokio has no function that says whether the runtime has
/// timers, and its panic does not name the function.
///
/// # Panics
///
/// - If the runtime has no timers, or is not tokio's.
#[inline]
fn needs_timers<T>(name: &str, make: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(output) => output,
        Err(panic) => no_timer(name, &*panic),
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
