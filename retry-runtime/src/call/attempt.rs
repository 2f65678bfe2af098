//! One attempt: the body, and the timer that cuts it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

use super::state::Core;
use super::unconstrained::poll_unconstrained;
use crate::clock::Stamp;
use crate::context::{self, Limit, Own};

/// What ended an attempt before its body did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It reached its timeout. From 1, so that "none" is zero, as most of a call is at first.
    Timeout = 1,
    /// It reached the deadline of the call.
    Deadline,
    /// It never began: the wait before it ended after the deadline.
    Late,
    /// The `cancel` future completed while it ran.
    Cancelled,
    /// It never began: the `cancel` future completed before.
    Forestalled,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "timed out",
            Self::Deadline => "deadline reached",
            Self::Late => "the wait ended after the deadline",
            Self::Cancelled | Self::Forestalled => "cancelled",
        })
    }
}

/// How far the timer of an attempt has come. Three bytes, beside other small things of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Armed {
    stage: Stage,
    /// What the armed timer stands for: `None` for a step on the way to a limit that is further off.
    cut: Option<Cut>,
    /// Whole steps of [`LONGEST_SLEEP`] that the attempt has lasted. 255 days are no limit.
    steps: u8,
}

/// What the limits are applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// An attempt: timeout and deadline cut it.
    Attempt,
    /// What goes before a retry: only the deadline does.
    Preparation,
    /// Neither may begin, because the wait before it ended after the deadline.
    Late,
}

impl Armed {
    pub(super) const fn stage(self) -> Stage {
        self.stage
    }

    pub(super) const fn not_yet(stage: Stage) -> Self {
        Self {
            stage,
            cut: None,
            steps: 0,
        }
    }
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
    pub struct Unlimited<'c, 'p, F> {
        core: &'c mut Core<'p>,
        #[pin]
        body: F,
    }
}

impl<'c, 'p, F> Unlimited<'c, 'p, F> {
    #[inline]
    pub(super) fn new(core: &'c mut Core<'p>, body: F) -> Self {
        Self { core, body }
    }
}

impl<F: Future> Future for Unlimited<'_, '_, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let seen = this.core.seen(None);
        context::enter(&mut this.core.track, seen, || this.body.poll(waker))
    }
}

pin_project! {
    /// What goes before a retry of a call without limits.
    ///
    /// # Cancel safety
    ///
    /// Dropping it drops the body where it stands.
    #[must_use = "futures do nothing unless polled"]
    pub struct Preparation<'c, 'p, F> {
        core: &'c mut Core<'p>,
        #[pin]
        body: F,
    }
}

impl<'c, 'p, F> Preparation<'c, 'p, F> {
    pub(super) fn new(core: &'c mut Core<'p>, body: F) -> Self {
        Self { core, body }
    }
}

impl<F: Future> Future for Preparation<'_, '_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let seen = this.core.seen_before(None);
        context::enter(&mut this.core.track, seen, || this.body.poll(waker))
    }
}

impl<F> fmt::Debug for Preparation<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Preparation")
            .field("core", &self.core)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Unlimited<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlimited")
            .field("core", &self.core)
            .finish_non_exhaustive()
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
        Self {
            core,
            body,
            timer: None,
        }
    }
}

impl<F: Future> Future for Limited<'_, '_, F> {
    type Output = Result<F::Output, Cut>;

    #[inline]
    fn poll(self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let polled = match this.core.armed.stage {
            Stage::Late => return Poll::Ready(Err(Cut::Late)),
            Stage::Preparation => {
                let limits = this.core.limits(None);
                let seen = this.core.seen_before(Some(Own {
                    timeout: Limit::NONE,
                    ..limits
                }));
                context::enter(&mut this.core.track, seen, || this.body.poll(waker))
            }
            Stage::Attempt => {
                let limits = this
                    .core
                    .limits(this.timer.as_ref().as_pin_ref().map(Pin::get_ref));
                let seen = this.core.seen(Some(limits));
                context::enter(&mut this.core.track, seen, || this.body.poll(waker))
            }
        };
        match polled {
            Poll::Ready(ended) => Poll::Ready(Ok(ended)),
            Poll::Pending => poll_timer(this.core, this.timer, waker).map(Err),
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
    waker: &mut Context<'_>,
) -> Poll<Cut> {
    if timer.is_none() {
        let now = Instant::now();
        core.started.get_or_insert_with(|| Stamp::of(now));
        match core.arm(now) {
            Some(until) => timer.set(Some(sleep_until(until))),
            None => return Poll::Pending,
        }
    }
    loop {
        let Some(mut armed) = timer.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        if poll_unconstrained(armed.as_mut(), waker).is_pending() {
            return Poll::Pending;
        }
        if let Some(cut) = core.armed.cut {
            return Poll::Ready(cut);
        }
        core.armed.steps = core.armed.steps.saturating_add(1);
        let rung = armed.deadline();
        match core.arm(rung) {
            Some(until) => armed.reset(until),
            None => return Poll::Pending,
        }
    }
}

impl Core<'_> {
    /// The limits of the current attempt as its body sees them: the call's deadline, its own timeout.
    #[inline]
    fn limits(&self, timer: Option<&Sleep>) -> Own {
        let deadline = Limit::after(self.started, self.policy().deadline());
        let timeout = match timer {
            None => Limit::after(None, self.policy().timeout()),
            // What it is armed for: the nearer of both.
            Some(timer) if self.armed.cut.is_some() => Limit::at(timer.deadline()),
            Some(_) => Limit::NONE,
        };
        Own { deadline, timeout }
    }

    /// The instant for which the timer is armed at `now`: the nearer limit, or a step on the way there.
    /// `None` where the clock cannot say it.
    fn arm(&mut self, now: Instant) -> Option<Instant> {
        let lasted = LONGEST_SLEEP.saturating_mul(u32::from(self.armed.steps));
        let timeout = self
            .policy()
            .timeout()
            .filter(|_| self.armed.stage == Stage::Attempt);
        let timeout = timeout.map(|timeout| timeout.saturating_sub(lasted));
        let deadline = self.remaining_at(now);
        let (rest, cut) = match (timeout, deadline) {
            (Some(timeout), Some(deadline)) if timeout < deadline => (timeout, Cut::Timeout),
            (_, Some(deadline)) => (deadline, Cut::Deadline),
            (Some(timeout), None) => (timeout, Cut::Timeout),
            (None, None) => return None,
        };
        self.armed.cut = (rest <= LONGEST_SLEEP).then_some(cut);
        now.checked_add(rest.min(LONGEST_SLEEP))
    }
}
