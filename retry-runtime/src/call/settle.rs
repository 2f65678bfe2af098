//! Turns an attempt that ended into the result of the call, or into the instant of the next attempt. This part is
//! generic over the types of the function.
//!
//! ```text
//! let ended = call.when_ok(ended, …);          // with `when_ok`
//! let ended = call.until(ended, …);            // with `until`
//! let ended = call.unless(ended, …);           // with `unless` or `not_on`
//! let ended = call.retry_after(ended, …);      // with `retry_after`
//!
//! let until = match call.settle(ended, judge) {
//!     Ok(until) => until,
//!     Err(result) => return result,
//! };
//!
//! let until = match call.decide(ended, judge) {   // the same, with `on_retry`, or with a judge that captures
//!     Ok(next) => call.tell(next, hook),          // or `call.keep(next)`
//!     Err(result) => return result,
//! };
//! ```
//!
//! `judge` returns the ruling about an error, the error in words, and whether the error is kept. Only errors that the
//! body returned are judged.

#![expect(
    clippy::inline_always,
    reason = "left to rustc, a call with limits that is ready at once takes 193 instructions in place of 160"
)]

use std::fmt::Display;
use std::time::Duration;

use super::kept_error::{Chooses, Keeps, LastError};
use super::{Call, Cut, Cuts, Ended, Ending, Never, Until};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::lookup::Failed;
use crate::result::{ErrorOf, FromStopped, ResultLike};
use crate::stopped::{Outcome, Stopped};

/// The next attempt.
#[derive(Debug)]
pub struct Next<E, M> {
    until: Until,
    /// The error of the last attempt, and whether it is kept.
    error: Option<(E, M)>,
}

/// A judge that captures nothing. Each closure has a type of its own, so code that takes a closure is compiled again for each
/// function. Code that takes a `SharedJudge` is compiled once for all functions with the same types: a function adds 1,050 lines of
/// LLVM IR to a program, and not 1,420.
type SharedJudge<E, M> = for<'e> fn(&'e Failed<'e, E>) -> (Ruling, &'e dyn Display, M);

impl<E, M> Next<E, M> {
    /// Returns the error of the last attempt.
    fn error(&self) -> Option<&E> {
        self.error.as_ref().map(|(error, _)| error)
    }
}

