//! Everything that observes a call: subscribers get events and spans, a recorder gets metrics, a listener and a test scope get
//! reports. They are notified at four moments, here and nowhere else:
//!
//! ```text
//! an attempt begins   enter_attempt (each poll)
//! its body ends       body_ends (twice, with a hedge)
//! a wait begins       wait_begins
//! the call ends       call_ends, then give_report
//! ```
//!
//! No lock is held while a subscriber is called, because the subscriber may call annotated functions itself.

use std::fmt::Display;
use std::time::Duration;

use super::State;
use super::events::{Event, FailedWith};
use crate::clock::Stamp;
use crate::context::Previous;
use crate::listen::listener;
use crate::metrics::{self, Attempted, Metric};
use crate::report::Report;
use crate::stopped::Outcome;
use crate::test_scope::LoggedCall;
use crate::trace::{self, Begun, Entered, Spans};

impl State<'_> {
    /// Enters the span of the attempt for one poll. `begins` says that this is the first poll, which opens the span if
    /// a subscriber wants it. The span is left when the body is pending, or when the attempt ends.
    #[inline]
    pub(super) fn enter_attempt(&self, begins: bool) {
        if trace::spans_may_be_wanted() {
            self.enter_attempt_span(begins);
        }
    }

    #[cold]
    fn enter_attempt_span(&self, begins: bool) {
        let frame = &self.frame;
        let which = frame.which.get();
        if begins {
            let begun = Begun {
                function: self.settings.name,
                place: self.settings.place,
                attempt: frame.present.get(),
                attempts: frame.attempts_allowed(),
                which,
            };
            self.change_spans(|spans| spans.begin(&begun));
        }
        let span = frame
            .if_rest()
            .and_then(|rest| rest.noted().spans.attempt(which));
        if let Some(span) = span {
            let entered = Entered::new(span);
            frame.rest().noted().entered = Some(entered);
        }
    }

    /// Enters the span of the call for one poll of `before_retry`. It is left as that of an attempt.
    pub(super) fn enter_call_span(&self) {
        if let Some(rest) = self.frame.if_rest() {
            let entered = self.enter_call();
            rest.noted().entered = entered;
        }
    }

    /// Leaves the span of the attempt, or of the call.
    pub(super) fn leave_attempt(&self) {
        let rest = self.frame.if_rest();
        let _ = rest.and_then(|rest| rest.noted().entered.take());
    }

    /// The body of an attempt ends, which is one of two with a hedge beside it: counts it, and closes its span.
    pub(super) fn body_ends(&self, how: Attempted, words: Option<&dyn Display>) {
        if let (Attempted::Failed(verdict), Some(_)) = (how, self.test_scope()) {
            self.frame.rest().noted().verdicts.push(verdict);
        }
        self.count(how);
        self.leave_attempt();
        self.change_spans(|spans| spans.end_attempt(self.frame.which.get(), how, words));
    }

    pub(super) fn count(&self, how: Attempted) {
        self.record(|| Metric::Attempted(how));
    }

    /// Records a metric, if the call found a recorder when it began.
    fn record<'a>(&self, metric: impl FnOnce() -> Metric<'a>) {
        if self.frame.recorded.get() {
            metrics::record(self.settings.name, &metric());
        }
    }

    /// A wait begins. `failed` says which failure it follows, unless it is the pause of the budget.
    pub(super) fn wait_begins(&self, delay: Duration, now: Stamp, failed: Option<FailedWith<'_>>) {
        if self.test_scope().is_some() {
            self.frame.rest().noted().delays.push(delay);
        }
        if let Some(failed) = failed {
            self.log(Event::Retrying(failed, delay));
            let started = self.frame.started.get().unwrap_or(now);
            if self.frame.number.get() > 1 && now.since(started) >= Duration::from_secs(60) {
                self.log(Event::StillFailing(failed, delay));
            }
        } else {
            self.log(Event::Paused(delay));
        }
        // A pause may follow a wait.
        self.wait_ends();
        self.record(|| {
            let budget = self.budget().filter(|_| failed.is_some());
            Metric::WaitBegins(delay, budget.map(|budget| budget.level()))
        });
        self.frame.waits.set(self.frame.recorded.get());
    }

    /// The call ends, and with it an attempt that runs beside another one: records it, and closes its spans.
    pub(super) fn call_ends(&self, outcome: Outcome) {
        if self.frame.beside.take() {
            self.count(Attempted::Unfinished);
        }
        self.wait_ends();
        if self.frame.recorded.get() {
            let report = self.report(outcome);
            self.record(|| Metric::Ended(&report));
        }
        self.leave_attempt();
        self.change_spans(|spans| spans.end(outcome));
    }

    /// The wait is over, if there was one.
    pub(super) fn wait_ends(&self) {
        if self.frame.waits.take() {
            self.record(|| Metric::WaitEnds);
        }
    }

    /// A retry begins.
    pub(super) fn retry_begins(&self) {
        self.record(|| Metric::RetryBegins);
    }

    /// Gives the report to the outer listener and to the test scope of the call.
    pub(super) fn give_report(&self, report: Report) {
        listener(|listener| listener.record(report.clone()));
        if let Some(own) = self.test_scope() {
            let mut noted = self.frame.rest().noted();
            own.log(LoggedCall {
                report,
                delays: std::mem::take(&mut noted.delays),
                verdicts: std::mem::take(&mut noted.verdicts),
            });
        }
    }

    pub(super) fn report(&self, outcome: Outcome) -> Report {
        let frame = &self.frame;
        let waited = frame.if_rest().map(|rest| rest.noted().waited);
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
            budget_level: self.budget().map(|budget| budget.level()),
            hedge: frame.hedge(matches!(
                outcome,
                Outcome::Success | Outcome::SuccessAfterRetry
            )),
        }
    }

    /// Enters the span of the call, for events and code that belong to no attempt.
    pub(super) fn enter_call(&self) -> Option<Entered> {
        let span = self.frame.if_rest()?.noted().spans.call();
        span.map(Entered::new)
    }

    /// Changes the spans, which are taken out, so that no lock is held while the subscriber is called.
    fn change_spans(&self, change: impl FnOnce(&mut Spans)) {
        if trace::spans_may_be_wanted() || self.frame.if_rest().is_some() {
            let mut spans = match self.frame.if_rest() {
                Some(rest) => std::mem::take(&mut rest.noted().spans),
                None => Spans::default(),
            };
            change(&mut spans);
            if spans.are_open() {
                self.frame.rest().noted().spans = spans;
            }
        }
    }
}
