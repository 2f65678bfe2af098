//! The call of a function that is not async.
//!
//! ```text
//! blocking                            async
//! call.attempt_blocking(|| BODY)      call.attempt(async { BODY }).await
//! call.wait_blocking(at)              call.wait(at).await
//! call.prepare_blocking(|| …)         call.prepare(async { … }).await
//! ```
//!
//! Nothing can cut code that blocks its thread, so the deadline is checked between attempts. Time counts from the
//! beginning of the call. The time of an async call counts from its first suspension.

use std::thread;

use tokio::time::Instant;

use super::Call;
use super::ended::{Cut, Cuts, Ended, Never};
use super::state::State;
use super::worker;
use crate::clock::Stamp;
use crate::context::Phase;
use crate::trace;

impl<const LIMITED: bool, K> Call<'_, LIMITED, K> {
    /// Waits for the next attempt.
    pub fn wait_blocking(&self, at: Instant) {
        self.state.wait_blocking(at);
    }
}

impl Call<'_, false> {
    /// Makes an attempt.
    #[inline]
    pub fn attempt_blocking<R>(&mut self, body: impl FnOnce() -> R) -> Ended<R, Never> {
        self.state.begin_blocking(false);
        Ended::Returned(self.state.frame.lend(body))
    }

    /// Runs `before_retry`.
    #[expect(clippy::missing_errors_doc, reason = "nothing cuts it")]
    pub fn prepare_blocking<T>(&mut self, body: impl FnOnce() -> T) -> Result<T, Never> {
        self.state.prepare_blocking(body)
    }
}

impl<K> Call<'_, true, K> {
    /// Makes an attempt, unless the deadline was reached before it began.
    #[inline]
    pub fn attempt_blocking<R>(&mut self, body: impl FnOnce() -> R) -> Ended<R, Cut> {
        if self.state.begin_blocking(true) {
            return Ended::Cut(Cut::Late);
        }
        Ended::Returned(self.state.frame.lend(body))
    }

    /// Runs `before_retry`.
    ///
    /// # Errors
    ///
    /// - The deadline was reached before it began.
    pub fn prepare_blocking<T>(&mut self, body: impl FnOnce() -> T) -> Result<T, Cut> {
        self.state.prepare_blocking(body)
    }
}

impl State<'_> {
    /// Begins an attempt. The first one starts the time of the call. Returns whether the deadline was reached before.
    #[expect(
        clippy::inline_always,
        reason = "with the feature `metrics` it is not inlined otherwise, which takes 15 instructions more"
    )]
    #[inline(always)]
    fn begin_blocking(&self, limited: bool) -> bool {
        let frame = &self.frame;
        let first = frame.phase.get() == Phase::New;
        if first && limited {
            frame.start(Stamp::now());
        }
        let late = self.enter(limited);
        if first && !limited && self.is_heard() {
            frame.start(Stamp::now());
        }
        late
    }

    fn prepare_blocking<T, C: Cuts>(&self, body: impl FnOnce() -> T) -> Result<T, C> {
        if let Some(late) = self.begin_preparation() {
            return Err(late);
        }
        let prepared = self.lend_preparation(body);
        self.end_preparation();
        Ok(prepared)
    }

    /// Waits until `at`. If the delay is above the longest sleep, also waits for the rest of it.
    fn wait_blocking(&self, at: Instant) {
        let wait = at.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            return;
        }
        self.tell_of_blocked_tasks();
        thread::sleep(wait.saturating_add(self.rest_of_delay()));
    }

    fn tell_of_blocked_tasks(&self) {
        let blocked = self.settings.blocked();
        if trace::may_be_heard() && blocked.is_down() && worker::runs_tasks() && blocked.raise() {
            let _entered = self.enter_call();
            trace::blocked(self.settings.name());
        }
    }
}
