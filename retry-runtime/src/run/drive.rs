//! The loops of a run, which the attribute writes into a function: for closures that are async, and for those that block.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Run;
use super::ends::{CarriesError, HoldsStopped};
use super::rules::{Ruled, RunRules};
use crate::call::{Call, CanBlock, Cut, Limits, unless};
use crate::lookup::Last;
use crate::result::ResultFuture;
use crate::site::SiteSettings;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, T, E> {
    pub(super) settings: SiteSettings<'p>,
    /// The delays that replace those of the policy.
    pub(super) delays: Option<Vec<Duration>>,
    pub(super) operation: O,
    pub(super) rules: RunRules<'p, T, E>,
    /// Stops the call.
    pub(super) cancel: Pin<Box<dyn Future<Output = ()> + Send + 'p>>,
}

pub(super) type BoxedRun<'p, T, X> = Pin<Box<dyn Future<Output = Result<T, X>> + Send + 'p>>;

impl<O, T, E> RunParts<'_, O, T, E> {
    async fn drive<const RULED: bool, C, W, F, X>(mut self) -> Result<T, X>
    where
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
        E: Ruled<RULED> + HoldsStopped<C, W, X>,
        X: CarriesError<E> + Display,
    {
        let settings = with_delays(&self.settings, self.delays.as_deref());
        let mut call = Call::<E::Limits, Last<X>>::with(&settings);
        // Runs a part of the call, unless the call is cancelled before.
        macro_rules! part {
            ($part:expr) => {
                match unless(Pin::new(&mut self.cancel), $part).await {
                    Some(output) => output,
                    None => {
                        let cancelled = E::Limits::reached(Cut::Cancelled);
                        return call.cut_between(cancelled.expect_err("it can hold a `Stopped`"));
                    }
                }
            };
        }
        loop {
            // A call that is cancelled already is so whatever else cuts it.
            if let Err(cut) = part!(call.pass_pause()) {
                return call.cut_between(cut);
            }
            let operation = &mut self.operation;
            let ended = part!(call.attempt(async { Ok(operation().await?) }));
            let at = match self.rules.settle(&mut call, ended) {
                ControlFlow::Continue(at) => at,
                ControlFlow::Break(result) => return result,
            };
            part!(at);
        }
    }
}

// The bounds are those of the methods: if one of the `impl` does not hold, rustc says that there is no such method.
impl<O, T, E, const RULED: bool, C, W, X, V> Run<'_, O, T, E, RULED, C, W, X, V> {
    /// Runs the operation without a box. The future is `Send` if the operation, its futures and their results are.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or what stopped the call, in the type that [`Policy::run`](crate::Policy::run) says.
    // Not `async`: its future would hold `self` beside the parts.
    pub fn unboxed<F>(self) -> impl Future<Output = Result<T, X>>
    where
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
        E: Ruled<RULED> + HoldsStopped<C, W, X>,
        X: CarriesError<E> + Display,
    {
        self.into_parts().drive::<RULED, C, W, F, X>()
    }

    /// Makes the call of a [blocking](crate::Policy::run_blocking) run.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or what stopped the call, in the type that [`Policy::run`](crate::Policy::run) says.
    pub fn call(self) -> Result<T, X>
    where
        O: FnMut() -> Result<T, E>,
        E: Ruled<RULED> + HoldsStopped<C, W, X>,
        E::Limits: CanBlock,
        X: CarriesError<E> + Display,
    {
        let mut parts = self.into_parts();
        let settings = with_delays(&parts.settings, parts.delays.as_deref());
        let mut call = Call::<E::Limits, Last<X>>::with(&settings);
        loop {
            if let Err(cut) = call.pass_pause_blocking() {
                return call.cut_between(cut);
            }
            let ended = call.attempt_blocking(|| Ok((parts.operation)()?));
            match parts.rules.settle(&mut call, ended) {
                ControlFlow::Continue(at) => call.wait_blocking(at),
                ControlFlow::Break(result) => return result,
            }
        }
    }
}

impl<'p, O, F, T, E, const RULED: bool, C, W, X, V> Future for Run<'p, O, T, E, RULED, C, W, X, V>
where
    O: FnMut() -> F + Send + 'p,
    F: ResultFuture<T, E> + Send + 'p,
    T: Send + 'p,
    E: Ruled<RULED> + HoldsStopped<C, W, X> + Send + 'p,
    C: 'p,
    W: 'p,
    X: CarriesError<E> + Display + Send + 'p,
{
    type Output = Result<T, X>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let run = self.as_ref().get_ref();
        let mut running = run.running.take().unwrap_or_else(|| {
            let parts = run.parts.take().expect("polled after a panic");
            Box::pin(parts.drive::<RULED, C, W, F, X>())
        });
        let polled = running.as_mut().poll(context);
        run.running.set(Some(running));
        polled
    }
}

/// The settings with the delays of the run, if it has any.
fn with_delays<'s>(
    settings: &SiteSettings<'s>,
    delays: Option<&'s [Duration]>,
) -> SiteSettings<'s> {
    let settings = settings.clone();
    match delays {
        Some(delays) => settings.with_delays(delays),
        None => settings,
    }
}
