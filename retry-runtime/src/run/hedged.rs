//! The loop of a run that hedges: that of `drive.rs`, but for its attempts.
//!
//! It stands twice on purpose. With a trait for the attempts, rustc cannot prove that the future of a caller is `Send`
//! (rust-lang/rust#100013). With async functions for the waits, the future of each run would be 88 bytes larger.

use std::future::pending;
use std::pin::{Pin, pin};

use super::rules::Judge;
use super::turns::{RunParts, Turns};
use crate::call::{Cuts, Race, unless};
use crate::result::ResultFuture;

impl<'p, O, F, T, E> RunParts<'p, O, T, E>
where
    O: FnMut() -> F,
    F: ResultFuture<T, E>,
{
    pub(super) async fn drive_hedged<C: Cuts>(
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
        let mut race = pin!(Race::new());
        loop {
            while let Some(at) = turns.pause()? {
                let wait = unless(Pin::new(&mut cancel), turns.call.wait(at));
                if wait.await.is_none() {
                    return Err(turns.cancelled());
                }
            }
            let at = loop {
                let attempts = turns.call.race(race.as_mut(), &mut operation);
                let Some(ended) = unless(Pin::new(&mut cancel), attempts).await else {
                    return Err(turns.cancelled());
                };
                match turns.follow(ended) {
                    Ok(_) if turns.call.is_beside() => {}
                    Ok(at) => break at,
                    Err(result) => return result,
                }
            };
            let wait = unless(Pin::new(&mut cancel), turns.call.wait(at));
            if wait.await.is_none() {
                return Err(turns.cancelled());
            }
        }
    }
}
