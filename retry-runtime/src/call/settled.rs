//! Turns an attempt that ended into the result of the call, or into the instant of the next attempt. This part is
//! generic over the types of the function.
//!
//! ```text
//! let at = match call.settle(ended, judge) {
//!     Ok(at) => at,
//!     Err(result) => return result,
//! };
//!
//! let at = match call.decide(ended, judge) {   // the same, with `on_retry`
//!     Ok(next) => call.tell(next, hook),
//!     Err(result) => return result,
//! };
//! ```
//!
//! `judge` returns the ruling about an error, the error in words, and whether the error is kept. Only errors that the
//! body returned are judged.

use tokio::time::Instant;

use super::Call;
use super::checked::{Check, Checked, Checks};
use super::ended::{Cut, Ended, Ending, Never};
use super::failed::Failed;
use super::kept_error::{Keeps, LastError};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::explain::Words;
use crate::result::{ErrorOf, FromStopped, ResultLike};

/// The next attempt.
#[derive(Debug)]
pub struct Next<E, M> {
    at: Instant,
    /// The error of the last attempt, and whether it is kept.
    error: Option<(E, M)>,
}

impl<E, M> Next<E, M> {
    fn new(at: Instant) -> Self {
        Self { at, error: None }
    }

    /// Returns the error of the last attempt.
    fn error(&self) -> Option<&E> {
        self.error.as_ref().map(|(error, _)| error)
    }
}

impl Call<'_, false> {
    /// Decides what follows an attempt. Returns when the next attempt begins.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline]
    pub fn settle<A, M>(
        &self,
        ended: A,
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Words, M),
    ) -> Result<Instant, A::Result>
    where
        A: Checks<Cut = Never, Result: ResultLike>,
    {
        self.decide(ended, judge).map(|next| next.at)
    }

    /// Decides what follows an attempt, for a call with `on_retry`.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline]
    pub fn decide<A, M>(
        &self,
        ended: A,
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Words, M),
    ) -> Result<Next<ErrorOf<A::Result>, M>, A::Result>
    where
        A: Checks<Cut = Never, Result: ResultLike>,
    {
        let Checked {
            ended: Ended::Returned(result),
            check,
        } = ended.checked();
        self.returned(result, check, judge)
    }

    /// Calls `on_retry`, and returns when the next attempt begins.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the error is dropped before the wait"
    )]
    pub fn tell<E, M>(&self, next: Next<E, M>, hook: impl FnOnce(&RetryEvent<'_, E>)) -> Instant {
        hook(&self.event(next.error()));
        next.at
    }

    /// Never called: nothing cuts a function without limits.
    pub fn cut_between<R>(&self, cut: Never) -> R {
        match cut {}
    }
}

impl<K> Call<'_, true, K> {
    /// Decides what follows an attempt. Returns when the next attempt begins.
    ///
    /// # Errors
    ///
    /// - The result of the call, if it ends.
    #[inline]
    pub fn settle<A, M, W>(
        &mut self,
        ended: A,
        judge: impl for<'e> FnOnce(&'e Failed<'e, ErrorOf<A::Result>>) -> (Ruling, &'e dyn Words, M),
    ) -> Result<Instant, A::Result>
    where
        A: Checks<Cut = Cut, Result: ResultLike<Error: FromStopped<W>>>,
        M: Keeps<ErrorOf<A::Result>, Kept = K>,
        K: LastError<ErrorOf<A::Result>>,
    {
        match self.decide(ended, judge) {
            Ok(next) => Ok(self.keep(next)),
            Err(result) => Err(result),
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
        let Checked { ended, check } = ended.checked();
        match ended {
            Ended::Returned(result) => self.returned(result, check, judge),
            Ended::Cut(cut) => match self.state.cut(cut, check == Check::Vetoed) {
                Ok(at) => Ok(Next::new(at)),
                Err(ending) => Err(self.stopped(ending)),
            },
        }
    }

    /// Calls `on_retry`, keeps the error of the last attempt, and returns when the next attempt begins.
    pub fn tell<E, M: Keeps<E, Kept = K>>(
        &mut self,
        next: Next<E, M>,
        hook: impl FnOnce(&RetryEvent<'_, E>),
    ) -> Instant {
        hook(&self.event(next.error()));
        self.keep(next)
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

    /// Keeps the error of the last attempt, if it is one to keep.
    #[inline]
    fn keep<E, M: Keeps<E, Kept = K>>(&mut self, next: Next<E, M>) -> Instant {
        if let Some((error, _)) = next.error {
            *self.kept = M::keep(error);
        }
        next.at
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

impl<const LIMITED: bool, K> Call<'_, LIMITED, K> {
    #[inline]
    fn returned<R: ResultLike, M>(
        &self,
        result: R,
        check: Check,
        judge: impl for<'e> FnOnce(&'e Failed<'e, R::Error>) -> (Ruling, &'e dyn Words, M),
    ) -> Result<Next<R::Error, M>, R> {
        match result.into_result() {
            Ok(value) => {
                if check != Check::FailedValue {
                    self.state.succeeded();
                } else if let Some(at) = self.state.failed_value() {
                    return Ok(Next::new(at));
                }
                Err(R::from_value(value))
            }
            Err(error) => {
                let failed = Failed::new(&error, check == Check::Vetoed);
                let (ruling, words, keeps) = judge(&failed);
                match self.state.failed(ruling, words, true) {
                    Some(at) => Ok(Next {
                        at,
                        error: Some((error, keeps)),
                    }),
                    None => Err(R::from_error(error)),
                }
            }
        }
    }

    /// Returns the event for `on_retry`.
    pub(crate) fn event<'a, E>(&self, error: Option<&'a E>) -> RetryEvent<'a, E> {
        self.state.event(error)
    }
}
