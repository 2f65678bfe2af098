//! The wait between two attempts.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep};

use super::state::State;
use super::timers::{LONGEST_SLEEP, poll_unconstrained, timer};
use crate::context::Notes;

/// When the next attempt begins: at once if there is no instant. If the wait is above the longest sleep, this is the end of
/// its first timer.
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
    /// More timers, until this instant, because the delay is above the longest sleep.
    Until(Instant),
}

impl State<'_> {
    /// Makes the wait that was scheduled.
    #[inline]
    pub(super) fn wait(&self, until: Until) -> Wait {
        match until.0 {
            Some(at) if !self.frame.has(Notes::LONG) => Wait {
                timer: Some(timer(self.settings, at)),
                then: Then::Over,
            },
            Some(at) => self.wait_longer(at),
            // A body that fails without being pending would otherwise keep other tasks from running.
            None => Wait {
                timer: None,
                then: Then::Yield,
            },
        }
    }

    /// Makes a wait whose first timer ends `at`. A timer of one day follows another.
    #[cold]
    fn wait_longer(&self, at: Instant) -> Wait {
        let end = at.checked_add(self.rest_of_delay());
        // A hundred years, if the clock cannot represent the end.
        let end = end.or_else(|| at.checked_add(LONGEST_SLEEP * 36_525));
        Wait {
            timer: Some(timer(self.settings, at)),
            then: end.map_or(Then::Over, Then::Until),
        }
    }

    /// Returns the rest of the delay after its first timer. It is zero unless the delay is above the longest sleep.
    pub(super) fn rest_of_delay(&self) -> Duration {
        if !self.frame.has(Notes::LONG) {
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
