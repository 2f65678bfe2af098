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
//! `judge` returns a [`Judgement`]. Only errors that the body returned are judged. With `on_retry`, or with a judge that captures,
//! `decide` takes the place of `settle`. A race calls both when a body ends (`race.rs`).

use std::cell::Cell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::time::Duration;

use super::after::FAILED_VALUE;
use super::attempt::{Cut, Limits, Never};
use super::{Call, NextAttemptAt};
use crate::classify::Ruling;
use crate::context::Phase;
use crate::event::RetryEvent;
use crate::lookup::client::{By, Foreign};
use crate::lookup::{BoxedError, Failed, Kept, Nothing};
use crate::opaque::opaque;
use crate::result::{FromStopped, ResultLike};
use crate::stopped::{Outcome, Stopped};

/// What a function says about an error that its body returned.
pub struct Judgement<'e, K> {
    /// Whether its rules allow another attempt.
    pub ruling: Ruling,
    /// The error, for events.
    pub words: &'e dyn Display,
    /// What the call keeps of the error.
    pub keeps: PhantomData<K>,
}

/// A judge that captures nothing. Each closure has a type of its own, so code that takes a closure is compiled again for each
/// function. Code that takes a `SharedJudge` is compiled once for all functions with the same types: a function adds 1,060 lines of
/// LLVM IR to a program, and not 1,420.
type SharedJudge<E, K> = for<'e> fn(&'e Failed<'e, E>) -> Judgement<'e, K>;

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
    pub fn settle<R, W>(
        &mut self,
        ended: Result<R, C>,
        judge: SharedJudge<R::Error, K>,
    ) -> Result<NextAttemptAt<'p>, R>
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<C, R::Error, W>,
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
    pub fn decide<R, W>(
        &mut self,
        ended: Result<R, C>,
        judge: impl for<'e> FnOnce(&'e Failed<'e, R::Error>) -> Judgement<'e, K>,
        hook: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) -> Result<NextAttemptAt<'p>, R>
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<C, R::Error, W>,
    {
        let checks = std::mem::take(&mut self.checks);
        let unready = C::from(Cut::NotReady).filter(|_| checks.unready.get());
        let ended = match (ended, unready) {
            (Ok(_), Some(unready)) => Err(unready),
            (ended, _) => ended,
        };
        let (next, words) = match ended {
            Err(cut) => match self.state.cut(cut.into(), checks.vetoed.get()) {
                Ok(at) => (at, Into::<Cut>::into(cut).as_str()),
                Err(stopped) => return Err(self.stopped(cut, stopped)),
            },
            Ok(result) => match result.into() {
                Ok(value) if !checks.failed_value.get() => {
                    self.state.succeeded();
                    return Err(R::from(Ok(value)));
                }
                Ok(value) => match self.state.failed_value() {
                    Ok(at) => (at, FAILED_VALUE),
                    Err(_) => return Err(R::from(Ok(value))),
                },
                Err(error) => {
                    let failed = Failed::new(&error);
                    let judged = judge(&failed);
                    let ruling = judged
                        .ruling
                        .exactly(self.state.delay_said())
                        .unless(checks.vetoed.get());
                    let Ok(at) = self.state.failed(ruling, judged.words, true) else {
                        return Err(R::from(Err(error)));
                    };
                    self.call_on_retry(Some(&error), judged.words, hook);
                    self.kept = K::keep(error);
                    return Ok(at);
                }
            },
        };
        self.call_on_retry(None, &words, hook);
        Ok(next)
    }

    /// Calls `on_retry`, if there is one and a retry follows.
    #[inline]
    fn call_on_retry<E>(
        &self,
        error: Option<&E>,
        words: &dyn Display,
        hook: impl FnOnce(&RetryEvent<'_, E>),
    ) {
        if self.state.settings.listens
            && self.state.frame.phase.get() != Phase::Attempt
            && !self.state.is_signalled()
        {
            hook(&self.state.event(error, words));
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
        self.checks.failed_value.set(failed_value);
    }

    /// Asks `until` whether an `Ok` is ready. One that is not is dropped, as if a limit had cut the attempt.
    #[inline]
    pub fn until<R: ResultLike>(
        &self,
        ended: &Result<R, C>,
        is_ready: impl FnOnce(&R::Value) -> (bool, Option<Duration>),
    ) {
        let (ready, delay) = value(ended).map_or((true, None), is_ready);
        if !ready {
            self.state.say_delay(delay);
        }
        self.checks.unready.set(!ready);
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
            Err(cut) if (*cut).into() == Cut::Timeout => {
                veto(&cut.error(self.state.stopped(Outcome::Timeout)))
            }
            Err(_) => false,
        };
        self.checks.vetoed.set(vetoed);
    }

    /// Asks `retry_after` for the delay after an error, in the attempt that returned it.
    pub fn retry_after<R: ResultLike>(
        &self,
        ended: &Result<R, C>,
        delay: impl FnOnce(&R::Error) -> Option<Duration>,
    ) {
        let result = ended.as_ref().ok().filter(|_| !self.checks.vetoed.get());
        if let Some(error) = result.and_then(|result| result.borrow().as_ref().err()) {
            self.state.say_delay(self.state.frame.lend(|| delay(error)));
        }
    }

    /// Returns the result of a call that is cut between two attempts, or cancelled.
    pub fn cut_between<R, W>(&mut self, cut: C) -> R
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<C, R::Error, W>,
    {
        let stopped = self.state.cut_between(cut.into());
        self.stopped(cut, stopped)
    }

    /// Returns the result of a call that was stopped.
    #[cold]
    fn stopped<R, W>(&mut self, cut: C, stopped: Stopped) -> R
    where
        R: ResultLike,
        C: Stops<R::Error, W>,
        K: LastError<C, R::Error, W>,
    {
        let stands = self.state.error_stands(cut.into());
        let ended = match self.kept.take() {
            Some(kept) => kept.end(stopped, stands),
            None => Err(stopped),
        };
        R::from(Err(ended.unwrap_or_else(|stopped| cut.error(stopped))))
    }
}

