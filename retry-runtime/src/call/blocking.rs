//! The call of a function that is not async.
//!
//! ```text
//! blocking                            async
//! call.attempt_blocking(|| BODY)      call.attempt(async { BODY }).await
//! call.wait_blocking(at)              at.await
//! call.prepare_blocking(|| …)         call.prepare(async { … }).await
//! ```
//!
//! Nothing can cut code that blocks its thread, so the deadline is checked between attempts.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;

use tokio::task::yield_now;

use super::events::Event;
use super::timers::Next;
use super::{Call, Limits, NextAttemptAt};
use crate::atomics::Flag;
use crate::clock::Stamp;
use crate::context::{Frame, Phase, outer};
use crate::trace;

/// A call that may block its thread. In a browser there is none.
#[diagnostic::on_unimplemented(
    message = "nothing can block a thread of a browser",
    label = "it would block the page or the worker",
    note = "write `async fn` and remove `blocking`, or write `run(async || …)` in place of `run_blocking(|| …)`"
)]
pub trait CanBlock {}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
impl<C: Limits> CanBlock for C {}

impl<C: Limits, K> Call<'_, C, K> {
    /// Makes an attempt.
    ///
    /// # Errors
    ///
    /// - The deadline was reached before it began.
    #[inline]
    pub fn attempt_blocking<R>(&mut self, body: impl FnOnce() -> R) -> Result<R, C>
    where
        C: CanBlock,
    {
        if self.state.frame.phase() == Phase::New {
            // Nothing runs beside it, so the body around went on after a refusal.
            outer(Frame::forget_refusal);
        }
        self.state.enter_attempt()?;
        // It cuts nothing here, so it is what the body was given.
        self.state.frame.timeout = u64::MAX;
        Ok(self.state.frame.lend(body))
    }

    /// Waits for the next attempt.
    pub fn wait_blocking(&mut self, at: NextAttemptAt) {
        let state = &mut self.state;
        let Next::At(_, at) = at.next else {
            return;
        };
        let wait = at.since(Stamp::now());
        if !wait.is_zero() && trace::may_be_heard() && runs_tasks() {
            state.log(Event::Blocked);
        }
        thread::sleep(wait);
        // A paused clock of tokio stands still meanwhile. Limits and pauses would then never end.
        let left = at.since(Stamp::now());
        if !left.is_zero() {
            state.frame.pass_over(left);
        }
    }

    /// Runs `before_retry`.
    ///
    /// # Errors
    ///
    /// - The deadline was reached before it began.
    pub fn prepare_blocking<T>(&mut self, body: impl FnOnce() -> T) -> Result<T, C> {
        self.state.enter_preparation()?;
        Ok(self.state.frame.lend(body))
    }
}

/// Whether a tokio runtime runs tasks on this thread. These tasks do not run while the thread is blocked.
///
/// - Yes: a worker of the multi-threaded runtime, and the thread in `block_on` of a current-thread runtime.
/// - No: a thread of `spawn_blocking`, a worker in `block_in_place`, and a thread without a runtime. Also the thread in
///   `block_on` of a multi-threaded runtime, which runs one future. That future may be a `LocalSet` with tasks, which
///   nothing can detect.
///
/// `Handle::try_current` does not tell them apart, but `yield_now` does. On a thread with tasks, the scheduler keeps
/// the waker until the other tasks have run. Elsewhere the waker is woken at once. tokio 1.54 behaves like this. tokio
/// 1.27 also keeps the waker in every `block_on` and in `block_in_place`.
fn runs_tasks() -> bool {
    let woken = Arc::new(Flag::new());
    let waker = Waker::from(Arc::clone(&woken));
    let _pending = pin!(yield_now()).poll(&mut Context::from_waker(&waker));
    woken.is_down()
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.raise();
    }
}
