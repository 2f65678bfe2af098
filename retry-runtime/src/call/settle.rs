//! Decides what follows an attempt.
//!
//! The order is: ruling, retry refused to a call inside, attempts left, switch, hint, deadline, budget. The budget
//! comes last, so that a retry that is refused for another reason takes no permit.

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
use crate::stopped::{CutCommit, Outcome, Stopped};
use crate::trace::{self, FailedAttempt};

impl State<'_> {
    /// Ends a call that succeeded.
    #[inline]
    pub(super) fn succeeded(&self) {
        if self.frame.notes.get() != Notes::NONE {
            return self.succeeded_late();
        }
        if self.settings.may_be_credited() {
            self.credit();
        }
        self.frame.phase.set(Phase::Bare);
    }

    /// Adds to the budget for a call that succeeded at once.
    #[cold]
    fn credit(&self) {
        if let Some(budget) = self.settings.budget() {
            budget.succeed(None);
        }
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
        if frame.has(Notes::IN_VAIN) && context::is_within() {
            // Its retries were not in vain.
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

    /// Decides what follows an attempt whose body returned a failure. Returns when the next attempt begins, or `None`
    /// if the call ends. `erred` says that the body returned an error, and not an `Ok` that means failure.
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
        if decision.is_ok() {
            self.frame.forget_doubt();
        }
        self.say(&decision, ruling.said.verdict, words);
        decision.ok().map(|retry| retry.at)
    }

    /// Decides what follows an attempt that returned an `Ok` that means failure.
    pub(super) fn failed_value(&self) -> Option<Instant> {
        let words = &"an `Ok` that means failure";
        self.failed(Ruling::failed_value(), words, false)
    }

    /// Decides what follows an attempt that was cut. Returns when the next attempt begins, or why the call ends.
    ///
    /// `vetoed` says that `unless` or `not_on` forbids another attempt.
    #[inline(never)]
    pub(super) fn cut(&self, cut: Cut, vetoed: bool) -> Result<Instant, Ending> {
        let verdict = self.verdict_of_cut();
        if cut == Cut::Late {
            self.never_began();
        } else {
            self.frame.previous.set(Some(Previous::TimedOut));
            self.attempt_failed(verdict, &cut);
        }
        let decision = match cut {
            // The server may have completed the operation.
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
        self.say(&decision, verdict, &cut);
        match decision {
            Ok(retry) => {
                self.frame.erred.set(false);
                Ok(retry.at)
            }
            Err(outcome) => Err(self.ending(outcome, cut == Cut::Late)),
        }
    }

    /// Counts an attempt that failed, and closes its span. The phase changes first: if anything panics later, the
    /// attempt is not counted again.
    fn attempt_failed(&self, verdict: Verdict, words: &dyn Words) {
        self.note_verdict(verdict);
        self.frame.phase.set(Phase::Between);
        self.count(Attempted::Failed(verdict));
        self.end_attempt_span(Attempted::Failed(verdict), Some(words));
    }

    /// Ends a call whose `cancel` future completed.
    #[inline(never)]
    pub(super) fn cancelled(&self) -> Ending {
        self.never_began();
        if self.frame.phase.get() == Phase::Attempt {
            self.count(Attempted::Unfinished);
        }
        let verdict = self.verdict_of_cut();
        self.say(&Err(Outcome::Cancelled), verdict, &"cancelled");
        self.ending(Outcome::Cancelled, false)
    }

    /// Ends a call whose deadline was reached between two attempts.
    #[inline(never)]
    pub(super) fn cut_between(&self, cut: Cut) -> Ending {
        self.say(&Err(Outcome::Deadline), self.verdict_of_cut(), &cut);
        self.ending(Outcome::Deadline, cut == Cut::Late)
    }

    /// The verdict of an attempt that is cut now. If a commit is cut, nobody knows whether it took effect.
    pub(super) fn verdict_of_cut(&self) -> Verdict {
        if self.frame.is_in_doubt() {
            Verdict::Unknown
        } else {
            Verdict::Transient
        }
    }

    /// Returns the end of a call that was stopped. `late` says that the deadline was reached between attempts.
    fn ending(&self, outcome: Outcome, late: bool) -> Ending {
        Ending {
            stopped: self.stopped(outcome),
            error_stands: late && self.frame.erred.get(),
        }
    }

    /// Takes the result of `before_retry`. If it failed, the call ends, and a retry that was refused in it is also
    /// refused to the calls around. Otherwise that refusal is forgotten.
    #[inline(never)]
    pub(super) fn prepared(&self, failed: bool) {
        if failed {
            let words = &"`before_retry` failed";
            self.say(&Err(Outcome::NotRetryable), Verdict::Unknown, words);
        } else {
            self.frame.refusal.set(None);
        }
    }

    /// Returns the `Stopped` that the caller gets.
    #[inline(never)]
    pub(super) fn stopped(&self, outcome: Outcome) -> Stopped {
        let elapsed = self.elapsed().unwrap_or_default();
        let limit = match outcome {
            Outcome::Timeout => self.policy().timeout(),
            // An inherited deadline has no length of its own.
            Outcome::Deadline => self.policy().deadline().filter(|own| elapsed >= *own),
            _ => None,
        };
        let cut = self.frame.is_in_doubt();
        Stopped {
            outcome,
            attempts: self.frame.number.get(),
            elapsed,
            limit,
            source: cut.then(|| CutCommit::default().into()),
        }
    }

    /// Returns the event for `on_retry`.
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
        if let (Ok(retry), true) = (decision, self.is_recorded()) {
            metrics::delayed(self.settings.name(), retry.delay);
        }
        match decision {
            Ok(_) => self.hand_on_untold(),
            Err(outcome) => self.end(*outcome),
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
            // If a call inside was refused, the event of that call names the budget.
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

    /// Ends a call that failed. Its retries were in vain.
    #[cold]
    fn end(&self, outcome: Outcome) {
        let frame = &self.frame;
        if let Some(refusal) = Refusal::of(outcome).or(frame.refusal.get()) {
            refuse(frame, refusal);
        }
        self.hand_on();
        self.give_back();
        frame.phase.set(Phase::Ended(outcome));
        self.record(outcome);
        self.end_spans(outcome);
    }
}
