//! The loop of [`Policy::run`](crate::Policy::run). The attribute writes such a loop into a function.

use std::pin::pin;

use super::rules::{Rule, Vetoes};
use crate::call::{Call, Ended, unless};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::explain::Words;
use crate::sealed::Sealed;
use crate::site::Settings;
use crate::stopped::Stopped;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, E, R, V, C, H> {
    pub(super) settings: Settings<'p>,
    pub(super) operation: O,
    pub(super) rule: R,
    pub(super) veto: V,
    pub(super) cancel: C,
    pub(super) hook: H,
    pub(super) of_error: OfError<E>,
}

/// The loop uses these functions instead of bounds on `E`. Only `Policy::run` has the bounds, so rustc reports an error
/// type without them once, at the call of `run`.
pub(super) struct OfError<E> {
    pub(super) stopped: fn(Stopped) -> E,
    pub(super) text: fn(&E) -> String,
}

impl<O, F, T, E, R, V, C, H> RunParts<'_, O, E, R, V, C, H>
where
    O: FnMut() -> F,
    F: Future<Output = Result<T, E>>,
    R: Rule<E>,
    V: Vetoes<E>,
    C: Future,
    H: Hooks<E>,
{
    pub(super) async fn drive(self) -> Result<T, E> {
        let Self {
            settings,
            mut operation,
            mut rule,
            mut veto,
            cancel,
            mut hook,
            of_error: OfError { stopped, text },
        } = self;
        let mut call = Call::<true>::with(&settings);
        let mut last = None;
        let mut cancel = pin!(cancel);
        let ending = loop {
            let Some(ended) = unless(cancel.as_mut(), call.attempt(operation())).await else {
                break call.cancel();
            };
            let at = match ended {
                Ended::Returned(Ok(value)) => {
                    call.succeeded();
                    return Ok(value);
                }
                Ended::Returned(Err(error)) => {
                    let ruling = rule.ruling(&error);
                    let forbidden = ruling.retry && veto.forbids(&error);
                    let ruling = if forbidden {
                        Ruling::stop(ruling.said)
                    } else {
                        ruling
                    };
                    let Some(at) = call.failed(ruling, &Text(&error, text)) else {
                        return Err(error);
                    };
                    hook.tell(|| call.event(Some(&error)));
                    last = Some(error);
                    at
                }
                Ended::Cut(cut) => {
                    let forbidden = call.stopped_by(cut);
                    let forbidden = forbidden.is_some_and(|cause| veto.forbids(&stopped(cause)));
                    match call.cut(cut, forbidden) {
                        Ok(at) => {
                            hook.tell(|| call.event(None));
                            at
                        }
                        Err(ending) => break ending,
                    }
                }
            };
            if unless(cancel.as_mut(), call.wait(at)).await.is_none() {
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

/// Each method replaces one part by a part of another type.
impl<'p, O, E, R, V, C, H> RunParts<'p, O, E, R, V, C, H> {
    pub(super) fn with_rule<S>(self, rule: S) -> RunParts<'p, O, E, S, V, C, H> {
        self.and_rule(|_| rule)
    }

    /// Makes the new rule from the rule before.
    #[rustfmt::skip]
    pub(super) fn and_rule<S>(self, rule: impl FnOnce(R) -> S) -> RunParts<'p, O, E, S, V, C, H> {
        let Self { settings, operation, rule: first, veto, cancel, hook, of_error } = self;
        let rule = rule(first);
        RunParts { settings, operation, rule, veto, cancel, hook, of_error }
    }

    #[rustfmt::skip]
    pub(super) fn with_veto<W>(self, veto: W) -> RunParts<'p, O, E, R, W, C, H> {
        let Self { settings, operation, rule, cancel, hook, of_error, .. } = self;
        RunParts { settings, operation, rule, veto, cancel, hook, of_error }
    }

    #[rustfmt::skip]
    pub(super) fn with_cancel<D>(self, cancel: D) -> RunParts<'p, O, E, R, V, D, H> {
        let Self { settings, operation, rule, veto, hook, of_error, .. } = self;
        RunParts { settings, operation, rule, veto, cancel, hook, of_error }
    }

    #[rustfmt::skip]
    pub(super) fn with_hook<I>(self, hook: I) -> RunParts<'p, O, E, R, V, C, I> {
        let Self { settings, operation, rule, veto, cancel, of_error, .. } = self;
        RunParts { settings, operation, rule, veto, cancel, hook, of_error }
    }
}

/// An error, and the function that makes its text.
struct Text<'a, E>(&'a E, fn(&E) -> String);

impl<E> Words for Text<'_, E> {
    fn text(&self) -> String {
        (self.1)(self.0)
    }
}

/// The hook of `on_retry`, or none.
pub trait Hooks<E>: Sealed {
    /// Calls the hook with the event that `event` makes. Without a hook, `event` is not called.
    fn tell<'e>(&mut self, event: impl FnOnce() -> RetryEvent<'e, E>)
    where
        E: 'e;
}

/// No hook.
#[derive(Debug)]
pub struct NoHook;

impl Sealed for NoHook {}

impl<E> Hooks<E> for NoHook {
    fn tell<'e>(&mut self, _event: impl FnOnce() -> RetryEvent<'e, E>)
    where
        E: 'e,
    {
    }
}

/// A hook that is a closure.
#[derive(Debug)]
pub struct Hook<P>(pub(super) P);

impl<P> Sealed for Hook<P> {}

impl<E, P: FnMut(&RetryEvent<'_, E>)> Hooks<E> for Hook<P> {
    fn tell<'e>(&mut self, event: impl FnOnce() -> RetryEvent<'e, E>)
    where
        E: 'e,
    {
        (self.0)(&event());
    }
}
