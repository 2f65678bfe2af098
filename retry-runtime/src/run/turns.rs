//! What a run has, and what it does between two attempts.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use super::rules::{Judge, Rule, RunRules};
use crate::call::{Call, Cut, Cuts, Ending, FAILED_VALUE, Signalled, Until};
use crate::classify::Ruling;
use crate::result::ResultFuture;
use crate::site::SiteSettings;
use crate::stopped::Stopped;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, E> {
    pub(super) settings: SiteSettings<'p>,
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
    pub(super) fn begin(settings: &'s SiteSettings<'s>, decides: Decides<E, R>) -> Self {
        Self {
            call: Call::with(settings),
            decides,
            last: None,
            values: PhantomData,
        }
    }

    /// Makes an attempt, and a hedge beside it if it is the first and slow.
    pub(super) fn race<F: ResultFuture<T, E>>(
        &mut self,
        make: impl FnMut() -> F,
    ) -> impl Signalled<Output = Result<Result<T, E>, C>> {
        let Self {
            call,
            decides,
            last,
            ..
        } = self;
        call.race(make, |call, ended| {
            let result = match ended {
                Ok(result) if call.state.frame.beside.get() => result,
                ended => return Some(ended),
            };
            let aside = match &result {
                Ok(value) => {
                    let rules = &mut decides.rules;
                    let unready = C::LIMITED.then(|| rules.ask(&Rule::Until(value)));
                    let said = unready
                        .flatten()
                        .or_else(|| rules.ask(&Rule::WhenOk(value)));
                    said.is_some_and(|said| {
                        call.state.say_delay(said.hint);
                        call.state.set_value_aside()
                    })
                }
                Err(error) => {
                    let ruling = decides.ruling(call, error);
                    call.state
                        .set_aside(ruling, &Text(error, decides.text), true)
                }
            };
            if !aside {
                return Some(Ok(result));
            }
            *last = result.err().or(last.take());
            None
        })
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
                self.tell(Err(FAILED_VALUE));
                Ok(at)
            }
            Ok(Err(error)) => {
                let ruling = self.decides.ruling(&self.call, &error);
                let words = Text(&error, self.decides.text);
                let Some(at) = self.call.state.failed(ruling, &words, true) else {
                    return Err(Err(error));
                };
                self.tell(Ok(&error));
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
                self.tell(Err(cut.as_str()));
                Ok(at)
            }
            Err(ending) => Err(Err(self.end(ending))),
        }
    }

    /// Calls `on_retry`.
    fn tell(&mut self, failed: Result<&E, &'static str>) {
        let event = self.call.state.event(failed);
        self.decides.rules.ask(&Rule::OnRetry(&event));
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

impl<E, R> Decides<E, R> {
    /// Asks the rules about an error.
    fn ruling<T, C>(&mut self, call: &Call<'_, C>, error: &E) -> Ruling
    where
        R: RunRules<T, E>,
    {
        let ruling = (self.judge)(&mut self.rules, error);
        if !ruling.retry {
            ruling
        } else if self.rules.say(&Rule::Unless(error)) {
            Ruling::stop(ruling.said)
        } else {
            let frame = &call.state.frame;
            let said = frame.lend(|| self.rules.ask(&Rule::RetryAfter(error)));
            ruling.exactly(said.and_then(|said| said.hint))
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
