//! The loops of a run, which the attribute writes into a function: for closures that are async, and for those that block.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Run;
use super::ends::HoldsStopped;
use super::rules::RunRules;
use super::state::{Judged, LimitsOf, RunState};
use crate::call::{Call, CanBlock, Cut, Limits, unless};
use crate::faulty::faulty;
use crate::lookup::Last;
use crate::result::{CarriesError, ResultFuture};
use crate::site::SiteSettings;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, T, E> {
    pub(super) settings: SiteSettings<'p>,
    pub(super) operation: O,
    pub(super) rules: RunRules<'p, T, E>,
    /// Stops the call.
    pub(super) cancel: Pin<Box<dyn Future<Output = ()> + Send + 'p>>,
}

pub(super) type BoxedRun<'p, T, X> = Pin<Box<dyn Future<Output = Result<T, X>> + Send + 'p>>;

// The bounds are those of the methods: if one of the `impl` does not hold, rustc says that there is no such method.
impl<O, T, E, S: RunState> Run<'_, O, T, E, S> {
    /// Runs the operation without a box. The future is `Send` if the operation, its futures and their results are.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or what stopped the call, in the type that [`Policy::run`](crate::Policy::run) says.
    // Not `async`: its future would hold `self` beside the parts.
    pub fn unboxed<F>(self) -> impl Future<Output = Result<T, S::Ended>>
    where
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
        E: Judged<S::By> + HoldsStopped<S::Policy, S::Way, S::Ended> + Display + 'static,
        S::Ended: CarriesError<E>,
    {
        let mut parts = self.into_parts();
        async move {
            let mut call = Call::<LimitsOf<E, S>, Last<E>>::with(&parts.settings);
            // Runs a part of the call, unless the call is cancelled before.
            macro_rules! part {
                ($part:expr) => {
                    match unless(Pin::new(&mut parts.cancel), $part).await {
                        Some(output) => output,
                        None => {
                            let cancelled = LimitsOf::<E, S>::reached(Cut::Cancelled);
                            return call
                                .cut_between(cancelled.expect_err("it can hold a `Stopped`"));
                        }
                    }
                };
            }
            loop {
                // A call that is cancelled already is so whatever else cuts it.
                if let Err(cut) = part!(call.pass_pause()) {
                    return call.cut_between(cut);
                }
                let operation = &mut parts.operation;
                let ended =
                    part!(call.attempt(async { faulty!(fault().await, operation().await) }));
                match parts.rules.settle::<S>(&mut call, ended) {
                    ControlFlow::Continue(at) => part!(at),
                    ControlFlow::Break(result) => return result,
                }
            }
        }
    }

    /// Makes the call of a [blocking](crate::Policy::run_blocking) run.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or what stopped the call, in the type that [`Policy::run`](crate::Policy::run) says.
    pub fn call(self) -> Result<T, S::Ended>
    where
        O: FnMut() -> Result<T, E>,
        E: Judged<S::By> + HoldsStopped<S::Policy, S::Way, S::Ended> + Display + 'static,
        LimitsOf<E, S>: CanBlock,
        S::Ended: CarriesError<E>,
    {
        let mut parts = self.into_parts();
        let mut call = Call::<LimitsOf<E, S>, Last<E>>::with(&parts.settings);
        loop {
            if let Err(cut) = call.pass_pause_blocking() {
                return call.cut_between(cut);
            }
            let ended = call.attempt_blocking(|| faulty!(fault_blocking(), (parts.operation)()));
            match parts.rules.settle::<S>(&mut call, ended) {
                ControlFlow::Continue(at) => call.wait_blocking(at),
                ControlFlow::Break(result) => return result,
            }
        }
    }
}

impl<'p, O, F, T, E, S> Future for Run<'p, O, T, E, S>
where
    O: FnMut() -> F + Send + 'p,
    F: ResultFuture<T, E> + Send + 'p,
    T: Send + 'p,
    E: Judged<S::By> + HoldsStopped<S::Policy, S::Way, S::Ended> + Display + Send + 'static,
    S: RunState + 'p,
    S::Ended: CarriesError<E> + Send + 'p,
{
    type Output = Result<T, S::Ended>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let running = this.running.get_or_insert_with(|| {
            let parts = this.parts.take();
            Box::pin(Self::new(parts.expect("it did not run")).unboxed())
        });
        running.as_mut().poll(context)
    }
}
