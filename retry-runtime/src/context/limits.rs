//! The time limits of a frame, and which of them is nearest.

use std::time::Duration;

use tokio::time::Instant;

use super::frame::{Frame, NEVER, around};
use crate::clock::{Stamp, nanos};
use crate::fit;

impl Frame {
    /// Starts the time of the call, unless it has started.
    #[inline]
    pub(crate) fn start(&self, now: Stamp) {
        if self.started.get().is_none() {
            self.started.set(Some(now));
        }
    }

    /// Nanoseconds since the start, or 0 before the start.
    #[inline]
    pub(crate) fn elapsed(&self, now: Stamp) -> u64 {
        self.started
            .get()
            .map_or(0, |started| now.nanos_since(started))
    }

    /// Nanoseconds until the deadline, or `None` without a deadline.
    pub(crate) fn until_deadline(&self, now: Stamp) -> Option<u64> {
        self.left_of(self.deadline.get(), now)
    }

    /// Whether the time of the call has started and the deadline is reached.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.get() != NEVER
            && self.started.get().is_some()
            && self.until_deadline(Stamp::now()) == Some(0)
    }

    /// The longest wait that leaves the next attempt time to be of use, or `None` without a deadline.
    ///
    /// The time to be of use is a tenth of the deadline, at most 50 ms. For an inherited deadline, it is a tenth of the
    /// time that was left when the time of this call started.
    ///
    /// # Errors
    ///
    /// - No wait leaves that much time.
    pub(crate) fn longest_wait(&self, now: Stamp) -> Result<Option<Duration>, TooLate> {
        let Some(left) = self.until_deadline(now) else {
            return Ok(None);
        };
        match fit::longest_wait(self.deadline.get(), left) {
            Some(longest) => Ok(Some(Duration::from_nanos(longest))),
            None => Err(TooLate),
        }
    }

    /// Nanoseconds until the nearest limit of the code inside, or `None` without a limit.
    pub(crate) fn until_nearest(&self, now: Stamp) -> Option<u64> {
        self.left_of(self.until.get().min(self.deadline.get()), now)
    }

    /// The instant of the nearest limit of the code inside, or `None` without a limit.
    pub(crate) fn nearest(&self) -> Option<Instant> {
        if !self.is_limited() {
            return None;
        }
        let now = Stamp::now();
        let left = self.until_nearest(now)?;
        // A limit in the past counts as now.
        now.plus(left).instant()
    }

    /// Takes over the limits of the frame around, if they are nearer.
    pub(crate) fn inherit(&self, around: &Self, now: Stamp) {
        around.start_if_limited(now);
        let at = |left: Option<u64>| left.map(|left| self.elapsed(now).saturating_add(left));
        if let Some(deadline) = at(around.until_deadline(now)) {
            self.start(now);
            self.deadline.set(deadline.min(self.deadline.get()));
        }
        if let Some(until) = at(around.until_nearest(now)) {
            self.start(now);
            self.until.set(until.min(self.until.get()));
        }
    }

    /// Runs one poll under a nearer deadline.
    pub(crate) fn narrowed<T>(&self, deadline: Stamp, poll: impl FnOnce() -> T) -> T {
        let now = Stamp::now();
        self.start(now);
        let _widen = Widen::of(self);
        let left = deadline.nanos_since(now);
        let narrow = self.elapsed(now).saturating_add(left);
        self.deadline.set(narrow.min(self.deadline.get()));
        poll()
    }

    /// Runs one poll under the limits of this frame and of the frame that polls it.
    pub(crate) fn within_limits_around<T>(&self, poll: impl FnOnce() -> T) -> T {
        let _widen = around(|outer| {
            let widen = Widen::of(self);
            self.inherit(outer, Stamp::now());
            widen
        });
        poll()
    }

    /// Whether the code inside has any limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.until.get().min(self.deadline.get()) != NEVER
    }

    /// Starts the time if there is a limit, because code inside reads the limit.
    pub(crate) fn start_if_limited(&self, now: Stamp) {
        if self.is_limited() {
            self.start(now);
        }
    }

    fn left_of(&self, limit: u64, now: Stamp) -> Option<u64> {
        (limit != NEVER).then(|| limit.saturating_sub(self.elapsed(now)))
    }
}

/// There is no time left for another attempt.
pub(crate) struct TooLate;

/// Restores the limits of a frame after a poll, also after a panic.
struct Widen<'f> {
    frame: &'f Frame,
    deadline: u64,
    until: u64,
}

impl<'f> Widen<'f> {
    fn of(frame: &'f Frame) -> Self {
        Self {
            frame,
            deadline: frame.deadline.get(),
            until: frame.until.get(),
        }
    }
}

impl Drop for Widen<'_> {
    fn drop(&mut self) {
        self.frame.deadline.set(self.deadline);
        self.frame.until.set(self.until);
    }
}

/// A limit in nanoseconds, or [`NEVER`] for none.
pub(crate) const fn length(limit: Option<Duration>) -> u64 {
    match limit {
        Some(limit) => nanos(limit),
        None => NEVER,
    }
}
