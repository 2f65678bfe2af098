//! What follows an attempt that failed: the decisions, in their order.
//!
//! verdict, attempts left, does the delay fit the deadline. Each refusal costs nothing that a later
//! question would have charged.

use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::attempt::{Armed, Cut, Stage};
use super::{Core, Wait};
use crate::classify::{Ruling, Said};
use crate::observe::{self, Failure};
use crate::{Outcome, Verdict, rng};

/// A retry that will be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scheduled {
    pub(super) wait: Wait,
    pub(super) verdict: Verdict,
}

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
            self.armed = Armed::not_yet(Stage::Late);
        } else {
            self.armed = Armed::not_yet(Stage::Attempt);
            self.begin_attempt();
        }
    }

    #[cold]
    fn is_late(&self) -> bool {
        self.remaining() == Some(Duration::ZERO)
    }

    /// Prepares for what goes before a retry: the deadline cuts it, the timeout does not.
    #[cold]
    pub(super) fn begin_preparation(&mut self) {
        self.armed = Armed::not_yet(if self.is_late() {
            Stage::Late
        } else {
            Stage::Preparation
        });
    }

    /// Decides after an attempt that failed by itself. `explain` gives the failure in words.
    #[cold]
    pub(super) fn after_error(
        &mut self,
        ruling: Ruling,
        explain: &dyn Fn() -> String,
    ) -> Result<Scheduled, Outcome> {
        let ruling = if self.settings.is_idempotent() {
            ruling
        } else {
            ruling.only_refused()
        };
        let decision = if ruling.retry {
            self.schedule(ruling.said, Outcome::AttemptsExhausted)
        } else {
            Err(Outcome::NotRetryable)
        };
        self.report(decision, ruling.said.verdict, explain)
    }

    /// Decides after an attempt that was cut.
    #[cold]
    pub(super) fn after_cut(&mut self, cut: Cut) -> Result<Scheduled, Outcome> {
        let decision = match cut {
            // It may have run to its end at the other side.
            Cut::Timeout if !self.settings.is_idempotent() => Err(Outcome::Timeout),
            Cut::Timeout => self.schedule(Said::new(Verdict::Transient), Outcome::Timeout),
            Cut::Deadline | Cut::Late => Err(Outcome::Deadline),
        };
        self.report(decision, Verdict::Transient, &|| cut.to_string())
    }

    /// Draws the next delay, or says why there is none.
    fn schedule(&mut self, said: Said, exhausted: Outcome) -> Result<Scheduled, Outcome> {
        if self
            .policy()
            .attempts()
            .is_some_and(|attempts| self.attempts >= attempts)
        {
            return Err(exhausted);
        }
        if said
            .hint
            .is_some_and(|hint| hint > self.policy().max_retry_after())
        {
            return Err(Outcome::HintTooLong);
        }
        self.started.get_or_insert_with(Instant::now);
        let previous = (self.attempts > 1).then(|| Duration::from_nanos(self.delay_nanos));
        let range = self.policy().delay_range(self.attempts - 1, previous);
        let range = raised_by(said.hint, range, self.policy().max_retry_after());
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
        self.delay_nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        Ok(Scheduled {
            wait: Wait(delay),
            verdict: said.verdict,
        })
    }

    fn report(
        &self,
        decision: Result<Scheduled, Outcome>,
        verdict: Verdict,
        explain: &dyn Fn() -> String,
    ) -> Result<Scheduled, Outcome> {
        let failure = Failure {
            function: self.settings.name(),
            attempt: self.attempts,
            attempts: self.policy().attempts(),
            verdict,
            elapsed: self.elapsed(),
            explain,
        };
        match decision {
            Ok(scheduled) => observe::retry_scheduled(failure, scheduled.wait.0),
            Err(outcome) => observe::gave_up(failure, outcome),
        }
        decision
    }

    /// What is left of the deadline, zero once it is reached; `None` without one.
    fn remaining(&self) -> Option<Duration> {
        let deadline = self.policy().deadline()?;
        let elapsed = self
            .started
            .map_or(Duration::ZERO, |started| started.elapsed());
        Some(deadline.saturating_sub(elapsed))
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
