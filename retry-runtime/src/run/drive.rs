//! The loop of [`Policy::run`](crate::Policy::run). The attribute writes such a loop into a function.

use std::borrow::Cow;
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use super::rules::{Judge, RunRules};
use crate::call::{Call, Cuts, Ended, Ending, Until, unless};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::site::Settings;
use crate::stopped::Stopped;
use crate::trace::Words;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, T, E> {
    pub(super) settings: Settings<'p>,
    /// The delays that replace those of the policy.
    pub(super) delays: Option<Cow<'p, [Duration]>>,
    pub(super) operation: O,
    pub(super) rules: RunRules<'p, T, E>,
    pub(super) cancel: Option<BoxedCancel<'p>>,
    pub(super) hook: Option<BoxedHook<'p, E>>,
    /// A function instead of a bound on `E`. Only `Policy::run` has the bound, so rustc reports an error type without it
    /// once, at the call of `run`.
    pub(super) stopped: fn(Stopped) -> E,
}

type BoxedCancel<'p> = Pin<Box<dyn Future<Output = ()> + Send + 'p>>;
type BoxedHook<'p, E> = Box<dyn FnMut(&RetryEvent<'_, E>) + Send + 'p>;

impl<'p, O, F, T, E> RunParts<'p, O, T, E>
where
    O: FnMut() -> F,
    F: Future<Output = Result<T, E>>,
{
    pub(super) async fn drive<C: Cuts>(
        self,
        judge: Judge<'p, T, E>,
        text: fn(&E) -> String,
    ) -> Result<T, E> {
        let delays = self.delays;
        let mut settings = self.settings;
        if let Some(delays) = &delays {
            settings = settings.with_delays(delays);
        }
        let mut operation = self.operation;
        let mut cancel = self.cancel.unwrap_or_else(|| Box::pin(pending()));
        let mut turns = Turns {
            call: Call::<C>::with(&settings),
            rules: self.rules,
            judge,
            hook: self.hook,
            stopped: self.stopped,
            text,
            last: None,
        };
        loop {
            loop {
                let at = match turns.pause() {
                    Ok(Some(at)) => at,
                    Ok(None) => break,
                    Err(error) => return Err(error),
                };
                let wait = unless(Pin::new(&mut cancel), turns.call.wait(at));
                if wait.await.is_none() {
                    return Err(turns.cancelled());
                }
            }
            let attempt = unless(Pin::new(&mut cancel), turns.call.attempt(operation()));
            let Some(ended) = attempt.await else {
                return Err(turns.cancelled());
            };
            let at = match turns.follow(ended) {
                Ok(at) => at,
                Err(result) => return result,
            };
            let wait = unless(Pin::new(&mut cancel), turns.call.wait(at));
            if wait.await.is_none() {
                return Err(turns.cancelled());
            }
        }
    }
}

/// A call, and what decides between two of its attempts.
struct Turns<'s, 'p, T, E, C> {
    call: Call<'s, C>,
    rules: RunRules<'p, T, E>,
    judge: Judge<'p, T, E>,
    hook: Option<BoxedHook<'p, E>>,
    stopped: fn(Stopped) -> E,
    text: fn(&E) -> String,
    /// The error of the last attempt that returned one.
    last: Option<E>,
}

impl<T, E, C: Cuts> Turns<'_, '_, T, E, C> {
    /// Returns how long the next attempt waits for the end of a pause, or `None` if it begins now.
    fn pause(&mut self) -> Result<Option<Until>, E> {
        self.call.pause().map_err(|cut| {
            let ending = self.call.ended_between(cut.into());
            self.end(ending)
        })
    }

    /// Decides what follows an attempt. Returns when the next attempt begins, or the result of the call.
    fn follow(&mut self, ended: Ended<Result<T, E>, C>) -> Result<Until, Result<T, E>> {
        match ended {
            Ended::Returned(Ok(value)) => {
                if !self.rules.fail(&value) {
                    self.call.succeeded();
                } else if let Some(at) = self.call.failed_value() {
                    self.tell(None);
                    return Ok(at);
                }
                Err(Ok(value))
            }
            Ended::Returned(Err(error)) => {
                let ruling = (self.judge)(&mut self.rules, &error);
                let forbidden = ruling.retry && self.rules.forbid(&error);
                let ruling = if forbidden {
                    Ruling::stop(ruling.said)
                } else {
                    ruling
                };
                let Some(at) = self.call.failed(ruling, &Text(&error, self.text)) else {
                    return Err(Err(error));
                };
                self.tell(Some(&error));
                self.last = Some(error);
                Ok(at)
            }
            Ended::Cut(cut) => {
                let cut = cut.into();
                let stopped = self.call.stopped_by(cut).map(self.stopped);
                let forbidden = stopped.is_some_and(|error| self.rules.forbid(&error));
                match self.call.cut(cut, forbidden) {
                    Ok(at) => {
                        self.tell(None);
                        Ok(at)
                    }
                    Err(ending) => Err(Err(self.end(ending))),
                }
            }
        }
    }

    /// Calls `on_retry`.
    fn tell(&mut self, error: Option<&E>) {
        if let Some(hook) = &mut self.hook {
            hook(&self.call.event(error));
        }
    }

    /// Returns the error of a call whose `cancel` future completed.
    fn cancelled(&mut self) -> E {
        let ending = self.call.cancel();
        self.end(ending)
    }

    /// Returns the error of a call that was stopped.
    fn end(&mut self, ending: Ending) -> E {
        match self.last.take() {
            // The last attempt returned this error, and the wait ended after the deadline.
            Some(error) if ending.error_stands() => error,
            _ => (self.stopped)(ending.into_stopped()),
        }
    }
}

/// An error, and the function that makes its text.
struct Text<'a, E>(&'a E, fn(&E) -> String);

impl<E> Words for Text<'_, E> {
    fn text(&self) -> String {
        (self.1)(self.0)
    }
}
