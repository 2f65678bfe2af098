//! Schedules the next attempt: checks the number of attempts, the deadline and the budget, and draws the delay.

use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::state::{State, charge};
use super::timer::LONGEST_SLEEP;
use crate::classify::Said;
use crate::clock::Stamp;
use crate::context::{self, NEVER, Pause, Phase, Previous, TooLate};
use crate::fit;
use crate::jitter::Jitter;
use crate::stopped::Outcome;
use crate::switch;
use crate::trace;

/// When the next attempt begins, and after which delay. If the delay is above the longest sleep, `at` is the end of the
/// first sleep.
pub(super) struct Retry {
    pub(super) at: Instant,
    pub(super) delay: Duration,
}

impl State<'_> {
    /// Takes a permit for a retry and draws its delay, or says why there is no retry.
    #[inline]
    pub(super) fn schedule(
        &self,
        said: Said,
        previous: Previous,
        exhausted: Outcome,
    ) -> Result<Retry, Outcome> {
        let (frame, policy) = (&self.frame, self.policy());
        if let Some(refusal) = frame.refusal.get() {
            return Err(refusal.outcome());
        }
        let number = frame.number.get();
        if number >= self.allowed() {
            return Err(exhausted);
        }
        if !switch::is_enabled() {
            // A caller who looks at the `Stopped` sees the timeout.
            return Err(match exhausted {
                Outcome::Timeout => exhausted,
                _ => Outcome::Disabled,
            });
        }
        if said
            .hint
            .is_some_and(|hint| hint > policy.max_retry_after())
        {
            return Err(Outcome::HintTooLong);
        }
        let now = Instant::now();
        let stamp = Stamp::of(now);
        let last = match policy.jitter() {
            Jitter::Decorrelated => frame.if_cold().and_then(|cold| cold.noted().delay),
            _ => None,
        };
        let (low, high) = raised_by(said.hint, self.settings.delay_range(number - 1, last));
        let range = match self.longest_wait(stamp) {
            Ok(None) => low..=high,
            Ok(Some(longest)) => fit::cut(low, high, longest).ok_or(Outcome::Deadline)?,
            Err(TooLate) => return Err(Outcome::Deadline),
        };
        let price = charge(previous);
        let paid = self.with_budget(|budget| budget.take(price, number == 1, stamp));
        if paid == Some(false) {
            return Err(Outcome::Budget);
        }
        let (delay, wait) = self.draw(&range, stamp);
        let listens = self.settings.listens();
        if listens || policy.jitter() == Jitter::Decorrelated || wait > LONGEST_SLEEP {
            frame.cold().noted().delay = Some(delay);
        }
        if wait == delay {
            self.waits_from(now);
        }
        frame.phase.set(if paid.is_some() {
            Phase::Paid
        } else {
            Phase::Between
        });
        frame.pause.set(match wait {
            Duration::ZERO => Pause::Yield,
            wait if wait > LONGEST_SLEEP => Pause::Long,
            _ => Pause::Sleep,
        });
        let at = now.checked_add(wait.min(LONGEST_SLEEP)).unwrap_or(now);
        Ok(Retry { at, delay })
    }

    /// Returns the longest wait from `now` on that keeps the deadline, or `None` without a deadline. Starts the time of
    /// the call, if there is a deadline or if anybody may ask how long the call took.
    fn longest_wait(&self, now: Stamp) -> Result<Option<Duration>, TooLate> {
        let frame = &self.frame;
        if frame.deadline.get() == NEVER && !self.is_heard() {
            return Ok(None);
        }
        frame.start(now);
        frame.longest_wait(now)
    }

    /// Returns how many attempts the call may make here, or `u32::MAX` for no limit. It may make fewer than its policy
    /// allows if calls of the same function were retried in vain.
    #[inline]
    fn allowed(&self) -> u32 {
        let own = self.settings.attempts();
        let own = self.attempts_in_trial().map_or(own, |most| most.min(own));
        if !context::is_within() {
            return own;
        }
        self.allowed_within(own)
    }

    #[cold]
    fn allowed_within(&self, own: u32) -> u32 {
        let allowed = self
            .inner()
            .allowed(&self.frame)
            .map_or(own, |allowed| allowed.min(own));
        self.frame.attempts.set(allowed);
        if allowed < own && self.frame.number.get() >= allowed && self.settings.told().raise() {
            let _entered = self.enter_call();
            trace::nested(self.settings.name(), allowed, own);
        }
        allowed
    }
}

/// Raises a range to the hint, which is a lower bound.
///
/// A hint above the whole range moves the range and keeps its width. So clients that got the same hint do not come back
/// at the same instant.
fn raised_by(hint: Option<Duration>, range: RangeInclusive<Duration>) -> (Duration, Duration) {
    let (low, high) = range.into_inner();
    match hint {
        Some(hint) if hint >= high => (hint, hint.saturating_add(high.saturating_sub(low))),
        Some(hint) => (hint.max(low), high),
        None => (low, high),
    }
}
