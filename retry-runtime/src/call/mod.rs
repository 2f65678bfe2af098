//! The state machine of one call: attempt, verdict, wait. The only place that touches timers.
//!
//! Generated code holds a [`Call`] and turns in a loop:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;       // attempt.rs
//!     let wait = match call.settle(ended, …) {              // here, and decide.rs
//!         Next::Return(result) => break result,
//!         Next::Retry(wait) => wait,
//!     };
//!     let waited = wait.pause().await;                      // pause.rs
//!     call.proceed(waited);
//! }
//! ```
//!
//! The happy path is inline and reads no clock. All that follows a failure is `#[cold]` and, where it
//! can be, not generic: it exists once, however many functions are annotated.

mod attempt;
mod cancel;
mod decide;
pub mod drive;
mod memory;
mod pause;

pub use self::attempt::{Cut, Limited, Preparation, Unlimited};
pub use self::cancel::{Unless, unless};
pub use self::memory::{Forgetful, Forgets, LastError, Memory, Remembers};
pub use self::pause::{Wait, Waited};

use std::time::Duration;

use self::attempt::{Armed, Stage};
use self::decide::Scheduled;
use crate::classify::Ruling;
use crate::clock::Stamp;
use crate::context::{Own, Seen, Track};
use crate::event::RetryEvent;
use crate::result::{FromStopped, Prepared, ResultLike};
use crate::site::{Settings, Site};
use crate::{Outcome, Policy, Stopped, observe};

/// One call of an annotated function.
#[derive(Debug)]
pub struct Call<'p, const LIMITED: bool> {
    core: Core<'p>,
}

/// What to do after an attempt.
#[derive(Debug)]
#[must_use]
pub enum Next<R> {
    /// The call is over, with this result.
    Return(R),
    /// Another attempt, after this wait.
    Retry(Wait),
}

/// The part of a call that does not depend on the function's types: forty bytes of every future.
#[derive(Debug)]
pub(crate) struct Core<'p> {
    settings: &'p Settings,
    /// The time of the call's first suspension or failure: what limits are counted from.
    started: Option<Stamp>,
    /// Attempts begun, the current one included.
    attempts: u32,
    /// The delay before the current attempt in seconds, which decorrelated jitter asks for. Negative
    /// before the first; a quarter of the size of an `Option<Duration>`.
    delay: f32,
    /// How far the timer of the current attempt has come.
    armed: Armed,
    /// What the body of an attempt sees of the call, and leaves for it.
    track: Track,
}

impl<'p, const LIMITED: bool> Call<'p, LIMITED> {
    /// Begins a call with the function's own settings.
    #[inline]
    #[must_use]
    pub fn begin(site: &'p Site<LIMITED>) -> Self {
        Self::begin_with(site, site.settings())
    }

    /// Begins a call with settings made for it.
    #[inline]
    #[must_use]
    pub fn begin_with(_site: &Site<LIMITED>, settings: &'p Settings) -> Self {
        Self {
            core: Core {
                settings,
                started: None,
                attempts: 0,
                delay: -1.0,
                armed: Armed::not_yet(Stage::Attempt),
                track: Track::default(),
            },
        }
    }

    /// Gives the place in which an error is kept that a later attempt may need as the cause of a [`Stopped`].
    #[inline]
    #[must_use]
    pub fn memory<E>(&self) -> Memory<E, LIMITED> {
        Memory::new()
    }
}

impl<'p> Call<'p, false> {
    /// Makes an attempt that nothing cuts.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Unlimited<'_, 'p, F> {
        self.core.begin_attempt();
        Unlimited::new(&mut self.core, body)
    }

    /// Says what follows an attempt.
    ///
    /// `failed` says whether an `Ok` means failure, `classify` rules on an error, `explain` puts it
    /// into words, and `on_retry` is told before a wait.
    #[inline]
    pub fn settle<R: ResultLike>(
        &mut self,
        ended: R,
        _memory: &mut impl LastError<R::Error>,
        failed: impl FnOnce(&R::Value) -> bool,
        classify: impl FnOnce(&R::Error) -> Ruling,
        explain: impl Fn(&R::Error) -> String,
        on_retry: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) -> Next<R> {
        match ended.into_result() {
            Ok(value) => self.core.settle_value(value, failed, on_retry),
            Err(error) => match self.core.settle_error(&error, classify, explain, on_retry) {
                Ok(wait) => Next::Retry(wait),
                Err(_) => Next::Return(R::from_error(error)),
            },
        }
    }

    /// Turns from the wait to the next attempt.
    #[inline]
    pub fn proceed(&mut self, waited: Waited) {
        self.core.proceed(waited, false);
    }

    /// Runs what goes before a retry.
    #[inline]
    pub fn prepare<F: Future>(&mut self, preparation: F) -> Preparation<'_, 'p, F> {
        Preparation::new(&mut self.core, preparation)
    }

    /// Says whether the call ends after what went before a retry.
    #[inline]
    pub fn settle_prepared<R: ResultLike>(
        &mut self,
        prepared: impl Prepared<R::Error>,
        _memory: &mut impl LastError<R::Error>,
    ) -> Option<R> {
        let error = prepared.into_error();
        self.core.prepared(error.is_some());
        error.map(R::from_error)
    }
}

