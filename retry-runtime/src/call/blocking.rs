//! The call of a function that is not async.
//!
//! ```text
//! blocking                            async
//! call.attempt_blocking(|| BODY)      call.attempt(async { BODY }).await
//! call.wait_blocking(at)              at.await
//! before.prepare_blocking(|| …)       before.prepare(async { … }).await
//! ```
//!
//! Nothing can cut code that blocks its thread, so the deadline is checked between attempts, and only `cancel_waits` can stop a call: the
//! thread that waits sleeps at a bell, which the waker of its future rings.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tokio::task::yield_now;

use super::attempt::Preparing;
use super::events::Event;
use super::timers::Next;
use super::{Call, Limits, NextAttemptAt, State};
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
#[doc(hidden)]
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
        self.state.wait_blocking(at, |wait| {
            thread::sleep(wait);
            Some(())
        });
    }

    /// The same, or returns `None` if the `cancel` future completes first.
    pub fn wait_blocking_unless<F: Future>(
        &mut self,
        cancel: Pin<&mut F>,
        at: NextAttemptAt,
    ) -> Option<()> {
        self.state
            .wait_blocking(at, |wait| sleep_unless(cancel, wait))
    }
}

impl<C: Limits> Preparing<'_, '_, C> {
    /// Runs `before_retry`.
    ///
    /// # Errors
    ///
    /// - The deadline was reached before it began.
    pub fn prepare_blocking<T>(self, body: impl FnOnce() -> T) -> Result<T, C> {
        self.state.enter_preparation()?;
        Ok(self.state.frame.lend(body))
    }
}

impl State<'_> {
    /// Waits for the next attempt in `sleep`, unless that returns `None`.
    fn wait_blocking(
        &mut self,
        at: NextAttemptAt,
        sleep: impl FnOnce(Duration) -> Option<()>,
    ) -> Option<()> {
        let Next::At(_, at) = at.next else {
            return Some(());
        };
        let wait = at.since(Stamp::now());
        if !wait.is_zero() && trace::may_be_heard() && runs_tasks() {
            self.log(Event::BLOCKED);
        }
        sleep(wait)?;
        // A paused clock of tokio stands still meanwhile. Limits and pauses would then never end.
        let left = at.since(Stamp::now());
        if !left.is_zero() {
            self.frame.pass_over(left);
        }
        Some(())
    }
}

/// Runs a part of a call, such as an attempt, or returns `None` if the `cancel` future has completed before. It is asked again after the
/// part, so that the call knows of a signal that came meanwhile.
pub fn unless_blocking<F: Future, T>(
    mut cancel: Pin<&mut F>,
    part: impl FnOnce() -> T,
) -> Option<T> {
    let waker = &mut Context::from_waker(Waker::noop());
    if cancel.as_mut().poll(waker).is_ready() {
        return None;
    }
    let output = part();
    let _signal = cancel.poll(waker);
    Some(output)
}

/// Lets the thread sleep, or returns `None` if the `cancel` future completes first.
fn sleep_unless<F: Future>(mut cancel: Pin<&mut F>, wait: Duration) -> Option<()> {
    let began = Instant::now();
    let (bell, rings) = sync_channel(1);
    let waker = Waker::from(Arc::new(Bell(bell)));
    let context = &mut Context::from_waker(&waker);
    while cancel.as_mut().poll(context).is_pending() {
        let left = wait.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Some(());
        }
        let _rung = rings.recv_timeout(left);
    }
    None
}

/// What wakes a thread. Not `thread::park`: the code around may wait for its own `unpark`.
struct Bell(SyncSender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // One that rings already is enough.
        let _ = self.0.try_send(());
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
