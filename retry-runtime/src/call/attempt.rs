//! One attempt: the body, and the timer that cuts it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::coop;
use tokio::time::{Instant, Sleep, sleep_until};

use super::Core;

/// What ended an attempt before its body did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It reached its timeout.
    Timeout,
    /// It reached the deadline of the call.
    Deadline,
    /// It never began: the wait before it ended after the deadline.
    Late,
}

/// No timer is armed for longer than this, and a longer limit arms one after another: some versions
/// of tokio delay other timers when one lies in the far future.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

pin_project! {
    /// An attempt without limits: the body, and nothing that could cut it.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct Unlimited<F> {
        #[pin]
        body: F,
    }
}

impl<F> Unlimited<F> {
    #[inline]
    pub(super) fn new(body: F) -> Self {
        Self { body }
    }
}

impl<F: Future> Future for Unlimited<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().body.poll(context)
    }
}

impl<F> fmt::Debug for Unlimited<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlimited").finish_non_exhaustive()
    }
}

pin_project! {
    /// An attempt that ends with its body, its timeout or the deadline, whichever comes first.
    ///
    /// The body is polled before any timer exists. Only when it is pending is the clock read, and one
    /// timer armed for whichever limit is nearer. A body that is ready at the very instant of the
    /// limit has won.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct Limited<'c, 'p, F> {
        core: &'c mut Core<'p>,
        #[pin]
        body: F,
        #[pin]
        timer: Option<Sleep>,
    }
}

impl<'c, 'p, F> Limited<'c, 'p, F> {
    #[inline]
    pub(super) fn new(core: &'c mut Core<'p>, body: F) -> Self {
        Self { core, body, timer: None }
    }
}

impl<F: Future> Future for Limited<'_, '_, F> {
    type Output = Result<F::Output, Cut>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.core.late {
            return Poll::Ready(Err(Cut::Late));
        }
        match this.body.poll(context) {
            Poll::Ready(ended) => Poll::Ready(Ok(ended)),
            Poll::Pending => poll_timer(this.core, this.timer, context).map(Err),
        }
    }
}

impl<F> fmt::Debug for Limited<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited")
            .field("core", &self.core)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

/// Arms the timer if there is none, and asks whether a limit is reached. Not generic: it exists once.
fn poll_timer(
    core: &mut Core<'_>,
    mut timer: Pin<&mut Option<Sleep>>,
    context: &mut Context<'_>,
) -> Poll<Cut> {
    loop {
        if timer.is_none() {
            let now = Instant::now();
            core.started.get_or_insert(now);
            core.suspended = Some(now);
            let Some((limit, _)) = core.limit() else {
                return Poll::Pending;
            };
            timer.set(Some(sleep_until(limit.min(longest_from(now)))));
        }
        let Some(mut armed) = timer.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        // A body that spends tokio's cooperative budget at each poll would otherwise never be cut:
        // with nothing left of the budget, a timer that is due says "pending".
        let due = if coop::has_budget_remaining() {
            armed.as_mut().poll(context)
        } else {
            Pin::new(&mut coop::unconstrained(armed.as_mut())).poll(context)
        };
        if due.is_pending() {
            return Poll::Pending;
        }
        let rung = armed.deadline();
        match core.limit() {
            Some((limit, cut)) if limit <= rung => return Poll::Ready(cut),
            // A limit beyond the longest sleep: arm the next one.
            Some((limit, _)) => armed.reset(limit.min(longest_from(rung))),
            None => return Poll::Pending,
        }
    }
}

fn longest_from(now: Instant) -> Instant {
    now.checked_add(LONGEST_SLEEP).unwrap_or(now)
}
