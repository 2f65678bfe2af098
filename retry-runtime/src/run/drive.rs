//! The loops of a run: one macro, for closures that are async, that hedge, and that block. The attribute writes such a loop
//! into a function.
//!
//! They share a macro and no function. With a trait for the attempts, rustc cannot prove that the future of a caller is
//! `Send` (rust-lang/rust#100013). With async functions for the waits, the future of each run would be 88 bytes larger.

use std::future::{pending, ready};
use std::marker::PhantomData;
use std::pin::Pin;

use super::rules::{CanBeUnready, RunRules};
use super::turns::{Decides, RunParts, Turns};
use crate::call::{CanBlock, Cut, Cuts, unless, unless_cut};
use crate::result::ResultFuture;

/// Marks a run whose closure is not async. `C` is `Cut` if its error type can hold a `Stopped`.
#[derive(Debug)]
pub struct Blocking<C>(PhantomData<fn() -> C>);

impl CanBeUnready for Blocking<Cut> {}

/// A run that a future can cancel: its closure is async, and its error type can hold a `Stopped`.
#[diagnostic::on_unimplemented(
    message = "nothing can cancel this run",
    label = "`with_cancel` needs a `run` with limits",
    note = "after `run_blocking`, nothing can stop a closure that blocks its thread",
    note = "after `without_limits`, the error type need not hold the `Stopped` of a cancelled call"
)]
pub trait CanCancel {}

impl CanCancel for Cut {}

/// Writes a loop. `$part` runs an attempt or a wait to its end.
macro_rules! drive {
    (
        [$($async:ident)?] fn $name:ident[$($future:ident)?] $part:ident $wait:ident $kind:ident, where [$($bounds:tt)*],
        |$turns:ident, $operation:ident| $attempt:expr
    ) => {
        pub(super) $($async)? fn $name<C, R, T $(, $future)?>(
            self,
            decides: Decides<E, R>,
        ) -> Result<T, E>
        where
            C: Cuts,
            R: RunRules<T, E>,
            $($bounds)*
        {
            let delays = self.delays;
            let mut settings = self.settings;
            if let Some(delays) = &delays {
                settings = settings.with_delays(delays);
            }
            let mut $operation = self.operation;
            let cancel = self.cancel;
            let mut $turns = Turns::<_, _, C, _>::begin(&settings, decides);
            $part!(begin cancel);
            loop {
                while let Some(at) = match $turns.call.pause() {
                    Ok(at) => at,
                    Err(cut) => {
                        let cut = $part!(known $turns, cancel, cut.into());
                        return Err($turns.cut_between(cut));
                    }
                } {
                    $part!($turns, cancel, wait, $turns.call.$wait(at));
                }
                let ended = $part!($turns, cancel, $kind, $attempt);
                let at = match $turns.next(ended) {
                    Ok(at) => at,
                    Err(result) => return result,
                };
                $part!($turns, cancel, wait, $turns.call.$wait(at));
            }
        }
    };
}

macro_rules! awaited {
    (begin $cancel:ident) => {
        let mut $cancel = $cancel.unwrap_or_else(|| (Box::pin(pending()), true));
    };
    // A call that is cancelled already is so whatever else cuts it.
    (known $turns:ident, $cancel:ident, $known:expr) => {
        awaited!($turns, $cancel, wait, ready($known))
    };
    (wait $cancel:ident, $part:expr) => {
        unless(Pin::new(&mut $cancel.0), $part)
    };
    (attempt $cancel:ident, $part:expr) => {
        unless_cut(Pin::new(&mut $cancel.0), $cancel.1, $part)
    };
    (race $cancel:ident, $part:expr) => {
        unless_cut(Pin::new(&mut $cancel.0), $cancel.1, $part)
    };
    ($turns:ident, $cancel:ident, $kind:ident, $part:expr) => {
        match awaited!($kind $cancel, $part).await {
            Some(output) => output,
            None => return Err($turns.cut_between(Cut::Cancelled)),
        }
    };
}

/// No blocking run has a `cancel` future.
macro_rules! blocked {
    (begin $cancel:ident) => {
        drop($cancel);
    };
    (known $turns:ident, $cancel:ident, $known:expr) => {
        $known
    };
    ($turns:ident, $cancel:ident, $kind:ident, $part:expr) => {
        $part
    };
}

impl<O, E> RunParts<'_, O, E> {
    drive! {
        [async] fn drive[F] awaited wait attempt, where [O: FnMut() -> F, F: ResultFuture<T, E>],
        |turns, operation| turns.call.attempt(async { operation().await })
    }
    drive! {
        [async] fn drive_hedged[F] awaited wait race, where [O: FnMut() -> F, F: ResultFuture<T, E>],
        |turns, operation| turns.race(&mut operation)
    }
    drive! {
        [] fn drive_blocking[] blocked wait_blocking attempt, where [O: FnMut() -> Result<T, E>, C: CanBlock],
        |turns, operation| turns.call.attempt_blocking(&mut operation)
    }
}
