//! Everything that observes a call: subscribers get events and spans, a recorder gets metrics, a listener and a test scope get
//! reports. They are notified at four moments, here and nowhere else:
//!
//! ```text
//! an attempt begins   on_attempt_begun, then enter_span (each poll)
//! its body ends       on_body_ended (twice, with a hedge)
//! a wait begins       on_wait_begun
//! the call ends       on_call_ended, then give_report
//! ```
//!
//! No lock is held while a subscriber is called, because the subscriber may call annotated functions itself.

use std::fmt::Display;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use tracing::Span;

use super::State;
use super::events::{Event, FailedWith};
use crate::classify::Verdict;
use crate::clock::Stamp;
use crate::context::beside_body;
use crate::listen::{OF_PROCESS, listener, notify};
use crate::metrics::{self, Attempted, Metric};
use crate::report::{PreviousFailure, Report};
use crate::stopped::Outcome;
use crate::trace::{self, Begun, Entered, Spans};

impl State<'_> {
    /// An attempt or a hedge begins: records a retry, and opens the span if a subscriber wants it.
    #[inline]
    pub(super) fn on_attempt_begun(&mut self) {
        if self.waits.is_some() {
            self.on_wait_ended();
            // A hedge begins before anything failed, and counts apart.
            if let Some(previous) = self.frame.previous {
                self.record(|| Metric::RetryBegins(Attempted::after(previous)));
            }
        }
        if trace::spans_may_be_wanted() {
            self.open_span();
        }
    }

    #[cold]
    fn open_span(&self) {
        let frame = &self.frame;
        let begun = Begun {
            function: self.settings.name,
            place: self.settings.place,
            attempt: frame.present(),
            attempts: frame.attempts_allowed(),
            which: frame.which(),
        };
        let mut spans = self.take_spans().unwrap_or_default();
        if spans.begin(&begun) {
            frame.rest().noted().spans = spans;
        }
    }

    /// Enters the span of the attempt for one poll. It is left when the body is pending, or when the attempt ends.
    #[inline]
    pub(super) fn enter_span(&self) {
        if trace::spans_may_be_wanted() {
            let which = self.frame.which();
            self.enter(|spans| spans.attempt(which));
        }
    }

    /// Enters the span of an attempt, or that of the call for `before_retry`, or leaves it for no other.
    #[cold]
    pub(super) fn enter(&self, find: impl FnOnce(&Spans) -> Option<Arc<Span>>) {
        if let Some(rest) = self.frame.rest.get() {
            let span = find(&rest.noted().spans);
            let entered = span.map(Entered::new);
            let _left = mem::replace(&mut rest.noted().spans.entered, entered);
        }
    }

    /// The body of an attempt ends, which is one of two with a hedge beside it: counts it, and closes its span.
    pub(super) fn on_body_ended(&self, how: Attempted, words: Option<&dyn Display>) {
        let verdict = match how {
            Attempted::Failed(verdict) => Some(verdict),
            Attempted::NotReady => Some(Verdict::Transient),
            _ => None,
        };
        if let (Some(verdict), Some(own)) = (verdict, self.scope()) {
            own.seen().verdicts.push(verdict);
            #[cfg(feature = "testing")]
            own.seen().errors.extend(words.map(ToString::to_string));
        }
        self.record(|| Metric::Attempted(how));
        self.change_spans(|spans| spans.end_attempt(self.frame.which(), how, words));
    }

    /// Records a metric, if the call found a recorder when it began.
    fn record(&self, metric: impl FnOnce() -> Metric) {
        if self.waits.is_some() {
            metrics::record(self.settings.name, &metric());
        }
    }

    /// A wait begins. `failed` says which failure it follows, unless it is the pause of the budget.
    pub(super) fn on_wait_begun(
        &mut self,
        delay: Duration,
        now: Stamp,
        failed: Option<FailedWith<'_>>,
    ) {
        if let Some(own) = self.scope() {
            own.seen().delays.push(delay);
        }
        let event = |row| Event {
            failed,
            delay: Some(delay),
            ..row
        };
        if let Some(FailedWith { how, .. }) = failed {
            let answered = self.frame.noted().and_then(|noted| noted.waits.answered);
            let since = answered.or(self.frame.times.started).unwrap_or(now);
            if how == Attempted::NotReady {
                self.log(event(Event::NOT_READY));
                self.frame.rest().noted().waits.answered = Some(now);
            } else {
                self.log(event(Event::RETRYING));
                if self.frame.number() > 1 && now.since(since) >= Duration::from_secs(60) {
                    self.log(event(Event::STILL_FAILING));
                }
            }
        } else {
            self.log(event(Event::PAUSED));
        }
        // A pause may follow a wait.
        self.on_wait_ended();
        self.record(|| {
            let budget = self.budget().filter(|_| failed.is_some());
            Metric::WaitBegins(delay, budget.map(|budget| budget.level()))
        });
        self.waits = self.waits.map(|_| true);
    }

    /// The call ends: records it, and closes its spans.
    pub(super) fn on_call_ended(&mut self, outcome: Outcome) {
        self.on_wait_ended();
        self.record(|| Metric::Ended(self.report(outcome)));
        self.change_spans(|spans| spans.end(outcome));
    }

    /// The wait is over, if there was one.
    pub(super) fn on_wait_ended(&mut self) {
        if self.waits == Some(true) {
            self.waits = Some(false);
            self.record(|| Metric::WaitEnds);
        }
    }

    /// Gives the report to the listener of the process, to the outer listener, and to the test scope of the call.
    pub(super) fn give_report(&self, report: Report) {
        if let Some(listener) = OF_PROCESS.get() {
            notify(|| beside_body(|| listener(&report)));
        }
        listener(|listener| listener.record(report.clone()));
        if let Some(own) = self.scope() {
            own.log(report);
        }
    }

    pub(super) fn report(&self, outcome: Outcome) -> Report {
        let frame = &self.frame;
        let waited = frame.noted().map(|noted| noted.waits.waited);
        Report {
            function: self.settings.name,
            attempts: frame.number(),
            outcome,
            may_have_run: self.may_have_run(),
            elapsed: self.elapsed().unwrap_or_default(),
            waited: waited.unwrap_or_default(),
            verdict: match (frame.previous, outcome) {
                (
                    Some(PreviousFailure::TimedOut),
                    Outcome::Timeout | Outcome::Deadline | Outcome::InDoubt,
                ) => Some(self.verdict_of_cut()),
                (previous, _) => previous.map(PreviousFailure::verdict),
            },
            budget_level: self.budget().map(|budget| budget.level()),
            hedge: frame.hedge,
        }
    }

    /// Changes the spans, if there are any.
    fn change_spans(&self, change: impl FnOnce(&mut Spans)) {
        if let Some(mut spans) = self.take_spans() {
            change(&mut spans);
            self.frame.rest().noted().spans = spans;
        }
    }

    /// Takes the spans out, so that no lock is held while the subscriber is called.
    fn take_spans(&self) -> Option<Spans> {
        Some(mem::take(&mut self.frame.noted()?.spans))
    }
}