impl<C: Cuts, K> Call<'_, C, K> {
    /// Decides what follows an attempt. Returns when the next attempt begins.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline(always)]
    pub fn settle<A, M, W>(
        &mut self,
        ended: A,
        judge: SharedJudge<ErrorOf<A::Result>, M>,
    ) -> Result<Until, A::Result>
    where
        A: Checks<Cut = C, Result: ResultLike>,
        C: Stops<ErrorOf<A::Result>, W>,
        M: Keeps<C, ErrorOf<A::Result>, K> + Chooses<C, W>,
        K: LastError<ErrorOf<A::Result>>,
    {
        self.follow(ended, judge, |kept, (error, _)| {
            *kept = M::keep(error);
        })
    }

    /// Decides what follows an attempt, for a call with `on_retry`.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline]
    pub fn decide<A, M, W>(
        &mut self,
        ended: A,
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Display, M),
    ) -> Result<Next<ErrorOf<A::Result>, M>, A::Result>
    where
        A: Checks<Cut = C, Result: ResultLike>,
        C: Stops<ErrorOf<A::Result>, W>,
        M: Chooses<C, W>,
        K: LastError<ErrorOf<A::Result>>,
    {
        let mut error = None;
        let until = self.follow(ended, judge, |_, last| error = Some(last))?;
        Ok(Next { until, error })
    }

    /// Calls `on_retry`, keeps the error of the last attempt, and returns when the next attempt begins.
    pub fn tell<E, M: Keeps<C, E, K>>(
        &mut self,
        next: Next<E, M>,
        hook: impl FnOnce(&RetryEvent<'_, E>),
    ) -> Until {
        hook(&self.state.event(next.error()));
        self.keep(next)
    }

    /// Keeps the error of the last attempt, if it is one to keep, and returns when the next attempt begins.
    #[inline]
    pub fn keep<E, M: Keeps<C, E, K>>(&mut self, next: Next<E, M>) -> Until {
        if let Some((error, _)) = next.error {
            *self.kept = M::keep(error);
        }
        next.until
    }

    /// Asks `when_ok` whether an `Ok` means failure.
    #[inline]
    pub fn when_ok<R: ResultLike>(
        &self,
        ended: Ended<R, C>,
        means_failure: impl FnOnce(&R::Value) -> bool,
    ) -> Checked<R, C> {
        let value = ended.result().and_then(Result::ok);
        let check = if value.is_some_and(means_failure) {
            Check::FailedValue
        } else {
            Check::Passed
        };
        Checked {
            ended,
            check,
            after: None,
        }
    }

    /// Asks `unless` and `not_on` about an error. After a timeout, asks them about the error that the caller would get.
    pub fn unless<A, W>(
        &self,
        ended: A,
        veto: impl FnOnce(&Failed<'_, ErrorOf<A::Result>>) -> bool,
    ) -> Checked<A::Result, C>
    where
        A: Checks<Cut = C, Result: ResultLike>,
        C: Stops<ErrorOf<A::Result>, W>,
    {
        let mut checked = ended.checked();
        let veto = |error: &_| veto(&Failed::new(error, false));
        let vetoed = match &checked.ended {
            Ended::Returned(result) => result.as_result().err().is_some_and(veto),
            Ended::Cut(cut) => {
                let stopped = self.stopped_by((*cut).into());
                stopped.is_some_and(|stopped| veto(&cut.error(stopped)))
            }
        };
        if vetoed {
            checked.check = Check::Vetoed;
        }
        checked
    }

    /// Asks `retry_after` for the delay after an error, in the attempt that returned it.
    pub fn retry_after<A: Checks<Result: ResultLike>>(
        &self,
        ended: A,
        delay: impl FnOnce(&ErrorOf<A::Result>) -> Option<Duration>,
    ) -> Checked<A::Result, A::Cut> {
        let checked = ended.checked();
        let error = checked.ended.result().and_then(Result::err);
        let after = match error {
            Some(error) if checked.check != Check::Vetoed => {
                self.state.frame.lend_present(|| delay(error))
            }
            _ => None,
        };
        Checked { after, ..checked }
    }

    /// Returns the result of a call that is cut between two attempts, or cancelled.
    pub fn cut_between<R, W>(&mut self, cut: C) -> R
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<R::Error>,
    {
        let ending = self.state.cut_between(cut.into());
        self.stopped(cut, ending)
    }

    /// Follows an attempt. `keep` gets the error of a failure that is retried.
    #[inline(always)]
    fn follow<A, M, W>(
        &mut self,
        ended: A,
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Display, M),
        keep: impl FnOnce(&mut Option<K>, (ErrorOf<A::Result>, M)),
    ) -> Result<Until, A::Result>
    where
        A: Checks<Cut = C, Result: ResultLike>,
        C: Stops<ErrorOf<A::Result>, W>,
        K: LastError<ErrorOf<A::Result>>,
    {
        let Checked {
            ended,
            check,
            after,
        } = ended.checked();
        let result = match ended {
            Ended::Returned(result) => result,
            Ended::Cut(cut) => {
                let next = self.state.cut(cut.into(), check == Check::Vetoed);
                return next.map_err(|ending| self.stopped(cut, ending));
            }
        };
        match result.into_result() {
            Ok(value) => {
                if check != Check::FailedValue {
                    self.state.succeeded();
                } else if let Some(until) = self.state.failed_value() {
                    return Ok(until);
                }
                Err(ResultLike::from_value(value))
            }
            Err(error) => {
                let failed = Failed::new(&error, check == Check::Vetoed);
                let (ruling, words, keeps) = judge(&failed);
                match self.state.failed(ruling.exactly(after), words, true) {
                    Some(until) => {
                        keep(&mut self.kept, (error, keeps));
                        Ok(until)
                    }
                    None => Err(ResultLike::from_error(error)),
                }
            }
        }
    }

    /// Returns the result of a call that was stopped.
    #[cold]
    fn stopped<R, W>(&mut self, cut: C, ending: Ending) -> R
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<R::Error>,
    {
        let error = |stopped| cut.error(stopped);
        R::from_error(match self.kept.take() {
            Some(kept) => kept.make_error(ending, error),
            None => error(ending.stopped),
        })
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
        ended: Ended<R, Cut>,
        is_ready: impl FnOnce(&R::Value) -> bool,
    ) -> Ended<R, Cut> {
        if ended.result().and_then(Result::ok).is_none_or(is_ready) {
            ended
        } else {
            Ended::Cut(Cut::NotReady)
        }
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
pub trait Stops<E, W>: Cuts {
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

impl<R: ResultLike, C> Ended<R, C> {
    /// Returns what the body returned, or `None` if the attempt was cut.
    #[inline]
    fn result(&self) -> Option<Result<&R::Value, &R::Error>> {
        match self {
            Self::Returned(result) => Some(result.as_result()),
            Self::Cut(_) => None,
        }
    }
}

/// An attempt that ended, and what `when_ok`, `unless`, `not_on` and `retry_after` say about it. They are asked before the ruling.
#[derive(Debug)]
pub struct Checked<R, C> {
    ended: Ended<R, C>,
    check: Check,
    /// The delay that `retry_after` says.
    after: Option<Duration>,
}

/// What the rules before the ruling say about an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Nothing.
    Passed,
    /// `when_ok` says that its `Ok` means failure.
    FailedValue,
    /// `unless` or `not_on` forbids another attempt.
    Vetoed,
}

/// An attempt that ended, with or without a check.
pub trait Checks {
    /// The type that the body returns.
    type Result;
    /// The type of a cut: `Cut`, or `Never` without limits.
    type Cut;

    /// Adds a check that passed, if there is none.
    fn checked(self) -> Checked<Self::Result, Self::Cut>;
}

impl<R, C> Checks for Ended<R, C> {
    type Result = R;
    type Cut = C;

    #[inline]
    fn checked(self) -> Checked<R, C> {
        Checked {
            ended: self,
            check: Check::Passed,
            after: None,
        }
    }
}

impl<R, C> Checks for Checked<R, C> {
    type Result = R;
    type Cut = C;

    #[inline]
    fn checked(self) -> Self {
        self
    }
}
