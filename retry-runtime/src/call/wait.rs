//! The wait between two attempts.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use super::state::State;
use super::timer::{LONGEST_SLEEP, timer};
use super::unconstrained::poll_unconstrained;
use crate::context::Pause;

pin_project! {
    /// The wait before the next attempt.
    ///
    /// A wait of zero lets other tasks run once and does not sleep, which would take a step of the timer,
    /// 1 ms.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait. What was paid for the retry goes back when the call is dropped.
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct Wait {
        #[pin]
        timer: Option<Sleep>,
        then: Then,
    }
}

/// What follows the timer, or stands for it.
#[derive(Debug)]
enum Then {
    /// Nothing: the wait is over.
    Over,
    /// Other tasks run once.
    Yield,
    /// More timers, until this instant: it is further off than the longest sleep.
    Until(Instant),
}

impl State<'_> {
    /// Waits until `at`, for the kind of wait that was scheduled.
    #[inline]
    pub(super) fn wait(&self, at: Instant) -> Wait {
        if self.frame.pause.get() == Pause::Sleep {
            return Wait {
                timer: Some(timer(self.settings, at)),
                then: Then::Over,
            };
        }
        self.wait_longer_or_not_at_all(at)
    }

    #[cold]
    fn wait_longer_or_not_at_all(&self, at: Instant) -> Wait {
        match self.frame.pause.get() {
            // So that a body that fails without ever being pending does not keep its worker from the
            // other tasks.
            Pause::Yield => Wait {
                timer: None,
                then: Then::Yield,
            },
            Pause::Long | Pause::Sleep => {
                let end = at.checked_add(self.rest_of_delay());
                // A hundred years stand for what the clock cannot say.
                let end = end.or_else(|| at.checked_add(LONGEST_SLEEP * 36_525));
                Wait {
                    timer: Some(timer(self.settings, at)),
                    // A timer of one day follows another.
                    then: end.map_or(Then::Over, Then::Until),
                }
            }
        }
    }
}

impl State<'_> {
    /// What is left of the delay after the first of its timers: nothing, unless it is above the longest sleep.
    pub(super) fn rest_of_delay(&self) -> Duration {
        if self.frame.pause.get() != Pause::Long {
            return Duration::ZERO;
        }
        let delay = self.frame.cold().noted().delay;
        delay.unwrap_or_default().saturating_sub(LONGEST_SLEEP)
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let Some(mut timer) = this.timer.as_mut().as_pin_mut() else {
            return match std::mem::replace(this.then, Then::Over) {
                Then::Yield => pin!(tokio::task::yield_now()).poll(waker),
                Then::Over | Then::Until(_) => Poll::Ready(()),
            };
        };
        loop {
            ready!(poll_unconstrained(timer.as_mut(), waker));
            let Then::Until(end) = *this.then else {
                return Poll::Ready(());
            };
            let rung = timer.deadline();
            let rest = end.saturating_duration_since(rung).min(LONGEST_SLEEP);
            match rung.checked_add(rest) {
                Some(next) if next > rung => timer.as_mut().reset(next),
                _ => return Poll::Ready(()),
            }
        }
    }
}
