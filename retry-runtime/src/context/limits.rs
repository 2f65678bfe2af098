//! The time limits of a frame, and which of them is nearest.

use std::time::Duration;

use super::facts::{NEVER, Notes};
use super::frame::Frame;
use crate::clock::{Instant, Stamp, nanos};

impl Frame {
    /// Whether the time of the call has started and the deadline is reached.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.get() != NEVER
            && self.started.get().is_some()
            && self.until_deadline(Stamp::now()) == Some(0)
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

    /// Whether the deadline of this call is also that of the call around: its own, or one that it inherited.
    ///
    /// This call inherits the deadline around it, so its own is never the later one while there is time left.
    pub(crate) fn shares_deadline_of(&self, around: &Self) -> bool {
        let passed_over = self.if_cold().map(|cold| cold.noted().passed_over);
        let own = self
            .deadline_at()
            .map(|at| at.plus(nanos(passed_over.unwrap_or_default())));
        !around.has(Notes::NARROWED) && around.deadline_at().is_some_and(|at| own >= Some(at))
    }

    /// The instant of the deadline, or `None` without one or before the time started.
    fn deadline_at(&self) -> Option<Stamp> {
        let deadline = Some(self.deadline.get()).filter(|deadline| *deadline != NEVER)?;
        Some(self.started.get()?.plus(deadline))
    }
}

/// A limit in nanoseconds, or [`NEVER`] for none.
pub(crate) const fn length(limit: Option<Duration>) -> u64 {
    match limit {
        Some(limit) => nanos(limit),
        None => NEVER,
    }
}
