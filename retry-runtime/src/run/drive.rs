//! The loop of an operation without an attribute: what the attribute writes into a function.

use std::fmt::Display;
use std::marker::PhantomData;
use std::pin::pin;

use super::rules::{Rule, Vetoes};
use crate::call::{Call, Ending, Failed, LastError, unless};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::explain::Displayed;
use crate::result::FromStopped;
use crate::site::Settings;

/// What an operation is run with.
pub(super) struct Parts<'p, O, M, R, V, C, H> {
    pub(super) settings: Settings<'p>,
    pub(super) operation: O,
    pub(super) rule: R,
    pub(super) veto: V,
    pub(super) cancel: C,
    pub(super) hook: H,
    /// How the error type holds a `Stopped`.
    pub(super) stops: PhantomData<fn() -> M>,
}

impl<O, F, T, E, M, R, V, C, H> Parts<'_, O, M, R, V, C, H>
where
    O: FnMut() -> F,
    F: Future<Output = Result<T, E>>,
    E: FromStopped<M> + Display,
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
            ..
        } = self;
        let mut call = Call::<true>::with(&settings);
        let mut last = Last(None);
        let mut cancel = pin!(cancel);
        let stopped = loop {
            let Some(ended) = unless(cancel.as_mut(), call.attempt(operation())).await else {
                break call.cancelled();
            };
            let at = match call.ended(ended) {
                Ok(value) => return call.succeeded(value),
                Err(Failed::Error(error)) => {
                    let ruling = rule.ruling(&error);
                    let forbidden = ruling.retry && veto.forbids(&error);
                    let ruling = if forbidden {
                        Ruling::stop(ruling.said)
                    } else {
                        ruling
                    };
                    let Some(at) = call.failed(ruling, Displayed::new(&error).words()) else {
                        return Err(error);
                    };
                    hook.tell(|| call.event(Some(&error)));
                    last.0 = Some(error);
                    at
                }
                Err(Failed::Cut(cut)) => {
                    let forbidden = call.vetoes(cut, |error| veto.forbids(error));
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
                break call.cancelled();
            }
        };
        call.stopped(&mut last, stopped)
    }
}

/// Each gives the parts with one of another type.
impl<'p, O, M, R, V, C, H> Parts<'p, O, M, R, V, C, H> {
    #[rustfmt::skip]
    pub(super) fn with_rule<S>(self, rule: S) -> Parts<'p, O, M, S, V, C, H> {
        let Self { settings, operation, veto, cancel, hook, stops, .. } = self;
        Parts { settings, operation, rule, veto, cancel, hook, stops }
    }

    #[rustfmt::skip]
    pub(super) fn with_veto<W>(self, veto: W) -> Parts<'p, O, M, R, W, C, H> {
        let Self { settings, operation, rule, cancel, hook, stops, .. } = self;
        Parts { settings, operation, rule, veto, cancel, hook, stops }
    }

    #[rustfmt::skip]
    pub(super) fn with_cancel<D>(self, cancel: D) -> Parts<'p, O, M, R, V, D, H> {
        let Self { settings, operation, rule, veto, hook, stops, .. } = self;
        Parts { settings, operation, rule, veto, cancel, hook, stops }
    }

    #[rustfmt::skip]
    pub(super) fn with_hook<I>(self, hook: I) -> Parts<'p, O, M, R, V, C, I> {
        let Self { settings, operation, rule, veto, cancel, stops, .. } = self;
        Parts { settings, operation, rule, veto, cancel, hook, stops }
    }
}

/// The error of the last attempt, for a call whose next one would begin too late.
struct Last<E>(Option<E>);

impl<E> LastError<E> for Last<E> {
    fn make_error<M>(&mut self, ending: Ending) -> E
    where
        E: FromStopped<M>,
    {
        match self.0.take() {
            Some(error) if ending.error_stands() => error,
            _ => E::from_stopped(ending.into_stopped()),
        }
    }
}

/// Hears of each retry.
pub trait Hooks<E> {
    /// Tells it, if it listens.
    fn tell<'e>(&mut self, event: impl FnOnce() -> RetryEvent<'e, E>)
    where
        E: 'e;
}

/// Hears nothing.
#[derive(Debug)]
pub struct NoHook;

impl<E> Hooks<E> for NoHook {
    fn tell<'e>(&mut self, _event: impl FnOnce() -> RetryEvent<'e, E>)
    where
        E: 'e,
    {
    }
}

/// Calls a closure.
#[derive(Debug)]
pub struct Hook<P>(pub(super) P);

impl<E, P: FnMut(&RetryEvent<'_, E>)> Hooks<E> for Hook<P> {
    fn tell<'e>(&mut self, event: impl FnOnce() -> RetryEvent<'e, E>)
    where
        E: 'e,
    {
        (self.0)(&event());
    }
}