impl<'p> Call<'p, true> {
    /// Makes an attempt that the timeout and the deadline cut.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Limited<'_, 'p, F> {
        self.core.begin_limited_attempt();
        Limited::new(&mut self.core, body)
    }

    /// Says what follows an attempt: see above.
    #[inline]
    pub fn settle<R: ResultLike, M>(
        &mut self,
        ended: Result<R, Cut>,
        memory: &mut impl LastError<R::Error>,
        failed: impl FnOnce(&R::Value) -> bool,
        classify: impl FnOnce(&R::Error) -> Ruling,
        explain: impl Fn(&R::Error) -> String,
        on_retry: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) -> Next<R>
    where
        R::Error: FromStopped<M>,
    {
        match ended.map(ResultLike::into_result) {
            Ok(Ok(value)) => self.core.settle_value(value, failed, on_retry),
            Ok(Err(error)) => match self.core.settle_error(&error, classify, explain, on_retry) {
                Ok(wait) => {
                    memory.keep(error);
                    Next::Retry(wait)
                }
                Err(_) => Next::Return(R::from_error(error)),
            },
            Err(cut) => match self.core.after_cut(cut) {
                Ok(scheduled) => {
                    on_retry(&self.core.event(&scheduled, None));
                    Next::Retry(scheduled.wait)
                }
                Err(outcome) => Next::Return(R::from_error(self.core.error(cut, outcome, memory))),
            },
        }
    }

    /// Turns from the wait to the next attempt, unless the deadline is reached.
    #[inline]
    pub fn proceed(&mut self, waited: Waited) {
        let late = self.core.is_late();
        self.core.proceed(waited, late);
    }

    /// Gives the result of a call whose wait was cut.
    #[cold]
    pub fn cut_short<R: ResultLike, M>(
        &mut self,
        cut: Cut,
        memory: &mut impl LastError<R::Error>,
    ) -> R
    where
        R::Error: FromStopped<M>,
    {
        let outcome = self.core.after_interlude(cut);
        R::from_error(self.core.error(Cut::Late, outcome, memory))
    }

    /// Runs what goes before a retry, within the deadline.
    #[inline]
    pub fn prepare<F: Future>(&mut self, preparation: F) -> Limited<'_, 'p, F> {
        self.core.begin_preparation();
        Limited::new(&mut self.core, preparation)
    }

    /// Says whether the call ends after what went before a retry.
    #[inline]
    pub fn settle_prepared<R: ResultLike, M>(
        &mut self,
        prepared: Result<impl Prepared<R::Error>, Cut>,
        memory: &mut impl LastError<R::Error>,
    ) -> Option<R>
    where
        R::Error: FromStopped<M>,
    {
        match prepared {
            Ok(prepared) => {
                let error = prepared.into_error();
                self.core.prepared(error.is_some());
                error.map(R::from_error)
            }
            Err(Cut::Cancelled | Cut::Forestalled) => Some(self.cut_short(Cut::Cancelled, memory)),
            Err(cut) => {
                let outcome = self.core.after_interlude(cut);
                Some(R::from_error(self.core.error(cut, outcome, memory)))
            }
        }
    }
}

impl Core<'_> {
    #[inline]
    fn settle_value<R: ResultLike>(
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
        if let Some(budget) = self.settings.budget() {
            budget.succeed(self.track.previous().map(decide::charge));
        }
        if self.attempts > 1 {
            self.succeeded_after_retry();
        }
        Next::Return(R::from_value(value))
    }

    #[cold]
    fn settle_error<E>(
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
    fn error<E: FromStopped<M>, M>(
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

    fn event<'a, E>(&self, scheduled: &Scheduled, error: Option<&'a E>) -> RetryEvent<'a, E> {
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
    fn succeeded_after_retry(&self) {
        observe::succeeded_after_retry(self.settings.name(), self.attempts, self.elapsed());
    }

    fn policy(&self) -> &Policy {
        self.settings.policy()
    }

    /// What the body of the current attempt sees.
    #[inline]
    fn seen(&self, limits: Option<Own>) -> Seen {
        Seen {
            number: self.attempts,
            attempts: self.policy().attempts().unwrap_or(u32::MAX),
            nested: self.settings.nested(),
            limits,
        }
    }

    fn elapsed(&self) -> Duration {
        let since = |started| Stamp::now().since(started);
        self.started.map_or(Duration::ZERO, since)
    }

    /// The delay before the current attempt, too short by less than a millionth.
    fn previous_delay(&self) -> Option<Duration> {
        Duration::try_from_secs_f32(self.delay).ok()
    }

    fn remember_delay(&mut self, delay: Duration) {
        // Rounded down, so that the next one is never longer than it should be.
        self.delay = delay.as_secs_f32() * (1.0 - f32::EPSILON);
    }

    fn stopped(
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
