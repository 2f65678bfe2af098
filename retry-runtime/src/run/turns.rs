//! What a run has, and what it does between two attempts.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use super::rules::{Judge, Rule, RunRules};
use crate::call::{Call, Cut, Cuts, Ending, Until};
use crate::classify::Ruling;
use crate::site::Settings;
use crate::stopped::Stopped;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, E> {
    pub(super) settings: Settings<'p>,
    /// The delays that replace those of the policy.
    pub(super) delays: Option<Vec<Duration>>,
    pub(super) operation: O,
    /// A future that stops the call, and whether it cuts an attempt that runs.
    pub(super) cancel: Option<(BoxedCancel<'p>, bool)>,
    /// A function instead of a bound on `E`. Only `Policy::run` has the bound, so rustc reports an error type without
    /// it once, at the call of `run`.
    pub(super) stopped: fn(Stopped) -> E,
}

type BoxedCancel<'p> = Pin<Box<dyn Future<Output = ()> + Send + 'p>>;

/// A call, and what decides between two of its attempts.
pub(super) struct Turns<'s, T, E, C, R> {
    pub(super) call: Call<'s, C>,
    decides: Decides<E, R>,
    /// The error of the last attempt that returned one.
    last: Option<E>,
    values: PhantomData<fn(&T)>,
}

/// What decides between two attempts.
pub(super) struct Decides<E, R> {
    pub(super) rules: R,
    pub(super) judge: Judge<R, E>,
    pub(super) text: fn(&E) -> String,
    pub(super) stopped: fn(Stopped) -> E,
}

impl<'s, T, E, C: Cuts, R: RunRules<T, E>> Turns<'s, T, E, C, R> {
    pub(super) fn begin(settings: &'s Settings<'s>, decides: Decides<E, R>) -> Self {
        Self {
            call: Call::with(settings),
            decides,
            last: None,
            values: PhantomData,
        }
    }

    /// Returns how long the next attempt waits for the end of a pause, or `None` if it begins now.
    pub(super) fn pause(&mut self) -> Result<Option<Until>, E> {
        self.call
            .pause()
            .map_err(|cut| self.cut_between(cut.into()))
    }

    /// Decides what follows an attempt. Returns when the next attempt begins, or the result of the call.
    pub(super) fn next(&mut self, ended: Result<Result<T, E>, C>) -> Result<Until, Result<T, E>> {
        match ended {
            Ok(Ok(value)) => {
                if let Some(unready) = C::from(Cut::NotReady) {
                    if let Some(said) = self.decides.rules.ask(&Rule::Until(&value)) {
                        self.call.state.say_delay(said.hint);
                        drop(value);
                        return self.cut(unready.into());
                    }
                }
                let Some(said) = self.decides.rules.ask(&Rule::WhenOk(&value)) else {
                    self.call.state.succeeded();
                    return Err(Ok(value));
                };
                self.call.state.say_delay(said.hint);
                let Some(at) = self.call.state.failed_value() else {
                    return Err(Ok(value));
                };
                self.tell(None);
                Ok(at)
            }
            Ok(Err(error)) => {
                let ruling = (self.decides.judge)(&mut self.decides.rules, &error);
                let forbidden = ruling.retry && self.decides.rules.say(&Rule::Unless(&error));
                let ruling = if forbidden {
                    Ruling::stop(ruling.said)
                } else if ruling.retry {
                    let rules = &mut self.decides.rules;
                    let said = self
                        .call
                        .state
                        .frame
                        .lend(|| rules.ask(&Rule::RetryAfter(&error)));
                    ruling.exactly(said.and_then(|said| said.hint))
                } else {
                    ruling
                };
                let words = Text(&error, self.decides.text);
                let Some(at) = self.call.state.failed(ruling, &words, true) else {
                    return Err(Err(error));
                };
                self.tell(Some(&error));
                self.last = Some(error);
                Ok(at)
            }
            Err(cut) => self.cut(cut.into()),
        }
    }

    /// Decides what follows an attempt that was cut.
    fn cut(&mut self, cut: Cut) -> Result<Until, Result<T, E>> {
        let stopped = self.call.stopped_by(cut).map(self.decides.stopped);
        let forbidden = stopped.is_some_and(|error| self.decides.rules.say(&Rule::Unless(&error)));
        match self.call.state.cut(cut, forbidden) {
            Ok(at) => {
                self.tell(None);
                Ok(at)
            }
            Err(ending) => Err(Err(self.end(ending))),
        }
    }

    /// Calls `on_retry`.
    fn tell(&mut self, error: Option<&E>) {
        // While another attempt runs, no retry follows.
        if !self.call.is_beside() {
            self.decides
                .rules
                .ask(&Rule::OnRetry(&self.call.state.event(error)));
        }
    }

    /// Returns the error of a call that is cut between two attempts, or cancelled.
    pub(super) fn cut_between(&mut self, cut: Cut) -> E {
        let ending = self.call.state.cut_between(cut);
        self.end(ending)
    }

    /// Returns the error of a call that was stopped.
    fn end(&mut self, ending: Ending) -> E {
        match self.last.take() {
            // The last attempt returned this error, and the wait ended after the deadline.
            Some(error) if ending.error_stands => error,
            _ => (self.decides.stopped)(ending.stopped),
        }
    }
}

/// An error, and the function that makes its text.
struct Text<'a, E>(&'a E, fn(&E) -> String);

impl<E> fmt::Display for Text<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&(self.1)(self.0))
    }
}
