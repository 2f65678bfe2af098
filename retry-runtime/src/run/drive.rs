//! The loop of [`Policy::run`](crate::Policy::run). The attribute writes such a loop into a function.

use std::future::pending;
use std::pin::Pin;

use super::rules::Judge;
use super::turns::{RunParts, Turns};
use crate::call::{Cut, Cuts, unless};
use crate::result::ResultFuture;

/// A run that a future can cancel: its closure is async, and its error type can hold a `Stopped`.
#[diagnostic::on_unimplemented(
    message = "nothing can cancel this run",
    label = "`with_cancel` needs a `run` with limits",
    note = "after `run_blocking`, nothing can stop a closure that blocks its thread",
    note = "after `without_limits`, the error type need not hold the `Stopped` of a cancelled call"
)]
pub trait CanCancel {}

impl CanCancel for Cut {}

impl<'p, O, F, T, E> RunParts<'p, O, T, E>
where
    O: FnMut() -> F,
    F: ResultFuture<T, E>,
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
        let mut turns = Turns::<_, _, C>::begin(&settings, self.decides, judge, text);
        loop {
            while let Some(at) = turns.pause()? {
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
