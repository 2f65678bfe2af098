//! The loop of [`Policy::run_blocking`](crate::Policy::run_blocking).

use std::marker::PhantomData;

use super::rules::{CanBeUnready, Judge};
use super::turns::{RunParts, Turns};
use crate::call::{CanBlock, Cut, Cuts};

/// Marks a run whose closure is not async. `C` is `Cut` if its error type can hold a `Stopped`.
#[derive(Debug)]
pub struct Blocking<C>(PhantomData<fn() -> C>);

impl CanBeUnready for Blocking<Cut> {}

impl<'p, O, T, E> RunParts<'p, O, T, E>
where
    O: FnMut() -> Result<T, E>,
{
    pub(super) fn drive_blocking<C: Cuts + CanBlock>(
        self,
        judge: Judge<'p, T, E>,
        text: fn(&E) -> String,
    ) -> Result<T, E> {
        let mut settings = self.settings;
        if let Some(delays) = &self.delays {
            settings = settings.with_delays(delays);
        }
        let mut operation = self.operation;
        let mut turns = Turns::<_, _, C>::begin(&settings, self.decides, judge, text);
        loop {
            while let Some(at) = turns.pause()? {
                turns.call.wait_blocking(at);
            }
            let ended = turns.call.attempt_blocking(&mut operation);
            match turns.follow(ended) {
                Ok(at) => turns.call.wait_blocking(at),
                Err(result) => return result,
            }
        }
    }
}
