//! Turns an attempt that ended into the result of the call, or into the instant of the next attempt. This part is
//! generic over the types of the function.
//!
//! ```text
//! call.ask_about(&ended, Said::FailedValue, …);  // with `when_ok`
//! call.ask_about(&ended, Said::NotReady, …);     // with `until`
//! call.unless(&ended, …);                      // with `unless`
//!
//! let at = match call.settle(ended, judge) {
//!     Continue(at) => at,
//!     Break(result) => return result,
//! };
//! ```
//!
//! `judge` returns a [`Judgement`]. Only errors that the body returned are judged. With `on_retry`, `retry_after`, delays of
//! the caller, or a judge that captures, `settle_with` takes the place of `settle`. A race calls both when a body ends (`race.rs`).

#![expect(
    clippy::inline_always,
    reason = "inlined, the result of the attempt is moved once, and not into two more calls"
)]

use std::fmt::Display;
use std::mem;
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Duration;

use super::attempt::{Cut, Limits};
use super::events::FailedWith;
use super::last_error::{CallResult, Stops};
use super::timers::Next;
use super::{Call, NextAttemptAt};
use crate::classify::{Answers, Ruling, Verdict};
use crate::context::beside_body;
use crate::event::RetryEvent;
use crate::lookup::{Failed, Keeps};
use crate::metrics::Attempted;
use crate::opaque::opaque;
use crate::result::{CarriesError as _, ResultLike};
use crate::stopped::{Outcome, Stopped};
use crate::trace::Shown;

/// What stands for the error of an attempt that returned none.
const FAILED_VALUE: &str = "an `Ok` that means failure";

/// What a function says about an error that its body returned.
pub struct Judgement<'e, E, K> {
    /// Whether its rules allow another attempt.
    pub ruling: Ruling,
    /// The error, for events.
    pub words: &'e dyn Display,
    /// What the call keeps of the error.
    pub keeps: Keeps<E, K>,
}

/// A judge that captures nothing. Each closure has a type of its own, so code that takes a closure is compiled again for each
/// function. Code that takes a `SharedJudge` is compiled once for all functions with the same types.
type SharedJudge<E, K> = for<'e> fn(&'e Failed<'e, E>) -> Judgement<'e, E, K>;

