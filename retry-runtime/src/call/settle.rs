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

use std::time::Duration;

use super::kept_error::{Keeps, LastError};
use super::{Call, Cut, Cuts, Ended, Ending, Never, Until};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::lookup::Failed;
use crate::result::{ErrorOf, FromStopped, ResultLike};
use crate::stopped::Outcome;
use crate::trace::Words;

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
type SharedJudge<E, M> = for<'e> fn(&'e Failed<'e, E>) -> (Ruling, &'e dyn Words, M);

impl<E, M> Next<E, M> {
    /// Returns the error of the last attempt.
    fn error(&self) -> Option<&E> {
        self.error.as_ref().map(|(error, _)| error)
    }
}

impl Call<'_, Never> {
    /// Decides what follows an attempt. Returns when the next attempt begins.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline(always)]
    pub fn settle<A, M>(
        &mut self,
        ended: A,
        judge: SharedJudge<ErrorOf<A::Result>, M>,
    ) -> Result<Until, A::Result>
    where
        A: Checks<Cut = Never, Result: ResultLike>,
    {
        let Checked {
            ended: Ended::Returned(result),
            check,
            after,
        } = ended.checked();
        self.returned(result, check, after, judge, |_, _| ())
    }

    /// Decides what follows an attempt, for a call with `on_retry`.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline]
    pub fn decide<A, M>(
        &mut self,
        ended: A,
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Words, M),
    ) -> Result<Next<ErrorOf<A::Result>, M>, A::Result>
    where
        A: Checks<Cut = Never, Result: ResultLike>,
    {
        let Checked {
            ended: Ended::Returned(result),
            check,
            after,
        } = ended.checked();
        let mut error = None;
        let until = self.returned(result, check, after, judge, |_, last| error = Some(last))?;
        Ok(Next { until, error })
    }

    /// Drops the error of the last attempt, and returns when the next attempt begins.
    #[inline]
    pub fn keep<E, M>(&self, next: Next<E, M>) -> Until {
        drop(next.error);
        next.until
    }

    /// Calls `on_retry`, and returns when the next attempt begins.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the error is dropped before the wait"
    )]
    pub fn tell<E, M>(&self, next: Next<E, M>, hook: impl FnOnce(&RetryEvent<'_, E>)) -> Until {
        hook(&self.event(next.error()));
        next.until
    }

    /// Never called: nothing cuts a function without limits.
    pub fn cut_between<R>(&self, cut: Never) -> R {
        match cut {}
    }

    /// Asks `unless` and `not_on` about an error.
    pub fn unless<A: Checks<Result: ResultLike>>(
        &self,
        ended: A,
        veto: impl FnOnce(&Failed<'_, ErrorOf<A::Result>>) -> bool,
    ) -> Checked<A::Result, A::Cut> {
        ended.checked().vetoed_if(veto)
    }
}

impl<K> Call<'_, Cut, K> {
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
        A: Checks<Cut = Cut, Result: ResultLike<Error: FromStopped<W>>>,
        M: Keeps<ErrorOf<A::Result>, Kept = K>,
        K: LastError<ErrorOf<A::Result>>,
    {
        let Checked {
            ended,
            check,
            after,
        } = ended.checked();
        match ended {
            Ended::Returned(result) => {
                self.returned(result, check, after, judge, |kept, (error, _)| {
                    *kept = M::keep(error);
                })
            }
            Ended::Cut(cut) => self.cut_off(cut, check),
        }
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
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Words, M),
    ) -> Result<Next<ErrorOf<A::Result>, M>, A::Result>
    where
        A: Checks<Cut = Cut, Result: ResultLike<Error: FromStopped<W>>>,
        K: LastError<ErrorOf<A::Result>>,
    {
        let Checked {
            ended,
            check,
            after,
        } = ended.checked();
        let mut error = None;
        let until = match ended {
            Ended::Returned(result) => {
                self.returned(result, check, after, judge, |_, last| error = Some(last))?
            }
            Ended::Cut(cut) => self.cut_off(cut, check)?,
        };
        Ok(Next { until, error })
    }

    /// Calls `on_retry`, keeps the error of the last attempt, and returns when the next attempt begins.
    pub fn tell<E, M: Keeps<E, Kept = K>>(
        &mut self,
        next: Next<E, M>,
        hook: impl FnOnce(&RetryEvent<'_, E>),
    ) -> Until {
        hook(&self.event(next.error()));
        self.keep(next)
    }

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
        let ending = self.state.cancelled();
        self.stopped(ending)
    }

    /// Returns the result of a call whose deadline was reached between two attempts.
    pub fn cut_between<R, W>(&mut self, cut: Cut) -> R
    where
        R: ResultLike<Error: FromStopped<W>>,
        K: LastError<R::Error>,
    {
        let ending = self.state.cut_between(cut);
        self.stopped(ending)
    }

    /// Asks `unless` and `not_on` about an error. After a timeout, asks them about the error that the caller would get.
    pub fn unless<A, M>(
        &self,
        ended: A,
        veto: impl FnOnce(&Failed<'_, ErrorOf<A::Result>>) -> bool,
    ) -> Checked<A::Result, Cut>
    where
        A: Checks<Cut = Cut, Result: ResultLike<Error: FromStopped<M>>>,
    {
        let checked = ended.checked();
        let Ended::Cut(cut) = checked.ended else {
            return checked.vetoed_if(veto);
        };
        let error = self.stopped_by(cut).map(FromStopped::from_stopped);
        if error.is_some_and(|error| veto(&Failed::new(&error, false))) {
            return Checked {
                check: Check::Vetoed,
                ..checked
            };
        }
        checked
    }

    /// Keeps the error of the last attempt, if it is one to keep, and returns when the next attempt begins.
    #[inline]
    pub fn keep<E, M: Keeps<E, Kept = K>>(&mut self, next: Next<E, M>) -> Until {
        if let Some((error, _)) = next.error {
            *self.kept = M::keep(error);
        }
        next.until
    }

    /// Follows an attempt that was cut.
    #[inline(always)]
    fn cut_off<R, W>(&mut self, cut: Cut, check: Check) -> Result<Until, R>
    where
        R: ResultLike<Error: FromStopped<W>>,
        K: LastError<R::Error>,
    {
        match self.state.cut(cut, check == Check::Vetoed) {
            Ok(until) => Ok(until),
            Err(ending) => Err(self.stopped(ending)),
        }
    }

    /// Returns the result of a call that was stopped.
    #[cold]
    fn stopped<R, W>(&mut self, ending: Ending) -> R
    where
        R: ResultLike<Error: FromStopped<W>>,
        K: LastError<R::Error>,
    {
        R::from_error(match self.kept.take() {
            Some(kept) => kept.make_error(ending),
            None => FromStopped::from_stopped(ending.into_stopped()),
        })
    }
}

