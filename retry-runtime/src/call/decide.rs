//! What follows an attempt that failed: the decisions, in their order.
//!
//! verdict, refused further in, attempts left, does the delay fit the deadline, budget. Each refusal
//! costs nothing that a later question would have charged.

use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::Instant;

use super::attempt::{Armed, Cut, Stage};
use super::pause::{Wait, Waited};
use super::state::Core;
use crate::budget::Charge;
use crate::classify::{Ruling, Said};
use crate::clock::Stamp;
use crate::context::{self, Own, Refusal, Seen};
use crate::observe::{self, Failure};
use crate::{Outcome, Previous, Verdict, rng};

/// A retry that will be made.
#[derive(Debug)]
pub(super) struct Scheduled {
    pub(super) wait: Wait,
    pub(super) verdict: Verdict,
}

impl Core<'_> {
    /// Makes no attempt, the first included, where a call begins after a deadline that it inherits.
    #[inline]
    pub(super) fn begin_limited_attempt(&mut self) {
        if self.attempts == 1 && context::inherits() && self.is_late() {
            self.armed = Armed::not_yet(Stage::Late);
            self.attempts = 0;
        }
    }

    /// Turns from the wait to the next attempt, which is made unless it is `late`.
    #[cold]
    pub(super) fn proceed(&mut self, Waited(permit): Waited, late: bool) {
        self.armed = Armed::not_yet(if late { Stage::Late } else { Stage::Attempt });
        if late {
            return;
        }
        self.attempts = self.attempts.saturating_add(1);
        if let Some(permit) = permit {
            permit.begin();
        }
    }

    /// Whether the deadline is reached.
    #[cold]
    pub(super) fn is_late(&self) -> bool {
        self.remaining() == Some(Duration::ZERO)
    }

    /// What the code before a retry sees: it is within the call, and no attempt.
    #[cold]
    pub(super) fn seen_before(&self, limits: Option<Own>) -> Seen {
        Seen {
            number: 0,
            ..self.seen(limits)
        }
    }

    /// Takes note that what went before a retry is over. What was refused within it is refused to the
    /// calls around where the call ends for it, and forgotten where it goes on.
    #[cold]
    pub(super) fn prepared(&mut self, failed: bool) {
        let refusal = self.track.get_over();
        if let Some(refusal) = refusal.filter(|_| failed) {
            context::refuse(refusal);
        }
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
        let verdict = ruling.said.verdict;
        let decision = if ruling.retry {
            let failed = Previous::Failed(verdict);
            self.schedule(ruling.said, failed, Outcome::AttemptsExhausted)
        } else {
            Err(Outcome::NotRetryable)
        };
        self.report(decision, verdict, explain)
    }

    /// Decides after an attempt that was cut.
    #[cold]
    pub(super) fn after_cut(&mut self, cut: Cut) -> Result<Scheduled, Outcome> {
        let decision = match cut {
            // It may have run to its end at the other side.
            Cut::Timeout if !self.settings.is_idempotent() => Err(Outcome::Timeout),
            Cut::Timeout => {
                let said = Said::new(Verdict::Transient);
                self.schedule(said, Previous::TimedOut, Outcome::Timeout)
            }
            Cut::Deadline | Cut::Late => Err(Outcome::Deadline),
            Cut::Cancelled => Err(Outcome::Cancelled),
            // It would not have begun anyway, so it was not counted, and its permit was dropped.
            Cut::Forestalled if self.armed.stage() == Stage::Late => Err(Outcome::Cancelled),
            Cut::Forestalled => {
                // It was counted, and paid for, when it was made, and never began.
                self.attempts -= 1;
                if let (Some(budget), Some(previous)) =
                    (self.settings.budget(), self.track.previous())
                {
                    budget.refund(charge(previous));
                }
                Err(Outcome::Cancelled)
            }
        };
        self.report(decision, Verdict::Transient, &|| cut.to_string())
    }

    /// Decides after something between two attempts was cut.
    #[cold]
    pub(super) fn after_interlude(&mut self, cut: Cut) -> Outcome {
        let outcome = match cut {
            Cut::Cancelled | Cut::Forestalled => Outcome::Cancelled,
            Cut::Timeout | Cut::Deadline | Cut::Late => Outcome::Deadline,
        };
        let _ = self.report(Err(outcome), Verdict::Transient, &|| cut.to_string());
        outcome
    }

    /// Gets a retry permitted and draws its delay, or says why there is none.
    fn schedule(
        &mut self,
        said: Said,
        previous: Previous,
        exhausted: Outcome,
    ) -> Result<Scheduled, Outcome> {
        if let Some(refusal) = self.track.refusal() {
            return Err(refusal.outcome());
        }
        if self.attempts >= self.attempts_allowed() {
            return Err(exhausted);
        }
        if said
            .hint
            .is_some_and(|hint| hint > self.policy().max_retry_after())
        {
            return Err(Outcome::HintTooLong);
        }
        self.started.get_or_insert_with(Stamp::now);
        let range = self
            .policy()
            .delay_range(self.attempts - 1, self.previous_delay());
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
        let permit = match self.settings.budget() {
            None => None,
            Some(budget) => {
                let permit = budget.request(charge(previous), self.attempts == 1);
                Some(permit.ok_or(Outcome::Budget)?)
            }
        };
        let delay = rng::duration_in(&range);
        self.remember_delay(delay);
        self.track.turn(previous);
        Ok(Scheduled {
            wait: Wait { delay, permit },
            verdict: said.verdict,
        })
    }

    /// How many attempts the call may make here, which is less than its policy says where the calls
    /// around have made some of them; `u32::MAX` for no limit.
    fn attempts_allowed(&self) -> u32 {
        let own = self.policy().attempts().unwrap_or(u32::MAX);
        let allowed = context::allowed(own, self.settings.nested());
        if allowed < own && self.attempts >= allowed {
            let note = || observe::nested(self.settings.name(), allowed, own);
            self.settings.noted().call_once(note);
        }
        allowed
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
        match &decision {
            Ok(scheduled) => observe::retry_scheduled(failure, scheduled.wait.delay),
            Err(outcome) => {
                observe::gave_up(failure, *outcome);
                if let Some(refusal) = Refusal::of(*outcome).or(self.track.refusal()) {
                    context::refuse(refusal);
                }
            }
        }
        decision
    }

    /// What is left of the deadline, zero once it is reached; `None` without one.
    fn remaining(&self) -> Option<Duration> {
        let inherited = context::deadline();
        if inherited.is_none() && self.policy().deadline().is_none() {
            return None;
        }
        self.remaining_at(Instant::now())
    }

    /// The same at a time: of its own deadline or an inherited one, whichever is nearer.
    pub(super) fn remaining_at(&self, now: Instant) -> Option<Duration> {
        let own = self.policy().deadline().map(|deadline| {
            let elapsed = |started| Stamp::of(now).since(started);
            deadline.saturating_sub(self.started.map_or(Duration::ZERO, elapsed))
        });
        let inherited = context::deadline().map(|limit| limit.saturating_duration_since(now));
        match (own, inherited) {
            (Some(own), Some(inherited)) => Some(own.min(inherited)),
            (own, inherited) => own.or(inherited),
        }
    }
}

/// What a retry is asked for as.
pub(super) fn charge(previous: Previous) -> Charge {
    match previous {
        Previous::Failed(Verdict::Throttled) => Charge::Throttled,
        Previous::Failed(_) | Previous::TimedOut => Charge::Retry,
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
