//! The loops of a run, which the attribute writes into a function: for closures that are async, and for those that block.

use std::fmt::Display;
use std::future::{pending, ready};
use std::ops::{ControlFlow, Deref};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::rules::{Last, Ruled, RunRules};
use super::{Run, RunOfAny};
use crate::call::{Call, CanBlock, Cut, Stops, unless};
use crate::policy::Policy;
use crate::result::ResultFuture;
use crate::site::SiteSettings;

/// An operation with everything that its loop needs.
pub(super) struct RunParts<'p, O, T, E> {
    pub(super) settings: SiteSettings<'p>,
    /// The delays that replace those of the policy.
    pub(super) delays: Option<Vec<Duration>>,
    operation: O,
    pub(super) rules: RunRules<'p, T, E>,
    /// Stops the call.
    pub(super) cancel: Pin<Box<dyn Future<Output = ()> + Send + 'p>>,
}

pub(super) type BoxedRun<'p, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'p>>;

impl<O, T, E> RunParts<'_, O, T, E> {
    pub(super) fn new(place: &'static Location<'static>, policy: Policy, operation: O) -> Self {
        Self {
            settings: SiteSettings::at(place, policy),
            delays: None,
            operation,
            rules: RunRules::none(),
            // It has no size, so this does not allocate.
            cancel: Box::pin(pending()),
        }
    }

    async fn drive<const RULED: bool, C, W, F>(mut self) -> Result<T, E>
    where
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
        E: Display + Ruled<RULED>,
        C: Stops<E, W>,
    {
        let settings = with_delays(&self.settings, self.delays.as_deref());
        let mut call = Call::<C, Last<E>>::with(&settings);
        // Runs a part of the call, unless the call is cancelled before.
        macro_rules! part {
            ($part:expr) => {
                match unless(Pin::new(&mut self.cancel), $part).await {
                    Some(output) => output,
                    None => {
                        let cancelled = C::from(Cut::Cancelled);
                        return call.cut_between(cancelled.expect("it can hold a `Stopped`"));
                    }
                }
            };
        }
        loop {
            // A call that is cancelled already is so whatever else cuts it.
            while let Some(at) = match call.pause() {
                Ok(at) => at,
                Err(cut) => return call.cut_between(part!(ready(cut))),
            } {
                part!(at.wait());
            }
            let operation = &mut self.operation;
            let ended = part!(call.attempt(async { operation().await }));
            let at = match self.rules.settle(&mut call, ended) {
                ControlFlow::Continue(at) => at,
                ControlFlow::Break(result) => return result,
            };
            part!(at.wait());
        }
    }
}

impl<O, T, E, const RULED: bool, C, W> Run<'_, O, T, E, RULED, C, W>
where
    E: Display + Ruled<RULED>,
    C: Stops<E, W>,
{
    /// Runs the operation without a box. The future is `Send` if the operation, its futures and their results are.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
    // Not `async`: its future would hold `self` beside the parts.
    pub fn unboxed<F>(self) -> impl Future<Output = Result<T, E>>
    where
        O: FnMut() -> F,
        F: ResultFuture<T, E>,
    {
        self.0.take().drive::<RULED, C, W, F>()
    }

    /// Makes the call of a [blocking](crate::Policy::run_blocking) run.
    ///
    /// # Errors
    ///
    /// - The error of the operation, or one made from a [`Stopped`](crate::Stopped).
    pub fn call(self) -> Result<T, E>
    where
        O: FnMut() -> Result<T, E>,
        C: CanBlock,
    {
        let mut parts = self.0.take();
        let settings = with_delays(&parts.settings, parts.delays.as_deref());
        let mut call = Call::<C, Last<E>>::with(&settings);
        loop {
            while let Some(at) = match call.pause() {
                Ok(at) => at,
                Err(cut) => return call.cut_between(cut),
            } {
                call.wait_blocking(at);
            }
            let ended = call.attempt_blocking(&mut parts.operation);
            match parts.rules.settle(&mut call, ended) {
                ControlFlow::Continue(at) => call.wait_blocking(at),
                ControlFlow::Break(result) => return result,
            }
        }
    }
}

impl<'p, O, F, T, E, const RULED: bool, C, W> Future for Run<'p, O, T, E, RULED, C, W>
where
    O: FnMut() -> F + Send + 'p,
    F: ResultFuture<T, E> + Send + 'p,
    T: Send + 'p,
    E: Display + Ruled<RULED> + Send + 'p,
    C: Stops<E, W> + Send + 'p,
    W: 'p,
{
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let RunOfAny { parts, running, .. } = &mut self.0;
        let running = running.get_or_insert_with(|| {
            let parts = parts.take().expect("`Run` was used before");
            Box::pin(parts.drive::<RULED, C, W, F>())
        });
        running.as_mut().poll(context)
    }
}

/// `poll` moves the parts into a box before it pins anything of them.
impl<O, T, E, const RULED: bool, C, W> Unpin for Run<'_, O, T, E, RULED, C, W> {}

#[doc(hidden)]
impl<'p, O, T, E, const RULED: bool, C, W> Deref for Run<'p, O, T, E, RULED, C, W> {
    type Target = RunOfAny<'p, O, T, E, C, W>;

    fn deref(&self) -> &Self::Target {
        &self.0
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