impl<C: Cuts, K> Call<'_, C, K> {
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

    /// Asks `retry_after` for the delay after an error, in the attempt that returned it.
    pub fn retry_after<A: Checks<Result: ResultLike>>(
        &self,
        ended: A,
        delay: impl FnOnce(&ErrorOf<A::Result>) -> Option<Duration>,
    ) -> Checked<A::Result, A::Cut> {
        let checked = ended.checked();
        let error = checked.ended.result().and_then(Result::err);
        let after = match error {
            Some(error) if checked.check != Check::Vetoed => self.lend(|| delay(error)),
            _ => None,
        };
        Checked { after, ..checked }
    }

    /// Runs code that may ask for the attempt.
    pub(crate) fn lend<T>(&self, code: impl FnOnce() -> T) -> T {
        self.state.frame.lend(code)
    }

    /// Follows an attempt whose body ended. `keep` gets the error of a failure that is retried.
    #[inline(always)]
    fn returned<R: ResultLike, M>(
        &mut self,
        result: R,
        check: Check,
        after: Option<Duration>,
        judge: impl for<'e> FnOnce(&'e Failed<'e, R::Error>) -> (Ruling, &'e dyn Words, M),
        keep: impl FnOnce(&mut Option<K>, (R::Error, M)),
    ) -> Result<Until, R> {
        match result.into_result() {
            Ok(value) => {
                if check != Check::FailedValue {
                    self.state.succeeded();
                } else if let Some(until) = self.state.failed_value() {
                    return Ok(until);
                }
                Err(R::from_value(value))
            }
            Err(error) => {
                let failed = Failed::new(&error, check == Check::Vetoed);
                let (ruling, words, keeps) = judge(&failed);
                match self.state.failed(ruling.exactly(after), words, true) {
                    Some(until) => {
                        keep(&mut self.kept, (error, keeps));
                        Ok(until)
                    }
                    None => Err(R::from_error(error)),
                }
            }
        }
    }

    /// Returns the [`Stopped`](crate::Stopped) of a call that ends with this timeout. `None` for other cuts.
    pub(crate) fn stopped_by(&self, cut: Cut) -> Option<crate::Stopped> {
        (cut == Cut::Timeout).then(|| self.state.stopped(Outcome::Timeout))
    }

    /// Returns the event for `on_retry`.
    pub(crate) fn event<'a, E>(&self, error: Option<&'a E>) -> RetryEvent<'a, E> {
        self.state.event(error)
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

impl<R: ResultLike, C> Checked<R, C> {
    #[inline]
    fn vetoed_if(self, veto: impl FnOnce(&Failed<'_, R::Error>) -> bool) -> Self {
        let error = self.ended.result().and_then(Result::err);
        if error.is_some_and(|error| veto(&Failed::new(error, false))) {
            return Self {
                check: Check::Vetoed,
                ..self
            };
        }
        self
    }
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
