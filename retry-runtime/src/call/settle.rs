//! Turns an attempt that ended into the result of the call, or into the instant of the next attempt. This part is
//! generic over the types of the function.
//!
//! ```text
//! call.when_ok(&ended, …);                     // with `when_ok`
//! call.until(&ended, …);                       // with `until`
//! call.unless(&ended, …);                      // with `unless`
//! call.retry_after(&ended, …);                 // with `retry_after`
//!
//! let at = match call.settle(ended, judge) {
//!     Ok(at) => at,
//!     Err(result) => return result,
//! };
//! ```
//!
//! `judge` returns the ruling about an error, the error in words, and whether the error is kept. Only errors that the
//! body returned are judged. With `on_retry`, or with a judge that captures, `decide` takes the place of `settle`.

use std::fmt::Display;
use std::time::Duration;

use super::after::FAILED_VALUE;
use super::limits::{Chooses, Keeps, LastError};
use super::{Call, Cut, Limits, Never, NextAttemptAt, StopReason};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::lookup::Failed;
use crate::result::{FromStopped, ResultLike};
use crate::stopped::{Outcome, Stopped};

/// A judge that captures nothing. Each closure has a type of its own, so code that takes a closure is compiled again for each
/// function. Code that takes a `SharedJudge` is compiled once for all functions with the same types: a function adds 1,050 lines of
/// LLVM IR to a program, and not 1,420.
type SharedJudge<E, M> = for<'e> fn(&'e Failed<'e, E>) -> (Ruling, &'e dyn Display, M);

