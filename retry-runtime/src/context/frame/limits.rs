//! The time of a call, and the limits that it takes over from outer frames.

use std::time::Duration;

use scoped_tls_hkt::scoped_thread_local;

use super::{Frame, outer};
use crate::clock::Stamp;
use crate::context::phase::Times;

scoped_thread_local! {
    /// The deadline of the scopes between the frame with this mark and the code inside it.
    static NARROWED: (usize, Stamp)
}

impl Frame {
    /// Forgets the limits of the attempt before, and takes over those around.
    pub(crate) fn renew_limits(&mut self) {
        self.times = Times::new(self.times.started, self.times.deadline);
        outer(|outer| self.inherit(&outer.limits()));
    }

    /// Takes over these limits, if they are nearer.
    pub(crate) fn inherit(&mut self, around: &Times) {
        self.inherits |= around.deadline < self.times.deadline;
        self.times.inherit(around);
    }

    /// Whether the deadline of this call is also that of the outer call: its own, or one that it inherited.
    ///
    /// This call inherits the outer deadline, so its own is never the later one while there is time left.
    pub(crate) fn shares_deadline_of(&self, outer: &Self) -> bool {
        let own = self.times.deadline.plus(self.passed_over());
        let Times { deadline, .. } = outer.times;
        // A scope between them may have a nearer one.
        deadline == outer.limits().deadline && deadline != Stamp::NEVER && own >= deadline
    }

    /// The delays that count as time of the call, although it did not wait.
    pub(crate) fn passed_over(&self) -> Duration {
        self.noted()
            .map_or(Duration::ZERO, |noted| noted.waits.passed_over)
    }

    /// Counts a delay that is not waited for as time of the call.
    pub(crate) fn pass_over(&mut self, delay: Duration) {
        self.times.pass_over(delay);
        self.rest().noted().waits.pass_over(delay);
    }

    /// When the timeout cuts the present attempt.
    pub(crate) fn cut(&self) -> Stamp {
        let renewed = || self.noted()?.renewed;
        match self.has_timeout().then(renewed).flatten() {
            Some((of, at)) if of == self.first() => at.plus(Duration::from_nanos(self.timeout)),
            _ => self.times.cut,
        }
    }

    /// The limits that the code inside has: those of the call, and of the scopes between them.
    pub(crate) fn limits(&self) -> Times {
        let mut times = self.times;
        times.cut = self.cut();
        if NARROWED.is_set() {
            let (of, deadline) = NARROWED.with(|narrowed| *narrowed);
            if of == self.mark() {
                times.deadline = times.deadline.min(deadline);
            }
        }
        times
    }

    /// An address to compare while the frame is lent.
    pub(crate) fn mark(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Runs one poll under the deadline of this frame, which stands for no call, and of the frame that polls it.
    pub(crate) fn narrow<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let own = self.times.deadline;
        match outer(|outer| (outer.mark(), outer.limits().deadline.min(own))) {
            Some(narrowed) => NARROWED.set(&narrowed, poll),
            None => self.lend(poll),
        }
    }
}
