//! A call in a test scope: what it takes from there in place of the world's.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::state::State;
use crate::budget::Budget;
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::listen::trial_around;
use crate::rng;
use crate::trial::{self, InTrial};

impl State<'_> {
    /// The call begins: if that is in a test scope, it is in it to its end.
    #[cold]
    pub(super) fn enter_trial(&self) {
        if !trial::is_possible() {
            return;
        }
        let Some(trial) = trial_around() else { return };
        let frame = &self.frame;
        if let Some(most) = trial.attempts {
            frame.attempts.set(frame.attempts.get().min(most));
        }
        frame.cold().noted().trial = Some(trial.enter(self.settings.name()));
    }

    /// What the call has of its test scope, if it is in one.
    fn with_trial<T>(&self, f: impl FnOnce(&mut InTrial) -> T) -> Option<T> {
        if !trial::is_possible() {
            return None;
        }
        self.frame.if_cold()?.noted().trial.as_mut().map(f)
    }

    /// The most attempts that the test scope lets a call make.
    #[inline]
    pub(super) fn attempts_in_trial(&self) -> Option<u32> {
        self.with_trial(|own| own.trial.attempts).flatten()
    }

    /// Shows the budget of the call to `f`, if it has one.
    #[inline]
    pub(super) fn with_budget<T>(&self, f: impl FnOnce(&Budget) -> T) -> Option<T> {
        let budget = self.settings.budget()?;
        match self.with_trial(|own| Arc::clone(&own.trial)) {
            None => Some(f(budget)),
            Some(trial) => Some(f(&trial.budget(budget))),
        }
    }

    /// Draws the delay before the next attempt: the delay of the policy, and how much of it is waited for.
    #[inline]
    pub(super) fn draw(
        &self,
        range: &RangeInclusive<Duration>,
        now: Stamp,
    ) -> (Duration, Duration) {
        let number = self.frame.number.get();
        let drawn = self.with_trial(|own| (own.draw(number, range), own.trial.waits));
        match drawn {
            None => {
                let delay = rng::duration_in(range, now);
                (delay, delay)
            }
            Some((delay, true)) => (delay, delay),
            Some((delay, false)) => {
                self.passed_over(delay);
                (delay, Duration::ZERO)
            }
        }
    }

    /// Counts a wait that nobody waits for as if it were over: towards the deadline, and in the report.
    #[cold]
    fn passed_over(&self, delay: Duration) {
        let frame = &self.frame;
        let started = frame.started.get().unwrap_or_else(Stamp::now);
        frame.started.set(Some(started.minus(delay)));
        let mut noted = frame.cold().noted();
        noted.waited = noted.waited.saturating_add(delay);
    }

    /// Takes note of an attempt that failed.
    #[inline]
    pub(super) fn note_verdict(&self, verdict: Verdict) {
        self.with_trial(|own| own.verdicts.push(verdict));
    }

    /// Takes the call out of its test scope.
    pub(super) fn leave_trial(&self) -> Option<InTrial> {
        if !trial::is_possible() {
            return None;
        }
        self.frame.if_cold()?.noted().trial.take()
    }
}
