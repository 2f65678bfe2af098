//! What follows an attempt: the decisions, in their order.
//!
//! verdict, refused further in, attempts left, does the delay fit the deadline, budget. Each refusal
//! costs nothing that a later question would have charged.

use tokio::time::Instant;

use super::close::verdict;
use super::ended::{Cut, Ending};
use super::schedule::Retry;
use super::state::{State, charge};
use crate::classify::{Ruling, Said, Verdict};
use crate::context::{self, Notes, Phase, Previous, Refusal, refuse};
use crate::event::RetryEvent;
use crate::explain::Words;
use crate::metrics::{self, Attempted};
use crate::stopped::{Outcome, Stopped};
use crate::trace::{self, FailedAttempt};

impl State<'_> {
    /// The call succeeded.
    #[inline]
    pub(super) fn succeeded(&self) {
        if self.frame.notes.get() != Notes::None {
            return self.succeeded_late();
        }
        if let Some(budget) = self.settings.budget() {
            budget.succeed(None);
        }
        self.frame.phase.set(Phase::Closed);
        self.record(Outcome::Success);
    }

    #[inline(never)]
    fn succeeded_late(&self) {
        let frame = &self.frame;
        let previous = frame.previous.get();
        self.end_attempt_span(Attempted::Succeeded, None);
        self.with_budget(|budget| budget.succeed(previous.map(charge)));
        if previous.is_some() && trace::may_be_heard() {
            let (function, lines) = (self.settings.name(), self.settings.lines());
            let elapsed = || self.elapsed();
            let _entered = self.enter_call();
            trace::succeeded_after_retry(function, frame.number.get(), elapsed, lines);
        }
        if context::is_within() {
            // Its own retries were not in vain.
            self.inner().hand_on(frame, 0);
        }
        let outcome = match previous {
            Some(_) => Outcome::SuccessAfterRetry,
            None => Outcome::Success,
        };
        frame.phase.set(Phase::Ended(outcome));
        self.record(outcome);
        self.end_spans(outcome);
    }

    /// Decides after an attempt that failed by itself: when the next begins, or `None`. `erred` says that it
    /// returned an error.
    #[inline(never)]
    pub(super) fn failed(&self, ruling: Ruling, words: &dyn Words, erred: bool) -> Option<Instant> {
        let ruling = if self.settings.is_idempotent() {
            ruling
        } else {
            ruling.only_refused()
        };
        let previous = Previous::Failed(ruling.said.verdict);
        self.frame.previous.set(Some(previous));
        let words = if erred && self.settings.is_sensitive() {
            &"(sensitive)"
        } else {
            words
        };
        self.attempt_failed(ruling.said.verdict, words);
        let decision = if ruling.retry {
            self.schedule(ruling.said, previous, Outcome::AttemptsExhausted)
        } else {
            Err(Outcome::NotRetryable)
        };
        self.frame.erred.set(erred);
        self.say(&decision, ruling.said.verdict, words);
        decision.ok().map(|retry| retry.at)
    }

    /// The same after an `Ok` that means failure.
    pub(super) fn failed_value(&self) -> Option<Instant> {
        let words = &"an `Ok` that means failure";
        self.failed(Ruling::failed_value(), words, false)
    }

    /// Decides after an attempt that was cut: gives when the next begins, or why the call ends.
    ///
    /// `vetoed` says that the rules do not allow another attempt.
    #[inline(never)]
    pub(super) fn cut(&self, cut: Cut, vetoed: bool) -> Result<Instant, Ending> {
        if cut != Cut::Late {
            self.frame.previous.set(Some(Previous::TimedOut));
            self.attempt_failed(Verdict::Transient, &cut);
        }
        let decision = match cut {
            // It may have run to its end at the other side.
            Cut::Timeout
                if vetoed || !self.settings.is_idempotent() || self.frame.is_in_doubt() =>
            {
                Err(Outcome::Timeout)
            }
            Cut::Timeout => {
                let said = Said::new(Verdict::Transient);
                self.schedule(said, Previous::TimedOut, Outcome::Timeout)
            }
            Cut::Deadline | Cut::Late => Err(Outcome::Deadline),
        };
        self.say(&decision, Verdict::Transient, &cut);
        match decision {
            Ok(retry) => {
                self.frame.erred.set(false);
                Ok(retry.at)
            }
            Err(outcome) => Err(self.ending(outcome, cut == Cut::Late)),
        }
    }

    /// Takes note of an attempt that failed. Whatever panics from now on, it is not counted again.
    fn attempt_failed(&self, verdict: Verdict, words: &dyn Words) {
        self.note_verdict(verdict);
        self.frame.phase.set(Phase::Between);
        self.count(Attempted::Failed(verdict));
        self.end_attempt_span(Attempted::Failed(verdict), Some(words));
    }

    /// Ends a call whose `cancel` future completed.
    #[inline(never)]
    pub(super) fn cancelled(&self) -> Ending {
        if self.frame.phase.get() == Phase::Attempt {
            self.count(Attempted::Unfinished);
        }
        self.say(&Err(Outcome::Cancelled), Verdict::Transient, &"cancelled");
        self.ending(Outcome::Cancelled, false)
    }

    /// Ends a call whose deadline was reached between two attempts.
    #[inline(never)]
    pub(super) fn cut_between(&self, cut: Cut) -> Ending {
        self.say(&Err(Outcome::Deadline), Verdict::Transient, &cut);
        self.ending(Outcome::Deadline, cut == Cut::Late)
    }

    /// The end of a call that was stopped; `late` says that no attempt was cut.
    fn ending(&self, outcome: Outcome, late: bool) -> Ending {
        Ending {
            stopped: self.stopped(outcome),
            error_stands: late && self.frame.erred.get(),
        }
    }

    /// Takes note that what went before a retry is over. What was refused within it is refused to the
    /// calls around where the call ends for it, and forgotten where it goes on.
    #[inline(never)]
    pub(super) fn prepared(&self, failed: bool) {
        if failed {
            let words = &"`before_retry` failed";
            self.say(&Err(Outcome::NotRetryable), Verdict::Unknown, words);
        } else {
            self.frame.refusal.set(None);
        }
    }

    /// Why the call is stopped, as its caller will see it.
    #[inline(never)]
    pub(super) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let limit = match outcome {
            Outcome::Timeout => self.policy().timeout(),
            // One that was inherited has no length of its own.
            Outcome::Deadline => self.policy().deadline().filter(|own| elapsed >= *own),
            _ => None,
        };
        Stopped {
            outcome,
            attempts: self.frame.number.get(),
            elapsed,
            limit,
            source: None,
        }
    }

    /// What `on_retry` is told.
    pub(super) fn event<'a, E>(&self, error: Option<&'a E>) -> RetryEvent<'a, E> {
        let frame = &self.frame;
        RetryEvent {
            function: self.settings.name(),
            attempt: frame.number.get(),
            attempts: self.frame.attempts_allowed(),
            verdict: frame.previous.get().map_or(Verdict::Transient, verdict),
            delay: frame.cold().noted().delay.unwrap_or_default(),
            elapsed: self.elapsed().unwrap_or_default(),
            error,
        }
    }

    #[inline]
    fn say(&self, decision: &Result<Retry, Outcome>, verdict: Verdict, words: &dyn Words) {
        if trace::may_be_heard() {
            self.tell(decision, verdict, words);
        }
        if let (Ok(retry), true) = (decision, metrics::is_recording()) {
            metrics::delayed(self.settings.name(), retry.delay);
        }
        if let Err(outcome) = decision {
            self.end(*outcome);
        }
    }

    #[cold]
    fn tell(&self, decision: &Result<Retry, Outcome>, verdict: Verdict, words: &dyn Words) {
        let failure = FailedAttempt {
            function: self.settings.name(),
            attempt: self.frame.number.get(),
            attempts: self.frame.attempts_allowed(),
            verdict,
            elapsed: &|| self.elapsed(),
            words,
            // Not where a call inside was refused: its event says which budget that was.
            empty: match (decision, self.frame.refusal.get()) {
                (Err(Outcome::Budget), None) => self.settings.budget(),
                _ => None,
            },
            lines: self.settings.lines(),
        };
        let _entered = self.enter_call();
        match decision {
            Ok(retry) => trace::retry_scheduled(failure, retry.delay),
            Err(outcome) => trace::gave_up(failure, *outcome),
        }
    }

    /// The call ended, and what was retried in it was in vain.
    #[cold]
    fn end(&self, outcome: Outcome) {
        let frame = &self.frame;
        let inherited = frame.deadline.get() < self.settings.deadline();
        if let Some(refusal) = Refusal::of(outcome, inherited).or(frame.refusal.get()) {
            refuse(refusal);
        }
        self.hand_on();
        self.give_back();
        frame.phase.set(Phase::Ended(outcome));
        self.record(outcome);
        self.end_spans(outcome);
    }
}
