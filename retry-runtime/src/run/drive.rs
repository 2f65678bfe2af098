//! The loop of [`Policy::run`](crate::Policy::run). The attribute writes such a loop into a function.

use std::future::pending;
use std::pin::Pin;

use super::rules::{Rule, RunRules};
use crate::call::{Call, Cut, Ended, unless};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::site::Settings;
use crate::stopped::Stopped;
use crate::trace::Words;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, E> {
    pub(super) settings: Settings<'p>,
    pub(super) operation: O,
    pub(super) rules: RunRules<'p, E>,
    pub(super) cancel: Option<BoxedCancel<'p>>,
    pub(super) hook: Option<BoxedHook<'p, E>>,
    pub(super) of_error: OfError<E>,
}

type BoxedCancel<'p> = Pin<Box<dyn Future<Output = ()> + Send + 'p>>;
type BoxedHook<'p, E> = Box<dyn FnMut(&RetryEvent<'_, E>) + Send + 'p>;

/// The loop uses these functions instead of bounds on `E`. Only `Policy::run` has the bounds, so rustc reports an error
/// type without them once, at the call of `run`.
pub(super) struct OfError<E> {
    pub(super) stopped: fn(Stopped) -> E,
    pub(super) text: fn(&E) -> String,
}

impl<'p, O, F, T, E> RunParts<'p, O, E>
where
    O: FnMut() -> F,
    F: Future<Output = Result<T, E>>,
{
    pub(super) async fn drive(self, rule: Rule<'p, E>) -> Result<T, E> {
        let Self {
            settings,
            mut operation,
            mut rules,
            cancel,
            mut hook,
            of_error: OfError { stopped, text },
        } = self;
        let mut call = Call::<Cut>::with(&settings);
        let mut last = None;
        let mut cancel = cancel.unwrap_or_else(|| Box::pin(pending()));
        let ending = 'call: loop {
            loop {
                match call.pause() {
                    Ok(None) => break,
                    Ok(Some(at)) => {
                        let wait = unless(Pin::new(&mut cancel), call.wait(at));
                        if wait.await.is_none() {
                            break 'call call.cancel();
                        }
                    }
                    Err(cut) => break 'call call.ended_between(cut),
                }
            }
            let Some(ended) = unless(Pin::new(&mut cancel), call.attempt(operation())).await else {
                break call.cancel();
            };
            let at = match ended {
                Ended::Returned(Ok(value)) => {
                    call.succeeded();
                    return Ok(value);
                }
                Ended::Returned(Err(error)) => {
                    let ruling = rule(&mut rules, &error);
                    let forbidden = ruling.retry && rules.forbid(&error);
                    let ruling = if forbidden {
                        Ruling::stop(ruling.said)
                    } else {
                        ruling
                    };
                    let Some(at) = call.failed(ruling, &Text(&error, text)) else {
                        return Err(error);
                    };
                    if let Some(hook) = &mut hook {
                        hook(&call.event(Some(&error)));
                    }
                    last = Some(error);
                    at
                }
                Ended::Cut(cut) => {
                    let forbidden = call.stopped_by(cut);
                    let forbidden = forbidden.is_some_and(|cause| rules.forbid(&stopped(cause)));
                    match call.cut(cut, forbidden) {
                        Ok(at) => {
                            if let Some(hook) = &mut hook {
                                hook(&call.event(None));
                            }
                            at
                        }
                        Err(ending) => break ending,
                    }
                }
            };
            if unless(Pin::new(&mut cancel), call.wait(at)).await.is_none() {
                break call.cancel();
            }
        };
        Err(match last {
            // The last attempt returned this error, and the wait ended after the deadline.
            Some(error) if ending.error_stands() => error,
            _ => stopped(ending.into_stopped()),
        })
    }
}

/// An error, and the function that makes its text.
struct Text<'a, E>(&'a E, fn(&E) -> String);

impl<E> Words for Text<'_, E> {
    fn text(&self) -> String {
        (self.1)(self.0)
    }
}
