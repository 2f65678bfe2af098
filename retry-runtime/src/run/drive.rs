//! The loop of [`Policy::run`](crate::Policy::run). The attribute writes such a loop into a function.

use std::future::pending;
use std::pin::Pin;

use super::rules::Judge;
use super::turns::{RunParts, Turns};
use crate::call::{Cuts, unless};

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
        let mut turns = Turns::<_, _, C>::begin(&settings, self.decides, judge, text);
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