impl<C: Limits, K> Call<'_, C, K> {
    /// Decides what follows an attempt: another one then, or the end of the call with this result.
    #[inline(always)]
    pub fn settle<R, E, W>(
        &mut self,
        ended: Result<R, C>,
        judge: SharedJudge<E, K>,
    ) -> ControlFlow<R::OfCall, NextAttemptAt>
    where
        R: CallResult<C, K, W, Error = E>,
    {
        self.settle_with(ended, judge, (AsksDelay::Nothing, |_| None), |_| ())
    }

    /// The same, for a judge that captures, with what is asked for the delay in the attempt that failed, if a retry follows, and with the
    /// hook `on_retry`.
    #[inline(always)]
    pub fn settle_with<R, E, W>(
        &mut self,
        ended: Result<R, C>,
        judge: impl for<'e> FnOnce(&'e Failed<'e, E>) -> Judgement<'e, E, K>,
        asks: (AsksDelay, impl FnOnce(Option<&E>) -> Option<Duration>),
        hook: impl for<'e> Answers<RetryEvent<'e, E>>,
    ) -> ControlFlow<R::OfCall, NextAttemptAt>
    where
        R: CallResult<C, K, W, Error = E>,
    {
        let said = mem::take(&mut self.state.said);
        let ended = match ended.map(R::into_result) {
            Ok(Ok(value)) if said == Said::Nothing => {
                self.state.succeed();
                return Break(R::of_call(Ok(value)));
            }
            ended => ended,
        };
        let settled = self.settle_failure::<R, W>(ended, said, judge, asks, hook);
        settled.map_break(R::of_call)
    }

    /// Decides what follows an attempt that did not succeed. Functions with the same types share it, unless they capture something.
    #[inline(never)]
    fn settle_failure<R, W>(
        &mut self,
        ended: Result<Result<R::Value, R::Error>, C>,
        said: Said,
        judge: impl for<'e> FnOnce(&'e Failed<'e, R::Error>) -> Judgement<'e, R::Error, K>,
        asks: (
            AsksDelay,
            impl FnOnce(Option<&R::Error>) -> Option<Duration>,
        ),
        hook: impl FnOnce(&RetryEvent<'_, R::Error>),
    ) -> ControlFlow<Result<R::Value, R::Ended>, NextAttemptAt>
    where
        R: CallResult<C, K, W>,
    {
        let unready = (said == Said::NotReady && ended.is_ok()).then_some(Cut::NotReady);
        let ended = unready.map_or(Ok(()), C::reached).and(ended);
        let (next, words) = match ended {
            Ok(Err(error)) => {
                let harmless = self.state.settings.idempotent == Some(true);
                let failed = Failed::new(&error, harmless);
                let judged = beside_body(|| judge(&failed));
                let ruling = judged.ruling.unless(said == Said::Vetoed);
                self.ask_for_delay(ruling, asks, Some(&error));
                let ruling = ruling.exactly(self.state.asked_delay());
                let (words, sensitive) = (judged.words, self.state.settings.sensitive);
                let words = &Shown { words, sensitive };
                let Ok(next) = self.state.fail(ruling, words) else {
                    return Break(Err(error.into()));
                };
                self.call_on_retry(next, Some(&error), words, hook);
                self.last = (judged.keeps)(error);
                self.state.has_last = true;
                return Continue(self.state.next(next));
            }
            Err(cut) => {
                if matches!(cut.into(), Cut::Timeout | Cut::OfClient | Cut::NotReady) {
                    let ruling = Ruling::failed_value(Verdict::Transient, None);
                    self.ask_for_delay(ruling.unless(said == Said::Vetoed), asks, None);
                }
                match self.state.cut(cut.into(), said) {
                    Ok(next) => (next, Into::<Cut>::into(cut).as_str()),
                    Err(stopped) => return Break(Err(self.stopped::<R, W>(cut, stopped))),
                }
            }
            Ok(Ok(value)) => {
                self.ask_for_delay(Ruling::failed_value(Verdict::Transient, None), asks, None);
                let ruling = Ruling::failed_value(Verdict::Transient, self.state.asked_delay());
                match self.state.fail(ruling, &FAILED_VALUE) {
                    Ok(next) => (next, FAILED_VALUE),
                    Err(_) => return Break(Ok(value)),
                }
            }
        };
        self.call_on_retry(next, None, &words, hook);
        self.state.has_last = false;
        Continue(self.state.next(next))
    }

    /// Asks for the delay, in the attempt that failed, if another attempt may follow.
    #[inline(always)]
    fn ask_for_delay<E>(
        &mut self,
        ruling: Ruling,
        (asks, delay): (AsksDelay, impl FnOnce(Option<&E>) -> Option<Duration>),
        error: Option<&E>,
    ) {
        if asks == AsksDelay::Nothing || !self.state.may_retry(ruling) {
            return;
        }
        let delay = self.state.frame.lend(|| beside_body(|| delay(error)));
        match asks {
            AsksDelay::NextDelay => self.state.frame.rest().noted().waits.given = Some(delay),
            _ => self.state.ask_delay(delay),
        }
    }

    /// Calls `on_retry`, if there is one and a retry follows.
    #[inline]
    fn call_on_retry<E>(
        &self,
        next: Next,
        error: Option<&E>,
        words: &dyn Display,
        hook: impl FnOnce(&RetryEvent<'_, E>),
    ) {
        let state = &self.state;
        if state.settings.listens && next != Next::Other && !state.is_signalled() {
            beside_body(|| hook(&state.event(error, words)));
        }
    }

    /// Asks about an `Ok`: `when_ok` whether it means failure, which is said if so, and `until` whether it is ready, which is said if
    /// not. One that is not ready is dropped, as if a limit had cut the attempt.
    #[inline]
    pub fn ask_about<R: ResultLike>(
        &mut self,
        ended: &Result<R, C>,
        said: Said,
        ask: impl FnOnce(&R::Value) -> (bool, Option<Duration>),
    ) {
        if let Ok(Ok(value)) = ended.as_ref().map(R::get) {
            let (answer, delay) = beside_body(|| ask(value));
            if answer == (said == Said::FailedValue) {
                self.say(said, delay);
            }
        }
    }

    /// Asks `unless` about an error. After a timeout, asks it about the error that the caller would get.
    pub fn unless<R, W>(
        &mut self,
        ended: &Result<R, C>,
        veto: impl FnOnce(&Failed<'_, R::Error>) -> bool,
    ) where
        R: ResultLike,
        C: Stops<R::Ended, W>,
    {
        let veto = |error: &_| beside_body(|| veto(&Failed::new(error, false)));
        let vetoed = match ended {
            Ok(result) => result.get().as_ref().err().is_some_and(veto),
            Err(cut) => match (*cut).into() {
                reached @ (Cut::Timeout | Cut::OfClient) => {
                    let error = cut.error(self.state.stopped(Outcome::Timeout, reached));
                    error.of_attempt().is_some_and(veto)
                }
                _ => false,
            },
        };
        if vetoed {
            self.say(Said::Vetoed, None);
        }
    }

    /// Keeps what one of these says first, and the delay.
    #[inline]
    fn say(&mut self, said: Said, delay: Option<Duration>) {
        self.state.ask_delay(delay);
        if self.state.said == Said::Nothing {
            self.state.said = said;
        }
    }

    /// Ends `before_retry`. Returns the result of the call, or `None` to go on: the error of `before_retry`, or the last error of a
    /// call without limits if the deadline around was reached meanwhile.
    pub fn end_preparation<R, W>(&mut self, prepared: Option<R::Ended>) -> Option<R>
    where
        R: CallResult<C, K, W, OfCall = R>,
    {
        let state = &mut self.state;
        state.enter(|_| None);
        state.frame.forget_refusal();
        let error = if let Some(error) = prepared {
            let how = Attempted::Failed(Verdict::Unknown);
            let words = &"`before_retry` failed";
            state.give_up(Outcome::NotRetryable, FailedWith { how, words });
            error
        } else {
            if state.frame.times.deadline.left() != Some(Duration::ZERO) {
                return None;
            }
            let kept = self.take_last()?;
            self.state.cut_between(Cut::Late);
            R::again(kept)?
        };
        Some(R::of_call(Err(error)))
    }

    /// Returns the result of a call that is cut between two attempts, or cancelled.
    pub fn cut_between<R, W>(&mut self, cut: C) -> R
    where
        R: CallResult<C, K, W, OfCall = R>,
    {
        let stopped = self.state.cut_between(cut.into());
        R::of_call(Err(self.stopped::<R, W>(cut, stopped)))
    }

    /// Takes what is kept of the last error, if that is of the last attempt.
    fn take_last(&mut self) -> Option<K> {
        self.last.take_if(|_| self.state.has_last)
    }

    /// Returns the error of a call that was stopped.
    #[cold]
    fn stopped<R, W>(&mut self, cut: C, stopped: Stopped) -> R::Ended
    where
        R: CallResult<C, K, W>,
    {
        // No other attempt began in time.
        let again = match cut.into() {
            Cut::Late | Cut::Paused => self.take_last().and_then(R::again),
            _ => None,
        };
        again.unwrap_or_else(|| R::stopped(cut, stopped, self.last.take()))
    }
}

/// What is asked for the delay before a retry, in place of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsksDelay {
    /// Nothing.
    Nothing,
    /// `retry_after`, about an error.
    RetryAfter,
    /// Delays that the caller owns. Their end is the end of the call.
    NextDelay,
}

/// What `when_ok`, `until` or `unless` says about an attempt. They are asked before the ruling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Said {
    /// Nothing.
    #[default]
    Nothing,
    /// `when_ok`: its `Ok` means failure.
    FailedValue,
    /// `until`: its `Ok` is not ready.
    NotReady,
    /// `unless`: no other attempt.
    Vetoed,
}

opaque! { Judgement [E, K] ['_, E, K]; }
