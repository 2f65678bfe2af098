//! The state machine of one call: attempt, verdict, wait. The only place that touches timers.
//!
//! Generated code holds a [`Call`] and turns in a loop:
//!
//! ```text
//! loop {
//!     let ended = call.attempt(async { BODY }).await;       // attempt.rs
//!     let wait = match call.settle(ended, …) {              // here, and decide.rs
//!         Next::Return(result) => return result,
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
mod state;
#[cfg(test)]
mod tests;
mod unconstrained;

pub use self::attempt::{Cut, Limited, Preparation, Unlimited};
pub use self::cancel::{Unless, unless};
pub use self::memory::{Forgetful, Forgets, LastError, Memory, Remembers};
pub use self::pause::{Wait, Waited};

use self::state::Core;
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::result::{FromStopped, Prepared, ResultLike};
use crate::site::{Settings, Site};

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
            core: Core::new(settings),
        }
    }

    /// Gives the place for an error that a later attempt may need as the cause of a
    /// [`Stopped`](crate::Stopped).
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
