//! What follows an attempt that failed: the decisions, in their order.
//!
//! verdict, attempts left, does the delay fit the deadline. Each refusal costs nothing that a later
//! question would have charged.

use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::attempt::Cut;
use super::{Core, Wait};
use crate::classify::{Ruling, Said};
use crate::{Outcome, Verdict, observe, rng};

impl Core<'_> {
    /// Counts the attempt that begins.
    #[inline]
    pub(super) fn begin_attempt(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
    }

    /// Counts the attempt that begins, unless the wait before it ended after the deadline.
    #[inline]
    pub(super) fn begin_limited_attempt(&mut self) {
        if self.attempts > 0 && self.is_late() {
            self.late = true;
        } else {
            self.begin_attempt();
        }
    }

    #[cold]
    fn is_late(&self) -> bool {
        self.remaining() == Some(Duration::ZERO)
    }

    /// Decides after an attempt that returned an error.
    #[cold]
    pub(super) fn after_error(&mut self, ruling: Ruling) -> Result<Wait, Outcome> {
        let wait = if ruling.retry {
            self.schedule(ruling.said, Outcome::AttemptsExhausted)
        } else {
            Err(Outcome::NotRetryable)
        };
        self.report(wait, ruling.said.verdict)
    }

    /// Decides after an attempt that was cut.
    #[cold]
    pub(super) fn after_cut(&mut self, cut: Cut) -> Result<Wait, Outcome> {
        let wait = match cut {
            Cut::Timeout => self.schedule(Said::from(Verdict::Transient), Outcome::Timeout),
            Cut::Deadline | Cut::Late => Err(Outcome::Deadline),
        };
        self.report(wait, Verdict::Transient)
    }

    /// Draws the next delay, or says why there is none.
    fn schedule(&mut self, said: Said, exhausted: Outcome) -> Result<Wait, Outcome> {
        if self.policy.attempts().is_some_and(|attempts| self.attempts >= attempts) {
            return Err(exhausted);
        }
        if said.hint.is_some_and(|hint| hint > self.policy.max_retry_after()) {
            return Err(Outcome::HintTooLong);
        }
        self.started.get_or_insert_with(Instant::now);
        let range = self.policy.delay_range(self.attempts - 1, self.delay);
        let range = raised_by(said.hint, range, self.policy.max_retry_after());
        let range = match self.remaining() {
            // A delay that is as long as what is left would be waited for nothing.
            Some(rest) if *range.start() >= rest => return Err(Outcome::Deadline),
            Some(rest) => {
                let low = *range.start();
                low..=(*range.end()).min(rest.saturating_sub(Duration::from_nanos(1)))
            }
            None => range,
        };
        let delay = rng::duration_in(&range);
        self.delay = Some(delay);
        Ok(Wait(delay))
    }

    fn report(&self, wait: Result<Wait, Outcome>, verdict: Verdict) -> Result<Wait, Outcome> {
        match wait {
            Ok(Wait(delay)) => {
                observe::retry_scheduled(self.name, self.attempts, self.policy, verdict, delay);
            }
            Err(outcome) => {
                observe::gave_up(self.name, self.attempts, outcome, verdict, self.elapsed());
            }
        }
        wait
    }

    /// What is left of the deadline, zero once it is reached; `None` without one.
    fn remaining(&self) -> Option<Duration> {
        let deadline = self.policy.deadline()?;
        let elapsed = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        Some(deadline.saturating_sub(elapsed))
    }

    /// The instant at which the current attempt is cut, and what for. `None` where that is so far
    /// off that the clock cannot say it.
    pub(super) fn limit(&self) -> Option<(Instant, Cut)> {
        let at = |from: Option<Instant>, limit: Option<Duration>, cut| {
            Some((from?.checked_add(limit?)?, cut))
        };
        let timeout = at(self.suspended, self.policy.timeout(), Cut::Timeout);
        let deadline = at(self.started, self.policy.deadline(), Cut::Deadline);
        match (timeout, deadline) {
            (Some(timeout), Some(deadline)) if deadline.0 <= timeout.0 => Some(deadline),
            (Some(timeout), _) => Some(timeout),
            (None, deadline) => deadline,
        }
    }
}

/// Raises a range so that it begins at the hint, if it began below: a hint is a lower bound, and the
/// jitter above it keeps all who got the same hint from coming back at the same instant.
fn raised_by(
    hint: Option<Duration>,
    range: RangeInclusive<Duration>,
    max_retry_after: Duration,
) -> RangeInclusive<Duration> {
    let (low, high) = range.into_inner();
    match hint {
        Some(hint) if hint > low => {
            let width = high.saturating_sub(low);
            hint..=hint.saturating_add(width).min(max_retry_after).max(high)
        }
        _ => low..=high,
    }
}
