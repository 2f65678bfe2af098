//! Who hears of a call: subscribers get events and spans, a recorder gets metrics, a listener and a test scope get
//! reports. They hear of four moments, here and nowhere else:
//!
//! ```text
//! an attempt begins   enter_attempt (each poll), look_for_recorder, enter_test_scope
//! an attempt ends     attempt_ends
//! a wait begins       wait_begins
//! the call ends       call_ends, then closed
//! ```

use super::State;
use super::timers::{LONGEST_SLEEP, Until};
use crate::clock::{Instant, Stamp};
use crate::context::{Notes, Phase, Previous};
use crate::fit::DelayRange;
use crate::jitter::Jitter;
use crate::listen::{is_listening, listener};
use crate::metrics::{self, Attempted};
use crate::report::Report;
use crate::stopped::Outcome;
use crate::trace::{self, CallInEvent, Event, FailedWith};

/// An attempt begins.
impl State<'_> {
    /// Looks for a recorder, so that what is recorded of an attempt agrees. A call that found one is recorded to its end.
    #[inline]
    pub(super) fn look_for_recorder(&self) {
        if !self.is_recorded() && metrics::is_recording() {
            self.frame.find(Notes::RECORDED);
        }
    }

    /// Whether the call found a recorder.
    #[inline]
    fn is_recorded(&self) -> bool {
        self.frame.has(Notes::RECORDED)
    }

    /// Whether a hook, a subscriber, a listener or a recorder may ask how long the call took.
    #[inline]
    pub(super) fn needs_clock(&self) -> bool {
        self.settings.listens || trace::subscriber_wants() || self.frame.has(Notes::NEEDS_CLOCK)
    }
}

/// An attempt ends.
impl State<'_> {
    /// Counts it, and closes its span. `failed` says how it failed, unless it succeeded. The phase changes first: if anything
    /// panics later, the attempt is not counted again.
    pub(super) fn attempt_ends(&self, failed: Option<FailedWith<'_>>) {
        self.frame.end_attempt();
        let (how, words) = match failed {
            Some(FailedWith { verdict, words }) => {
                self.with_test_scope(|own| own.note(verdict));
                (Attempted::Failed(verdict), Some(words))
            }
            None => (Attempted::Succeeded, None),
        };
        self.count(how);
        self.end_attempt_span(how, words);
    }

    /// Counts an attempt, if the call found a recorder. Only then is the name looked up.
    pub(super) fn count(&self, how: Attempted) {
        if self.is_recorded() {
            metrics::attempted(self.settings.name, how);
        }
    }
}

/// A wait begins.
impl State<'_> {
    /// Draws the delay. Returns when the wait ends, which may be at once in a test scope. `failed` says which failure it
    /// follows, unless it is the pause of the budget.
    pub(super) fn wait_begins(
        &self,
        range: &DelayRange,
        (now, stamp): (Instant, Stamp),
        failed: Option<FailedWith<'_>>,
    ) -> Until {
        let (delay, wait) = self.draw(range, stamp);
        let is_asked =
            self.settings.listens || self.settings.policy.jitter() == Jitter::Decorrelated;
        if is_asked && failed.is_some() {
            self.frame.cold().noted().delay = Some(delay);
        }
        // A listener will ask how long the call waited.
        if wait == delay && (self.settings.listens || is_listening()) {
            self.frame.cold().noted().waits_since = Some(stamp);
        }
        self.log(match failed {
            Some(failed) => Event::Retrying(failed, delay),
            None => Event::Paused(delay),
        });
        if self.is_recorded() {
            metrics::delayed(self.settings.name, delay);
        }
        // A hundred years, if the clock cannot represent the end.
        let most = || now.checked_add(LONGEST_SLEEP * 36_525);
        let at = || now.checked_add(wait).or_else(most).unwrap_or(now);
        Until((!wait.is_zero()).then(at))
    }

    /// Adds the wait that is over, if there was one.
    #[inline]
    pub(super) fn waited_until_now(&self) {
        if let Some(cold) = self.frame.if_cold() {
            let mut noted = cold.noted();
            if let Some(since) = noted.waits_since.take() {
                noted.waited = noted.waited.saturating_add(Stamp::now().since(since));
            }
        }
    }
}