/// In which `Way` the error of a call that was stopped is made. A call without limits is never stopped.
pub trait Stops<E, Way>: Limits {
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

/// What a call keeps of its last error `E`, if a limit `C` can stop it. The error of a client allows one `Way` alone, whose message
/// names a type that can hold a [`Stopped`].
///
/// When an attempt times out, you want to know why the attempts before it failed. So a function with limits keeps the error of its
/// last attempt during the wait. It does so only if the error is `Send`, since the future could not be spawned otherwise, and if
/// it converts into a boxed error. Other errors are dropped before the wait.
pub trait LastError<C, E, Way>: Sized {
    /// Keeps or drops the error of an attempt, before the call waits for the next one.
    #[inline]
    fn keep(_error: E) -> Option<Self> {
        None
    }

    /// Returns the kept error if it `stands`, or else a [`Stopped`] with that as its source.
    ///
    /// # Errors
    ///
    /// - The error does not stand.
    fn end(self, stopped: Stopped, _stands: bool) -> Result<E, Stopped> {
        Err(stopped)
    }
}

impl<C: Limits, E: Into<BoxedError>, W> LastError<C, E, W> for Kept<E> {
    #[inline]
    fn keep(error: E) -> Option<Self> {
        C::LIMITED.then_some(Self(error))
    }

    #[cold]
    fn end(self, stopped: Stopped, stands: bool) -> Result<E, Stopped> {
        if stands {
            Ok(self.0)
        } else {
            Err(stopped.with_source(self.0.into()))
        }
    }
}

impl<C, E, W> LastError<C, E, W> for Nothing {}
impl<E> LastError<Cut, E, By<Self>> for Foreign {}
impl<E> LastError<Never, E, ()> for Foreign {}

/// What `when_ok`, `until` and `unless` say about an attempt. They are asked before the ruling.
// In cells: if their methods took `&mut self`, a trait of the user for every type could take them over.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// `when_ok` says that its `Ok` means failure.
    failed_value: Cell<bool>,
    /// `until` says that its `Ok` is not ready.
    unready: Cell<bool>,
    /// `unless` forbids another attempt.
    vetoed: Cell<bool>,
}

opaque! { Judgement [K] ['_, K]; }

/// Returns the value of an attempt that ended with `Ok`.
fn value<R: ResultLike, C>(ended: &Result<R, C>) -> Option<&R::Value> {
    ended.as_ref().ok()?.borrow().as_ref().ok()
}
