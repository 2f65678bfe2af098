//! What a call keeps, whatever the types of its function.

use std::time::Duration;

use super::Next;
use super::attempt::{Armed, Cut, Stage};
use super::decide::{self, Scheduled};
use super::memory::LastError;
use super::pause::Wait;
use crate::classify::Ruling;
use crate::clock::Stamp;
use crate::context::{Own, Seen, Track};
use crate::event::RetryEvent;
use crate::result::{FromStopped, ResultLike};
use crate::site::Settings;
use crate::{Outcome, Policy, Stopped, observe};

/// The part of a call that does not depend on the function's types: forty bytes of every future.
#[derive(Debug)]
pub(crate) struct Core<'p> {
    pub(super) settings: &'p Settings,
    /// The time of the call's first suspension or failure: what limits are counted from.
    pub(super) started: Option<Stamp>,
    /// Attempts begun, the current one included.
    pub(super) attempts: u32,
    /// The delay before the current attempt in seconds, which decorrelated jitter asks for. Negative
    /// before the first; a quarter of the size of an `Option<Duration>`.
    pub(super) delay: f32,
    /// How far the timer of the current attempt has come.
    pub(super) armed: Armed,
    /// What the body of an attempt sees of the call, and leaves for it.
    pub(super) track: Track,
}

impl<'p> Core<'p> {
    #[inline]
    pub(super) fn new(settings: &'p Settings) -> Self {
        Self {
            settings,
            started: None,
            attempts: 1,
            delay: -1.0,
            armed: Armed::not_yet(Stage::Attempt),
            track: Track::default(),
        }
    }

    #[inline]
    pub(super) fn settle_value<R: ResultLike>(
        &mut self,
        value: R::Value,
        failed: impl FnOnce(&R::Value) -> bool,
        on_retry: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) -> Next<R> {
        if failed(&value) {
            let explain = || "an `Ok` that means failure".to_owned();
            return match self.after_error(Ruling::failed_value(), &explain) {
                Ok(scheduled) => {
                    on_retry(&self.event(&scheduled, None));
                    Next::Retry(scheduled.wait)
                }
                Err(_) => Next::Return(R::from_value(value)),
            };
        }
        if self.attempts > 1 {
            self.succeeded_after_retry();
        } else if let Some(budget) = self.settings.budget() {
            budget.succeed(None);
        }
        Next::Return(R::from_value(value))
    }

    #[cold]
    pub(super) fn settle_error<E>(
        &mut self,
        error: &E,
        classify: impl FnOnce(&E) -> Ruling,
        explain: impl Fn(&E) -> String,
        on_retry: impl FnOnce(&RetryEvent<'_, E>),
    ) -> Result<Wait, Outcome> {
        let scheduled = self.after_error(classify(error), &|| explain(error))?;
        on_retry(&self.event(&scheduled, Some(error)));
        Ok(scheduled.wait)
    }

    /// The error of a call that was cut: the last real one where the cut fell between two attempts,
    /// else a [`Stopped`] whose cause it is.
    #[cold]
    pub(super) fn error<E: FromStopped<M>, M>(
        &self,
        cut: Cut,
        outcome: Outcome,
        memory: &mut impl LastError<E>,
    ) -> E {
        match (cut, memory.recall()) {
            (Cut::Late | Cut::Forestalled, Some(error)) => error,
            (_, last) => {
                let source = last.and_then(|error| memory.as_source(error));
                E::from_stopped(self.stopped(outcome, source))
            }
        }
    }

    pub(super) fn event<'a, E>(
        &self,
        scheduled: &Scheduled,
        error: Option<&'a E>,
    ) -> RetryEvent<'a, E> {
        RetryEvent {
            function: self.settings.name(),
            attempt: self.attempts,
            attempts: self.policy().attempts(),
            verdict: scheduled.verdict,
            delay: scheduled.wait.delay,
            elapsed: self.elapsed(),
            error,
        }
    }

    #[cold]
    pub(super) fn succeeded_after_retry(&self) {
        if let Some(budget) = self.settings.budget() {
            budget.succeed(self.track.previous().map(decide::charge));
        }
        observe::succeeded_after_retry(self.settings.name(), self.attempts, self.elapsed());
    }

    pub(super) fn policy(&self) -> &Policy {
        self.settings.policy()
    }

    /// What the body of the current attempt sees.
    #[inline]
    pub(super) fn seen(&self, limits: Option<Own>) -> Seen {
        Seen {
            number: self.attempts,
            kind: self.settings.kind(),
            limits,
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        let since = |started| Stamp::now().since(started);
        self.started.map_or(Duration::ZERO, since)
    }

    /// The delay before the current attempt, too short by less than a millionth.
    pub(super) fn previous_delay(&self) -> Option<Duration> {
        Duration::try_from_secs_f32(self.delay).ok()
    }

    pub(super) fn remember_delay(&mut self, delay: Duration) {
        // Rounded down, so that the next one is never longer than it should be.
        self.delay = delay.as_secs_f32() * (1.0 - f32::EPSILON);
    }

    pub(super) fn stopped(
        &self,
        outcome: Outcome,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Stopped {
        let limit = match outcome {
            Outcome::Timeout => self.policy().timeout(),
            // One that was inherited has no length of its own.
            Outcome::Deadline => self
                .policy()
                .deadline()
                .filter(|own| self.elapsed() >= *own),
            _ => None,
        };
        Stopped {
            outcome,
            attempts: self.attempts,
            elapsed: self.elapsed(),
            limit,
            source,
        }
    }
}