impl<'p, C: Limits, K> Call<'p, C, K> {
    /// Decides what follows an attempt. Returns when the next attempt begins.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[expect(
        clippy::inline_always,
        reason = "inlined, the result of the attempt is moved once, and not into two more calls"
    )]
    #[inline(always)]
    pub fn settle<R, M, W>(
        &mut self,
        ended: Result<R, C>,
        judge: SharedJudge<R::Error, M>,
    ) -> Result<NextAttemptAt<'p>, R>
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        M: Keeps<C, R::Error, K> + Chooses<C, W>,
        K: LastError<R::Error>,
    {
        self.decide(ended, judge, |_| ())
    }

    /// The same, for a call with a judge that captures, or with `on_retry`, which is the `hook`.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[expect(clippy::inline_always, reason = "as for `settle`")]
    #[inline(always)]
    pub fn decide<R, M, W>(
        &mut self,
        ended: Result<R, C>,
        judge: impl for<'e> FnOnce(&'e Failed<'e, R::Error>) -> (Ruling, &'e dyn Display, M),
        hook: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) -> Result<NextAttemptAt<'p>, R>
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        M: Keeps<C, R::Error, K> + Chooses<C, W>,
        K: LastError<R::Error>,
    {
        let checks = self.checks.take();
        let unready = C::from(Cut::NotReady).filter(|_| checks.unready);
        let ended = match (ended, unready) {
            (Ok(_), Some(unready)) => Err(unready),
            (ended, _) => ended,
        };
        let (next, words) = match ended {
            Err(cut) => match self.state.cut(cut.into(), checks.vetoed) {
                Ok(at) => (at, Into::<Cut>::into(cut).as_str()),
                Err(reason) => return Err(self.stopped(cut, reason)),
            },
            Ok(result) => match result.into() {
                Ok(value) if !checks.failed_value => {
                    self.state.succeeded();
                    return Err(R::from(Ok(value)));
                }
                Ok(value) => match self.state.failed_value() {
                    Some(at) => (at, FAILED_VALUE),
                    None => return Err(R::from(Ok(value))),
                },
                Err(error) => {
                    let failed = Failed::new(&error);
                    let (ruling, words, keeps) = judge(&failed);
                    let ruling = ruling
                        .exactly(self.state.delay_said())
                        .unless(checks.vetoed);
                    let Some(at) = self.state.failed(ruling, words, true) else {
                        return Err(R::from(Err(error)));
                    };
                    self.call_on_retry(Ok(&error), hook);
                    self.kept = keeps.keep(error);
                    return Ok(at);
                }
            },
        };
        self.call_on_retry(Err(words), hook);
        Ok(next)
    }

    /// Takes what ended if it is one of two and failed, so that the call waits for the other. Otherwise returns it. `judge` is
    /// that of `decide`.
    pub fn set_aside<R: ResultLike, M: Keeps<C, R::Error, K>>(
        &mut self,
        ended: Result<R, C>,
        judge: impl for<'e> FnOnce(&'e Failed<'e, R::Error>) -> (Ruling, &'e dyn Display, M),
    ) -> Option<Result<R, C>> {
        let result = match ended {
            Ok(result) if self.state.frame.beside.get() => result,
            ended => return Some(ended),
        };
        let checks = self.checks.get();
        match result.into() {
            Ok(value) => {
                let failed = checks.failed_value || checks.unready;
                let aside = failed && self.state.set_value_aside();
                (!aside).then(|| Ok(R::from(Ok(value))))
            }
            Err(error) => {
                let failed = Failed::new(&error);
                let (ruling, words, keeps) = judge(&failed);
                let ruling = ruling
                    .exactly(self.state.delay_said())
                    .unless(checks.vetoed);
                if self.state.set_aside(ruling, words, true) {
                    self.kept = keeps.keep(error);
                    return None;
                }
                Some(Ok(R::from(Err(error))))
            }
        }
    }

    /// Calls `on_retry`, if there is one.
    #[inline]
    fn call_on_retry<E>(
        &self,
        failed: Result<&E, &'static str>,
        hook: impl FnOnce(&RetryEvent<'_, E>),
    ) {
        if self.state.settings.listens {
            hook(&self.state.event(failed));
        }
    }

    /// Asks `when_ok` whether an `Ok` means failure.
    #[inline]
    pub fn when_ok<R: ResultLike>(
        &self,
        ended: &Result<R, C>,
        means_failure: impl FnOnce(&R::Value) -> (bool, Option<Duration>),
    ) {
        let (failed_value, delay) = value(ended).map_or((false, None), means_failure);
        if failed_value {
            self.state.say_delay(delay);
        }
        self.checks.set(Checks {
            failed_value,
            ..self.checks.get()
        });
    }

    /// The same as `until`, for a run, which has none without limits.
    #[inline]
    pub(crate) fn if_ready<R: ResultLike>(
        &self,
        ended: &Result<R, C>,
        is_ready: impl FnOnce(&R::Value) -> (bool, Option<Duration>),
    ) {
        let unready = match value(ended).map(is_ready) {
            Some((false, delay)) => {
                self.state.say_delay(delay);
                true
            }
            _ => false,
        };
        self.checks.set(Checks {
            unready,
            ..self.checks.get()
        });
    }

    /// Asks `unless` about an error. After a timeout, asks it about the error that the caller would get.
    pub fn unless<R, W>(
        &self,
        ended: &Result<R, C>,
        veto: impl FnOnce(&Failed<'_, R::Error>) -> bool,
    ) where
        R: ResultLike,
        C: Stops<R::Error, W>,
    {
        let veto = |error: &_| veto(&Failed::new(error));
        let vetoed = match ended {
            Ok(result) => result.borrow().as_ref().err().is_some_and(veto),
            Err(cut) => {
                let stopped = self.stopped_by((*cut).into());
                stopped.is_some_and(|stopped| veto(&cut.error(stopped)))
            }
        };
        self.checks.set(Checks {
            vetoed,
            ..self.checks.get()
        });
    }

    /// Asks `retry_after` for the delay after an error, in the attempt that returned it.
    pub fn retry_after<R: ResultLike>(
        &self,
        ended: &Result<R, C>,
        delay: impl FnOnce(&R::Error) -> Option<Duration>,
    ) {
        let result = ended.as_ref().ok().filter(|_| !self.checks.get().vetoed);
        if let Some(error) = result.and_then(|result| result.borrow().as_ref().err()) {
            self.state.say_delay(self.state.frame.lend(|| delay(error)));
        }
    }

    /// Returns the result of a call that is cut between two attempts, or cancelled.
    pub fn cut_between<R, W>(&mut self, cut: C) -> R
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<R::Error>,
    {
        let reason = self.state.cut_between(cut.into());
        self.stopped(cut, reason)
    }

    /// Returns the result of a call that was stopped.
    #[cold]
    fn stopped<R, W>(&mut self, cut: C, reason: StopReason) -> R
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<R::Error>,
    {
        let error = |stopped| cut.error(stopped);
        R::from(Err(match self.kept.take() {
            Some(kept) => kept.make_error(reason, error),
            None => error(reason.stopped),
        }))
    }

    /// Returns the [`Stopped`] of a call that ends with this timeout. `None` for other cuts.
    pub(crate) fn stopped_by(&self, cut: Cut) -> Option<Stopped> {
        (cut == Cut::Timeout).then(|| self.state.stopped(Outcome::Timeout))
    }
}

impl<K> Call<'_, Cut, K> {
    /// Asks `until` whether an `Ok` is ready. One that is not is dropped, as if a limit had cut the attempt.
    #[inline]
    pub fn until<R: ResultLike>(
        &self,
        ended: &Result<R, Cut>,
        is_ready: impl FnOnce(&R::Value) -> (bool, Option<Duration>),
    ) {
        self.if_ready(ended, is_ready);
    }

    /// Returns the result of a call whose `cancel` future completed.
    pub fn cancelled<R, W>(&mut self) -> R
    where
        R: ResultLike<Error: FromStopped<W>>,
        K: LastError<R::Error>,
    {
        self.cut_between(Cut::Cancelled)
    }
}

/// How the error of a call that was stopped is made. A call without limits is never stopped.
pub trait Stops<E, W>: Limits {
    /// Makes the error.
    fn error(self, stopped: Stopped) -> E;
}

impl<E: FromStopped<W>, W> Stops<E, W> for Cut {
    fn error(self, stopped: Stopped) -> E {
        E::from_stopped(stopped)
    }
}

impl<E> Stops<E, ()> for Never {
    fn error(self, _stopped: Stopped) -> E {
        match self {}
    }
}

/// What `when_ok`, `until` and `unless` say about an attempt. They are asked before the ruling.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Checks {
    /// `when_ok` says that its `Ok` means failure.
    failed_value: bool,
    /// `until` says that its `Ok` is not ready.
    unready: bool,
    /// `unless` forbids another attempt.
    vetoed: bool,
}

/// Returns the value of an attempt that ended with `Ok`.
fn value<R: ResultLike, C>(ended: &Result<R, C>) -> Option<&R::Value> {
    ended.as_ref().ok()?.borrow().as_ref().ok()
}