/// The call ends.
impl State<'_> {
    /// Logs it, records it, and closes its spans. This happens once in each call that is not dropped before.
    pub(super) fn call_ends(&self, outcome: Outcome, event: Option<Event<'_>>) {
        if let Some(event) = event {
            self.log(event);
        }
        self.frame.end(outcome);
        self.ended(outcome);
    }

    /// Records the end of a call, also of one that is dropped, and closes its spans. An attempt that still runs is lost.
    #[inline]
    fn ended(&self, outcome: Outcome) {
        if self.frame.lose_other() {
            self.count(Attempted::Unfinished);
        }
        if self.is_recorded() {
            metrics::ended(&self.report(outcome));
        }
        self.end_spans(outcome);
    }

    /// Closes a call, also one that is dropped. Returns its outcome.
    pub(super) fn closed(&self) -> Outcome {
        self.give_back();
        self.waited_until_now();
        // The phase changes first: if anything panics later, the call is not closed again.
        let phase = self.frame.close();
        match phase {
            Phase::Ended(outcome) => return outcome,
            Phase::New => self.look_for_recorder(),
            Phase::Attempt => self.count(Attempted::Unfinished),
            _ => {}
        }
        self.ended(Outcome::Dropped);
        Outcome::Dropped
    }

    /// Gives the report to the listener around and to the test scope of the call.
    pub(super) fn tell(&self, report: Report) {
        listener(|listener| listener.tell(report.clone()));
        if let Some(own) = self.leave_test_scope() {
            own.end(report);
        }
    }

    pub(super) fn report(&self, outcome: Outcome) -> Report {
        let frame = &self.frame;
        let waited = frame.if_cold().map(|cold| cold.noted().waited);
        Report {
            function: self.settings.name,
            attempts: frame.number.get(),
            outcome,
            elapsed: self.elapsed().unwrap_or_default(),
            waited: waited.unwrap_or_default(),
            verdict: frame.previous.get().map(|previous| match previous {
                Previous::TimedOut if matches!(outcome, Outcome::Timeout | Outcome::Deadline) => {
                    self.verdict_of_cut()
                }
                _ => previous.verdict(),
            }),
            budget_level: self.with_budget(|budget| budget.level()),
            hedge: frame.hedge(matches!(
                outcome,
                Outcome::Success | Outcome::SuccessAfterRetry
            )),
        }
    }
}

/// Events.
impl State<'_> {
    /// Writes an event, in the span of the call.
    #[inline]
    pub(super) fn log(&self, event: Event<'_>) {
        if !trace::may_be_heard() {
            return;
        }
        let frame = &self.frame;
        let _entered = self.enter_call();
        let call = CallInEvent {
            function: self.settings.name,
            attempt: frame.present(),
            attempts: frame.attempts_allowed(),
            elapsed: &|| self.elapsed(),
            lines: &self.settings.shared.lines,
        };
        trace::write(event, &call);
    }

    /// Says once for each function that it makes fewer attempts inside another call.
    pub(super) fn log_fewer_attempts(&self, allowed: u32, own: u32) {
        if self.settings.shared.told.raise() {
            self.log(Event::FewerAttempts { allowed, own });
        }
    }

    /// Says once for each function that its wait blocks a thread of a runtime, if `blocks` finds that.
    pub(super) fn log_blocked_tasks(&self, blocks: impl FnOnce() -> bool) {
        let blocked = &self.settings.shared.blocked;
        if trace::may_be_heard() && blocked.is_down() && blocks() && blocked.raise() {
            self.log(Event::Blocked);
        }
    }
}
