//! The loop of an operation without an attribute: what the attribute writes into a function.

use std::fmt::Display;
use std::pin::{Pin, pin};

use super::Run;
use super::rules::{Rule, Vetoes};
use crate::call::{Call, Ending, Failed, LastError, unless};
use crate::classify::Ruling;
use crate::event::RetryEvent;
use crate::explain::Displayed;
use crate::result::FromStopped;

impl<O, F, T, E, M, R, V, C, H> Run<'_, O, M, R, V, C, H>
where
    O: FnMut() -> F,
    F: Future<Output = Result<T, E>>,
    E: FromStopped<M> + Display,
    R: Rule<E>,
    V: Vetoes<E>,
    C: Future,
    H: Hooks<E>,
{
    /// The future without a box. It is `Send` where the operation, its futures, their results and the rules are.
    #[expect(clippy::missing_errors_doc, reason = "they are the operation's own")]
    pub async fn unboxed(self) -> Result<T, E> {
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

impl<'p, O, F, T, E, M, R, V, C, H> IntoFuture for Run<'p, O, M, R, V, C, H>
where
    O: FnMut() -> F + Send + 'p,
    F: Future<Output = Result<T, E>> + Send + 'p,
    T: Send + 'p,
    E: FromStopped<M> + Display + Send + 'p,
    M: 'p,
    R: Rule<E> + Send + 'p,
    V: Vetoes<E> + Send + 'p,
    C: Future + Send + 'p,
    H: Hooks<E> + Send + 'p,
{
    type Output = Result<T, E>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'p>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.unboxed())
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
