//! The state machine of one call: attempt, verdict, wait. The only place that touches timers.
//!
//! Generated code holds a [`Call`] and turns in a loop:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;       // attempt.rs
//!     let wait = match call.settle(ended, …) {              // this file, decide.rs
//!         Next::Return(result) => break result,
//!         Next::Retry(wait) => wait,
//!     };
//!     wait.pause().await;                                   // pause.rs
//! }
//! ```
//!
//! The happy path is inline and reads no clock. All that follows a failure is `#[cold]` and, where it
//! can be, not generic: it exists once, however many functions are annotated.

mod attempt;
mod decide;
mod memory;
mod pause;

pub use self::attempt::{Cut, Limited, Unlimited};
pub use self::decide::Wait;
pub use self::memory::{Forgetful, Forgets, LastError, Memory, Remembers};

use std::time::Duration;

use tokio::time::Instant;

use crate::classify::Ruling;
use crate::result::{FromStopped, ResultLike};
use crate::{Outcome, Policy, Site, Stopped, observe};

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

/// The part of a call that does not depend on the function's types.
#[derive(Debug)]
pub(crate) struct Core<'p> {
    name: &'static str,
    policy: &'p Policy,
    /// Attempts begun, the current one included.
    attempts: u32,
    /// Whether the last wait ended after the deadline, so that no attempt may begin.
    late: bool,
    /// The time of the call's first suspension or failure: what limits are counted from.
    started: Option<Instant>,
    /// The time of the current attempt's first suspension: what its timeout is counted from.
    suspended: Option<Instant>,
    /// The delay before the current attempt, which decorrelated jitter asks for.
    delay: Option<Duration>,
}

impl<'p, const LIMITED: bool> Call<'p, LIMITED> {
    /// Begins a call with the function's own policy.
    #[inline]
    #[must_use]
    pub fn begin(site: &'p Site<LIMITED>) -> Self {
        Self::begin_with(site, site.policy())
    }

    /// Begins a call with a policy made for it.
    #[inline]
    #[must_use]
    pub fn begin_with(site: &Site<LIMITED>, policy: &'p Policy) -> Self {
        Self {
            core: Core {
                name: site.name(),
                policy,
                attempts: 0,
                late: false,
                started: None,
                suspended: None,
                delay: None,
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

impl Call<'_, false> {
    /// Makes an attempt that nothing cuts.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Unlimited<F> {
        self.core.begin_attempt();
        Unlimited::new(body)
    }

    /// Says what follows an attempt.
    #[inline]
    pub fn settle<R: ResultLike>(
        &mut self,
        ended: R,
        memory: &mut impl LastError<R::Error>,
        classify: impl FnOnce(&R::Error) -> Ruling,
    ) -> Next<R> {
        self.settle_checked(ended, memory, |_| false, classify)
    }

    /// The same, where an `Ok` may mean failure.
    #[inline]
    pub fn settle_checked<R: ResultLike>(
        &mut self,
        ended: R,
        _memory: &mut impl LastError<R::Error>,
        failed: impl FnOnce(&R::Value) -> bool,
        classify: impl FnOnce(&R::Error) -> Ruling,
    ) -> Next<R> {
        match ended.into_result() {
            Ok(value) => self.core.settle_value(value, failed),
            Err(error) => match self.core.after_error(classify(&error)) {
                Ok(wait) => Next::Retry(wait),
                Err(_) => Next::Return(R::from_error(error)),
            },
        }
    }
}

impl<'p> Call<'p, true> {
    /// Makes an attempt that the timeout and the deadline cut.
    #[inline]
    pub fn attempt<F: Future>(&mut self, body: F) -> Limited<'_, 'p, F> {
        self.core.begin_limited_attempt();
        Limited::new(&mut self.core, body)
    }

    /// Says what follows an attempt.
    #[inline]
    pub fn settle<R: ResultLike, M>(
        &mut self,
        ended: Result<R, Cut>,
        memory: &mut impl LastError<R::Error>,
        classify: impl FnOnce(&R::Error) -> Ruling,
    ) -> Next<R>
    where
        R::Error: FromStopped<M>,
    {
        self.settle_checked(ended, memory, |_| false, classify)
    }

    /// The same, where an `Ok` may mean failure.
    #[inline]
    pub fn settle_checked<R: ResultLike, M>(
        &mut self,
        ended: Result<R, Cut>,
        memory: &mut impl LastError<R::Error>,
        failed: impl FnOnce(&R::Value) -> bool,
        classify: impl FnOnce(&R::Error) -> Ruling,
    ) -> Next<R>
    where
        R::Error: FromStopped<M>,
    {
        match ended.map(ResultLike::into_result) {
            Ok(Ok(value)) => self.core.settle_value(value, failed),
            Ok(Err(error)) => match self.core.after_error(classify(&error)) {
                Ok(wait) => {
                    memory.keep(error);
                    Next::Retry(wait)
                }
                Err(_) => Next::Return(R::from_error(error)),
            },
            Err(cut) => match self.core.after_cut(cut) {
                Ok(wait) => Next::Retry(wait),
                Err(outcome) => {
                    // Stopped between two attempts: the error of the one before is the last real one.
                    let error = match (cut, memory.recall()) {
                        (Cut::Late, Some(error)) => error,
                        (_, last) => {
                            let source = last.and_then(|error| memory.as_source(error));
                            R::Error::from_stopped(self.core.stopped(outcome, source))
                        }
                    };
                    Next::Return(R::from_error(error))
                }
            },
        }
    }
}

impl Core<'_> {
    #[inline]
    fn settle_value<R: ResultLike>(
        &mut self,
        value: R::Value,
        failed: impl FnOnce(&R::Value) -> bool,
    ) -> Next<R> {
        if failed(&value) {
            return match self.after_error(Ruling::failed_value()) {
                Ok(wait) => Next::Retry(wait),
                Err(_) => Next::Return(R::from_value(value)),
            };
        }
        if self.attempts > 1 {
            self.succeeded_after_retry();
        }
        Next::Return(R::from_value(value))
    }

    #[cold]
    fn succeeded_after_retry(&self) {
        observe::succeeded_after_retry(self.name, self.attempts, self.elapsed());
    }

    fn elapsed(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |started| started.elapsed())
    }

    fn stopped(
        &self,
        outcome: Outcome,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Stopped {
        let limit = match outcome {
            Outcome::Timeout => self.policy.timeout(),
            Outcome::Deadline => self.policy.deadline(),
            _ => None,
        };
        Stopped { outcome, attempts: self.attempts, elapsed: self.elapsed(), limit, source }
    }
}
